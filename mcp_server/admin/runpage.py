"""What the page of one run shows (contract A02)."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Count, Max, Sum

from mcp_server.admin import amounts
from mcp_server.admin.outcomes import outcome_tone
from mcp_server.conf import LIMIT_FIELDS
from mcp_server.models import CodeRun, Limits, ToolCall

MOST_LANES = 300
BYTES_PER_TOKEN = 4
SCALE = 1000
"""The timeline is drawn in thousandths of its width, so that it fits any screen."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the program."""

    number: int
    text: str
    failing: bool
    caret: str = ""


@dataclass(frozen=True, slots=True)
class Meter:
    """What a run used of one limit; `share` is in thousandths and at most 1000, None without a limit."""

    name: Any
    used: str
    limit: str
    share: int | None
    met: bool


@dataclass(frozen=True, slots=True)
class Lane:
    """One inner call on the timeline, with its place and length in thousandths."""

    call: ToolCall
    left: float
    width: float
    tone: str


@dataclass(frozen=True, slots=True)
class Savings:
    """Bytes that passed between code and tools, against those that the model wrote and read, and the tokens of it."""

    inner: int
    outer: int

    @property
    def tokens(self) -> int:
        """About how many tokens the model did not have to read or write."""
        return (self.inner - self.outer) // BYTES_PER_TOKEN


@dataclass(slots=True)
class RunPage:
    """A run, prepared for its page. Without `with_content` nothing of code, arguments, console or result is in it."""

    run: CodeRun
    with_content: bool
    lines: list[Line] = field(default_factory=list)
    console: list[dict[str, str]] = field(default_factory=list)
    result: str = ""
    error: dict[str, Any] = field(default_factory=dict)
    meters: list[Meter] = field(default_factory=list)
    lanes: list[Lane] = field(default_factory=list)
    ticks: list[tuple[float, str]] = field(default_factory=list)
    more_calls: int = 0
    savings: Savings | None = None

    @classmethod
    def of(cls, run: CodeRun, *, with_content: bool) -> "RunPage":
        """Return the page of a run."""
        calls = list(run.tool_calls.order_by("started", "sequence")[:MOST_LANES])
        sums = run.tool_calls.aggregate(
            rows=Count("pk"),
            sent=Sum("request_bytes"),
            received=Sum("response_bytes"),
            largest=Max("response_bytes"),
        )
        page = cls(run, with_content, more_calls=sums["rows"] - len(calls))
        page.error = (
            dict(run.error) if with_content else {key: run.error.get(key) for key in ("kind", "name", "line")}
        )
        page.meters = list(_meters(run, sums))
        page.lanes, page.ticks = _timeline(run, calls)
        if run.calls:
            inner = (sums["sent"] or 0) + (sums["received"] or 0)
            page.savings = Savings(inner, len(run.code.encode()) + _result_bytes(run))
        if with_content:
            page.lines = list(_lines(run))
            page.console = run.console
            page.result = pretty_json(run.result)
        return page


def pretty_json(text: str) -> str:
    """Return JSON text with a line for each item; a text that is none, or was cut off, stays as it is."""
    try:
        return json.dumps(json.loads(text), indent=2, ensure_ascii=False)
    except (ValueError, RecursionError):
        return text


def _lines(run: CodeRun) -> Iterator[Line]:
    failing, column = run.error.get("line"), run.error.get("column")
    # Only what ends a line in JavaScript's own counting: `splitlines` knows more.
    for number, text in enumerate(run.code.replace("\r\n", "\n").split("\n"), start=1):
        fails = number == failing
        caret = (
            " " * (column - 1) + "^"
            if fails and isinstance(column, int) and 0 < column <= len(text) + 1
            else ""
        )
        yield Line(number, text, fails, caret)


def _result_bytes(run: CodeRun) -> int:
    return run.result_bytes or len(run.result.encode())


def _meters(run: CodeRun, sums: dict[str, Any]) -> Iterator[Meter]:
    entries = len(run.console) + run.dropped_logs
    used: dict[str, float | None] = {
        "cpu_time_limit_ms": run.cpu_ms,
        "wall_time_limit_ms": run.wall_ms,
        "memory_limit_mb": run.peak_memory_mb,
        "max_tool_calls": run.calls,
        "max_result_bytes": _result_bytes(run),
        "max_tool_response_bytes": sums["largest"] or 0,
        "max_log_entries": entries,
        "max_code_bytes": len(run.code.encode()),
        "max_queue_ms": run.queue_ms,
    }
    for name, value in used.items():
        if value is not None:
            yield _meter(run, name, value)


def _meter(run: CodeRun, name: str, value: float) -> Meter:
    unit, limit = LIMIT_FIELDS[name].unit, run.limits.get(name)
    share = (
        None if limit is None else min(SCALE, round(SCALE * value / limit)) if limit else SCALE * (value > 0)
    )
    label = Limits.label(name)
    return Meter(
        label,
        amounts.amount(value, unit),
        "" if limit is None else amounts.amount(limit, unit),
        share,
        run.limit == name,
    )


def _timeline(run: CodeRun, calls: list[ToolCall]) -> tuple[list[Lane], list[tuple[float, str]]]:
    starts = [(call.started - run.started).total_seconds() * 1000 for call in calls]
    ends = [start + call.duration_ms for start, call in zip(starts, calls, strict=True)]
    total = max([run.wall_ms or 0, *ends, 1])
    lanes = []
    for call, start in zip(calls, starts, strict=True):
        left = min(max(start, 0) / total, 1) * SCALE
        width = min(max(call.duration_ms / total * SCALE, 3), SCALE - min(left, SCALE - 3))
        lanes.append(Lane(call, round(left, 1), round(width, 1), outcome_tone(call.status)))
    ticks = [(SCALE * part / 4, amounts.duration(total * part / 4)) for part in range(5)]
    return lanes, ticks if calls else []
