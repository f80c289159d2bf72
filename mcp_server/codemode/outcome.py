"""How one run ended, and how one tool call from inside it is answered."""

from dataclasses import dataclass, field
from typing import Any, Literal

Status = Literal["ok", "error", "limit", "cancelled", "stopped", "crashed", "busy", "violation"]
ErrorKind = Literal[
    "error", "type", "reference", "range", "eval", "syntax", "tool", "thrown",
    "never_settles", "limit", "busy", "unavailable", "crashed", "violation",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class LogEntry:
    """One line of the program's console; `level` is log, info, warn, error, debug or trace."""

    level: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunError:
    """Why a run has no value. Lines and columns count from 1 in the program that was sent; None where unknown."""

    kind: ErrorKind
    message: str
    name: str = "Error"
    line: int | None = None
    column: int | None = None
    stack: tuple[str, ...] = ()
    status: int | None = None
    data: Any = None
    tool: str | None = None


@dataclass(slots=True, kw_only=True)
class RunOutcome:
    """All that is known after a run.

    `value` is JSON text within `max_result_bytes`, None for no value; `value_dropped` says what shortening left out.
    `limit` names the limit that was met: it ended the run where `status` is "limit", else the program went on.
    `unawaited` names tools, once for each call without an answer when the program ended or a limit cut it off; such calls
    are cancelled. What was answered by then is the program's knowledge, not ours: a tool may be done a moment earlier.
    """

    status: Status
    value: str | None = None
    value_dropped: str = ""
    error: RunError | None = None
    limit: str = ""
    logs: list[LogEntry] = field(default_factory=list)
    dropped_logs: int = 0
    unawaited: list[str] = field(default_factory=list)
    cpu_ms: float = 0.0
    wall_ms: float = 0.0
    queue_ms: float = 0.0
    peak_memory_mb: float = 0.0
    calls: int = 0


@dataclass(frozen=True, slots=True)
class ToolSuccess:
    """A tool's value as compact JSON text in UTF-8; None for no value."""

    json: bytes | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolFailure:
    """What the program catches: an Error with this message, status and data (contract C08)."""

    message: str
    status: int | None = None
    data: Any = None


ToolReply = ToolSuccess | ToolFailure
