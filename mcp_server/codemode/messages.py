"""What the model reads after a run: the answer, or what to change (contract C10, C12)."""

from collections import Counter
from collections.abc import Iterator

from pydantic_core import from_json

from mcp_server.calls.rendering import wrap
from mcp_server.codemode.result import ProgramError, ProgramResult
from mcp_server.codemode.source import excerpt
from mcp_server.definitions.results import ContentItem, Text, ToolResult

NOTHING = "The program returned no value."
LONGEST_CONSOLE = 20_000


def render_program(result: ProgramResult) -> ToolResult:
    """Return what a client gets: text for the model, `structuredContent` for code, media beside them."""
    if not result.ok:
        return ToolResult(content=[Text(describe_failure(result))], is_error=True)
    value = None if result.value is None else from_json(result.value)
    text = value if isinstance(value, str) else result.value
    content: list[ContentItem] = [Text(NOTHING if text is None else text)]
    notes = "\n".join(_notes(result))
    if notes:
        content.append(Text(notes))
    return ToolResult(
        content=[*content, *result.media], structured_content=None if value is None else wrap(value)
    )


def describe_failure(result: ProgramResult) -> str:
    """Return the message about a program that failed: what, where, why, what was done before, and the console."""
    error = result.error or ProgramError(kind="error", message="The program failed.")
    parts = [_headline(error, result)]
    if error.line is not None:
        parts.append(excerpt(result.text, error.line, error.column or 1))
    if error.suggestion and error.suggestion not in error.message:
        parts.append(f"Did you mean {error.suggestion}?")
    parts += _calls(result)
    parts += _notes(result)
    return "\n".join(parts)


def _headline(error: ProgramError, result: ProgramResult) -> str:
    name = error.name if error.name and error.name != "Error" else _TITLES.get(error.kind, "Error")
    place = f" at line {error.line}, column {error.column or 1}" if error.line is not None else ""
    limit = ""
    if result.limit and result.limit not in error.message:
        limit = f" ({result.limit} = {getattr(result.limits, result.limit)})"
    return f"{name}{place}: {error.message}{limit}"


_TITLES = {
    "syntax": "SyntaxError",
    "typescript": "SyntaxError",
    "module": "No modules",
    "unknown_tool": "Unknown tool",
    "unknown_argument": "Wrong arguments",
    "nothing_to_run": "Nothing to run",
    "never_called": "Never called",
    "never_settles": "Never settles",
    "limit": "Limit reached",
    "busy": "Busy",
    "stopped": "Stopped",
    "tool": "Tool error",
}


def _calls(result: ProgramResult) -> Iterator[str]:
    """Say what the program did before it failed: a model that repeats it must know."""
    if result.succeeded:
        yield f"Calls that succeeded before this, and are not undone: {_count(result.succeeded)}."
    if result.failed:
        yield f"Calls that failed: {_count(result.failed)}."


def _count(calls: Counter[str]) -> str:
    return ", ".join(
        f"{name} {number} time{'s' if number > 1 else ''}" for name, number in calls.most_common(20)
    )


def _notes(result: ProgramResult) -> Iterator[str]:
    if result.value_dropped:
        yield f"The result was shortened to max_result_bytes = {result.limits.max_result_bytes}: {result.value_dropped}"
    yield from (f"Warning: {text}" for text in result.warnings)
    if result.logs:
        yield "Console:"
        yield from _console(result)
    if result.dropped_logs:
        yield f"({result.dropped_logs} more lines were dropped.)"


def _console(result: ProgramResult) -> Iterator[str]:
    left = LONGEST_CONSOLE
    for entry in result.logs:
        left -= len(entry.text)
        if left < 0:
            yield "(The rest of the console is in the log of the run.)"
            return
        yield f"[{entry.level}] {entry.text}"
