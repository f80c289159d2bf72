"""The log of calls and runs: recorded off the request's path, redacted on every path (contract A02, A03, A07)."""

import atexit
import json
import logging
import os
from collections.abc import Collection

from django.db import DatabaseError, router

from mcp_server.calls import heartbeat
from mcp_server.calls.journal.records import CallRecord, CallStatus, Record, RunRecord, RunStatus
from mcp_server.calls.journal.redaction import (
    Redactor,
    masked,
    masked_source,
    masked_value,
    recorded_arguments,
)
from mcp_server.calls.journal.text import capped_text, safe_json, safe_text
from mcp_server.calls.journal.writer import Writer
from mcp_server.calls.journal.writing import announce, is_wanted, write_batch, write_start
from mcp_server.conf import options
from mcp_server.models import CodeRun, ToolCall
from mcp_server.models.connections import is_in_transaction
from mcp_server.policy.logging import remembered_log_level

__all__ = [
    "CallRecord",
    "CallStatus",
    "RunRecord",
    "RunStatus",
    "close_run",
    "flush",
    "is_stored",
    "lost_rows",
    "open_run",
    "record_call",
    "recorded_arguments",
    "shown_text",
    "stop_requested",
    "stops_requested",
]

logger = logging.getLogger("mcp_server.journal")

CODE_BYTES = 262_144
STOP_SECONDS = 5.0

_writer = Writer()
_open_runs: dict[str, RunRecord] = {}
"""The runs of this process: a secret that one of their calls reveals is masked in the run's row too."""


def is_stored(endpoint_name: str, status: str) -> bool:
    """Return whether a call that ends so would get a row; where it cannot be told without the database, it may."""
    level = remembered_log_level(endpoint_name)
    return level is None or is_wanted(status, level)


def record_call(record: CallRecord) -> None:
    """Record a finished call; never raises, and outside a transaction never waits for the database.

    `signals.tool_called` is sent by the thread that writes the row, so receivers may use the database.
    """
    run = _open_runs.get(record.run_id) if record.run_id else None
    if run is not None:
        run.secrets.update(record.secrets)
    if record.error:
        record.error = capped_text(masked(record.error, record.secrets), options().log.max_bytes)
    record.arguments = safe_text(record.arguments)
    record.client = safe_text(record.client)
    record.tool = safe_text(record.tool)
    _settle(record)


def open_run(record: RunRecord) -> None:
    """Make the row of a run that starts now, at once and on this thread; a failing database is noted and stops nothing."""
    _open_runs[record.id] = record
    record.process = heartbeat.process_name()
    record.code = capped_text(masked_source(record.code, ()), CODE_BYTES)
    record.client = safe_text(record.client)
    try:
        write_start(router.db_for_write(CodeRun), record)
    except DatabaseError as error:
        # `close_run` writes the whole row, if the database is back by then.
        logger.warning("The row of code run %s could not be made: %s", record.id, type(error).__name__)


def close_run(record: RunRecord) -> None:
    """Record the end of a run; never raises. `signals.code_run_finished` is sent as `tool_called` is."""
    _open_runs.pop(record.id, None)
    secrets, max_bytes = record.secrets, options().log.max_bytes
    record.code = capped_text(masked_source(record.code, secrets), CODE_BYTES)
    record.error = _safe_dict(masked_value(record.error, secrets))
    record.result = capped_text(_redacted_result(record.result, secrets), max_bytes)
    _keep_console(record, max_bytes)
    _settle(record)


def shown_text(text: str, run: RunRecord) -> str:
    """Return a line of a run's console as it would be stored: safe and without secrets."""
    return safe_text(masked_source(text, run.secrets))


def flush(timeout: float = STOP_SECONDS) -> bool:
    """Return True when everything recorded until now is stored, or given up, within `timeout` seconds."""
    return _writer.flush(timeout)


def lost_rows() -> int:
    """Return how many rows this process had to give up."""
    return _writer.lost


def stop_requested(run_id: str) -> bool:
    """Return whether staff asked for a run's end; a database that is away has asked for nothing."""
    return bool(stops_requested([run_id]))


def stops_requested(run_ids: Collection[str]) -> set[str]:
    """Return those of the runs whose end staff asked for, in one query; to be called every second while runs are open."""
    try:
        rows = CodeRun.objects.filter(pk__in=run_ids).exclude(stop_requested=None)
        return set(rows.values_list("pk", flat=True))
    except DatabaseError as error:
        logger.warning("Cannot ask whether code runs should stop: %s", type(error).__name__)
        return set()


def _settle(record: Record) -> None:
    if not is_in_transaction(ToolCall):
        _writer.put(record)
        heartbeat.start()
        return
    # A test case's rows are seen by the test, and go with it.
    announce(record)
    try:
        write_batch(router.db_for_write(ToolCall), [record])
    except (DatabaseError, ArithmeticError, TypeError, ValueError) as error:
        _writer.lose(1, f"written inside a transaction ({type(error).__name__})")


def _redacted_result(text: str, secrets: Collection[str]) -> str:
    text = masked(text, secrets)
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return masked_source(text, ())
    redacted = Redactor(options().log.redact).redact(value, ())
    return text if redacted == value else json.dumps(redacted, ensure_ascii=False, separators=(",", ":"))


def _keep_console(record: RunRecord, max_bytes: int) -> None:
    kept = []
    for entry in record.console:
        text = capped_text(masked_source(entry["text"], record.secrets), max_bytes)
        max_bytes -= len(text.encode())
        if max_bytes < 0:
            break
        kept.append({"level": safe_text(entry["level"]), "text": text})
    record.dropped_logs += len(record.console) - len(kept)
    record.console = kept


def _safe_dict(value: object) -> dict[str, object]:
    safe = safe_json(value)
    return safe if isinstance(safe, dict) else {}


def _stop() -> None:
    if not _writer.flush(STOP_SECONDS):
        _writer.lose(_writer.queued, "the process ended before the database took them")


def _begin_anew() -> None:
    # After a fork the parent's thread is not here, and the parent writes what it had queued.
    global _writer  # noqa: PLW0603 - one writer per process
    _writer = Writer()
    _open_runs.clear()


def _report() -> dict[str, int]:
    return {"lost": _writer.lost, "queued": _writer.queued, "open_runs": len(_open_runs)}


heartbeat.add_report("log", _report)
atexit.register(_stop)
os.register_at_fork(after_in_child=_begin_anew)
