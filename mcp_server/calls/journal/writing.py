"""Records into rows: what the log level wants, in one transaction, announced to whoever listens."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from django.db import IntegrityError, connections, transaction

from mcp_server.calls.journal.records import CallRecord, Record, RunRecord
from mcp_server.calls.journal.statements import end_run, forget_missing_users, insert
from mcp_server.models import CodeRun, ToolCall
from mcp_server.policy.logging import effective_log_level
from mcp_server.signals import code_run_finished, tool_called


def announce(record: Record) -> None:
    """Tell the project's receivers; what they raise is logged by Django and stops nothing."""
    signal = tool_called if isinstance(record, CallRecord) else code_run_finished
    signal.send_robust(sender=type(record), record=record)


@dataclass(slots=True)
class _Batch:
    """What one transaction stores."""

    calls: list[CallRecord] = field(default_factory=list)
    started: list[RunRecord] = field(default_factory=list)
    ended: list[RunRecord] = field(default_factory=list)
    unwanted: list[RunRecord] = field(default_factory=list)


def write_start(alias: str, record: RunRecord) -> None:
    """Make a run's row, so that it can be watched and stopped."""
    if effective_log_level(record.endpoint) != "off":
        _write(alias, _Batch(started=[record]))


def write_batch(alias: str, records: Sequence[Record]) -> None:
    """Store calls and ends of runs, all or none.

    Raises:
        django.db.Error: when the database refuses or is away.
    """
    batch = _Batch()
    levels = {name: effective_log_level(name) for name in {record.endpoint for record in records}}
    for record in records:
        wanted = is_wanted(record.status, levels[record.endpoint])
        if isinstance(record, RunRecord):
            (batch.ended if wanted else batch.unwanted).append(record)
        elif wanted:
            batch.calls.append(record)
    _write(alias, batch)


def is_wanted(status: str, level: str) -> bool:
    """Return whether the log level wants a row for what ended so."""
    return level == "all" or (level == "errors" and status != "ok")


def _write(alias: str, batch: _Batch) -> None:
    try:
        _write_once(alias, batch)
    except IntegrityError:
        forget_missing_users(connections[alias], [*batch.calls, *batch.started, *batch.ended])
        _write_once(alias, batch)


def _write_once(alias: str, batch: _Batch) -> None:
    connection = connections[alias]
    with transaction.atomic(using=alias):
        insert(connection, CodeRun, batch.started)
        insert(connection, ToolCall, batch.calls)
        for record in batch.ended:
            end_run(connection, record)
        if batch.unwanted:
            CodeRun.objects.using(alias).filter(pk__in=[record.id for record in batch.unwanted]).delete()
