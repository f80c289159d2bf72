"""Each call and run as one line of Python's logging, with fields whose names stay (contract of docs/observability.md).

A receiver of the public signals, like any project's own: what it costs is paid off the request's path, and nothing is
formatted where nobody listens.
"""

import logging
from typing import Any

from mcp_server.calls.journal import CallRecord, RunRecord
from mcp_server.signals import code_run_finished, tool_called

_calls = logging.getLogger("mcp_server.calls")
_runs = logging.getLogger("mcp_server.runs")
_ALARMING = frozenset({"crashed", "timeout", "violation"})

_FIELDS_OF_CALLS = (
    "id", "run_id", "sequence", "endpoint", "tool", "status", "error_status", "reference", "user_id", "client",
    "protocol", "duration_ms", "request_bytes", "response_bytes", "trace",
)  # fmt: skip
_FIELDS_OF_RUNS = (
    "id", "endpoint", "status", "limit", "user_id", "client", "protocol", "process", "calls", "cpu_ms", "wall_ms",
    "queue_ms", "peak_memory_mb", "result_bytes", "trace",
)  # fmt: skip


def connect() -> None:
    """Write a line for each call and run from now on."""
    tool_called.connect(_report_call, dispatch_uid="mcp_server.calls.reporting")
    code_run_finished.connect(_report_run, dispatch_uid="mcp_server.calls.reporting")


def is_heard(status: str) -> bool:
    """Return whether anybody listens to the end of such a call: a receiver of the project, or a logging handler."""
    return len(tool_called.receivers) > 1 or _calls.isEnabledFor(_level(status))


def _report_call(record: CallRecord, **kwargs: Any) -> None:
    level = _level(record.status)
    if _calls.isEnabledFor(level):
        extra = _extra(record, _FIELDS_OF_CALLS)
        _calls.log(level, "%s: %s in %.1f ms", record.tool, record.status, record.duration_ms, extra=extra)


def _report_run(record: RunRecord, **kwargs: Any) -> None:
    level = _level(record.status)
    if _runs.isEnabledFor(level):
        extra = _extra(record, _FIELDS_OF_RUNS)
        _runs.log(level, "run %s: %s after %d calls", record.id, record.status, record.calls, extra=extra)


def _level(status: str) -> int:
    return logging.WARNING if status in _ALARMING else logging.INFO


def _extra(record: CallRecord | RunRecord, names: tuple[str, ...]) -> dict[str, Any]:
    """Return the fields under names that clash with none of logging's own."""
    return {f"mcp_{name}": getattr(record, name) for name in names}
