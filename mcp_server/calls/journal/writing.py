"""Records into rows: what the log level wants, in one transaction, announced to whoever listens."""

from collections.abc import Sequence

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


def write_start(alias: str, record: RunRecord) -> None:
    """Make a run's row, so that it can be watched and stopped."""
    if effective_log_level(record.endpoint) != "off":
        _write(alias, [], [], starting=[record])


def write_batch(alias: str, records: Sequence[Record]) -> None:
    """Store calls and ends of runs, all or none.

    Raises:
        django.db.Error: when the database refuses or is away.
    """
    calls = [record for record in records if isinstance(record, CallRecord) and _is_wanted(record)]
    ended = [record for record in records if isinstance(record, RunRecord)]
    _write(alias, calls, ended)


def _write(
    alias: str, calls: Sequence[CallRecord], ended: Sequence[RunRecord], starting: Sequence[RunRecord] = ()
) -> None:
    try:
        _write_once(alias, calls, ended, starting)
    except IntegrityError:
        forget_missing_users(connections[alias], [*calls, *ended, *starting])
        _write_once(alias, calls, ended, starting)


def _write_once(
    alias: str, calls: Sequence[CallRecord], ended: Sequence[RunRecord], starting: Sequence[RunRecord]
) -> None:
    connection = connections[alias]
    with transaction.atomic(using=alias):
        insert(connection, CodeRun, starting)
        insert(connection, ToolCall, calls)
        for record in ended:
            if _is_wanted(record):
                end_run(connection, record)
            else:
                CodeRun.objects.using(alias).filter(pk=record.id).delete()


def _is_wanted(record: Record) -> bool:
    level = effective_log_level(record.endpoint)
    return level == "all" or (level == "errors" and record.status != "ok")
