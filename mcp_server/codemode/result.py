"""How a program ended, in the words and places of what the model sent."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from mcp_server.codemode.outcome import LogEntry, RunError, RunOutcome
from mcp_server.codemode.source import Program
from mcp_server.definitions.results import ContentItem
from mcp_server.policy.limits import Limits

_UNDECLARED = re.compile(r"([\w$]+) is not defined\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramError:
    """Why a program has no value: `kind` says what sort of mistake, line and column count from 1 in what was sent."""

    kind: str
    message: str
    name: str = ""
    line: int | None = None
    column: int | None = None
    suggestion: str = ""
    status: int | None = None
    data: Any = None
    tool: str | None = None


@dataclass(slots=True, kw_only=True)
class ProgramResult:
    """The end of a run (contract C20).

    `value` is JSON text or None; `limit` the limit that was met, with `limits` all that held; `succeeded` and `failed`
    count the calls by tool; `media` came from tools and is named in the value.
    """

    run_id: str
    text: str
    status: str
    limits: Limits
    value: str | None = None
    value_dropped: str = ""
    error: ProgramError | None = None
    limit: str = ""
    logs: Sequence[LogEntry] = ()
    dropped_logs: int = 0
    warnings: list[str] = field(default_factory=list)
    succeeded: Counter[str] = field(default_factory=Counter)
    failed: Counter[str] = field(default_factory=Counter)
    media: Sequence[ContentItem] = ()
    cpu_ms: float = 0.0
    wall_ms: float = 0.0
    queue_ms: float = 0.0
    peak_memory_mb: float = 0.0

    @property
    def ok(self) -> bool:
        """Return whether the program ran to its end."""
        return self.status == "ok"


def read_outcome(result: ProgramResult, outcome: RunOutcome, program: Program) -> None:
    """Take over what the sandbox says, with places in the text that the model sent."""
    for name in _SAME:
        setattr(result, name, getattr(outcome, name))
    result.warnings = [f"Line {item.line}: {item.message}" for item in program.warnings]
    if outcome.unawaited:
        names = ", ".join(sorted(set(outcome.unawaited)))
        advice = "" if outcome.status == "limit" else " Write `await` before a call that must finish."
        result.warnings.append(
            f"Without an answer when the program ended, and cancelled unless done by then: {names}.{advice}"
        )
    if outcome.error is not None:
        result.error = _locate(outcome.error, program)
    elif outcome.status == "stopped":
        message = "An administrator stopped the run. Do not start it again unasked."
        result.error = ProgramError(kind="stopped", message=message)


_SAME = (
    "value", "value_dropped", "limit", "logs", "dropped_logs", "cpu_ms", "wall_ms", "queue_ms", "peak_memory_mb",
)  # fmt: skip


def _locate(found: RunError, program: Program) -> ProgramError:
    line, column = found.line, found.column
    if line is not None and column is not None:
        undeclared = _UNDECLARED.match(found.message)
        place = program.locate(line, column, undeclared[1] if undeclared else "")
        line, column = place.line, place.column
    return ProgramError(
        kind=found.kind,
        message=found.message,
        name=found.name,
        line=line,
        column=column,
        status=found.status,
        data=found.data,
        tool=found.tool,
    )
