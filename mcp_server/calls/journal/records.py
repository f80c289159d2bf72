"""What is recorded: one call of a tool, one run of code."""

from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Literal

from django.utils import timezone

from mcp_server.models.coderuns import RUNNING
from mcp_server.models.identifiers import new_identifier

CallStatus = Literal[
    "ok", "tool_error", "invalid", "denied", "timeout", "cancelled", "crashed", "rate_limited"
]
RunStatus = Literal[
    "running", "ok", "error", "limit", "cancelled", "stopped", "crashed", "violation", "busy", "lost"
]

_NOT_GIVEN = datetime.min  # noqa: DTZ901 - never compared with a time


@dataclass(slots=True, kw_only=True)
class CallRecord:
    """One call, as it is stored; `arguments` is the text that `recorded_arguments` makes.

    `started` is `duration_ms` ago if left out. `secrets` are the values that were redacted: they are masked in the error
    too, and are never stored. `trace` is the id of the OpenTelemetry trace, for the log's lines alone.
    """

    endpoint: str
    tool: str
    status: CallStatus
    id: str = field(default_factory=new_identifier)
    run_id: str | None = None
    sequence: int | None = None
    user_id: Any = None
    username: str = ""
    client: str = ""
    protocol: str = ""
    arguments: str = ""
    error_status: int | None = None
    error: str = ""
    reference: str = ""
    started: datetime = _NOT_GIVEN
    duration_ms: float = 0
    request_bytes: int = 0
    response_bytes: int = 0
    secrets: Collection[str] = field(default=(), repr=False)
    trace: str = ""

    def __post_init__(self) -> None:
        # A record is made when the call is over; callers measure with a clock that tells no time of day.
        if self.started is _NOT_GIVEN:
            self.started = timezone.now() - timedelta(milliseconds=self.duration_ms)


@dataclass(slots=True, kw_only=True)
class RunRecord:
    """One run, from its start to its end; what comes at the end is filled in before `close_run`."""

    endpoint: str
    code: str
    deadline: datetime
    id: str = field(default_factory=new_identifier)
    user_id: Any = None
    username: str = ""
    client: str = ""
    protocol: str = ""
    process: str = ""
    started: datetime = field(default_factory=timezone.now)
    status: RunStatus = RUNNING  # type: ignore[assignment]  # the constant's type is str
    limit: str = ""
    error: dict[str, Any] = field(default_factory=dict)
    console: list[dict[str, str]] = field(default_factory=list)
    dropped_logs: int = 0
    result: str = ""
    result_bytes: int = 0
    cpu_ms: float | None = None
    wall_ms: float | None = None
    queue_ms: float | None = None
    peak_memory_mb: float | None = None
    calls: int = 0
    limits: dict[str, int] = field(default_factory=dict)
    stopped_by: str = ""
    secrets: set[str] = field(default_factory=set, repr=False)
    trace: str = ""


Record = CallRecord | RunRecord
