"""Mistakes in tool names and argument names that are certain before anything runs, and calls that nobody awaits."""

from collections.abc import Container, Iterable, Iterator, Mapping

from tree_sitter import Node

from mcp_server.codemode.closest import closest
from mcp_server.codemode.source.errors import SourceError, SourceWarning
from mcp_server.codemode.source.syntax import Syntax, children, start
from mcp_server.codemode.source.text import Text
from mcp_server.codemode.source.tools import ToolSummary
from mcp_server.codemode.source.usage import ToolCall, Usage

_SHOWN_PARAMETERS = 20
_SHOWN_MISTAKES = 5
# What every object answers to; whether such a name is a tool is for the run to say.
_OF_EVERY_OBJECT = frozenset(
    {
        "constructor",
        "hasOwnProperty",
        "isPrototypeOf",
        "propertyIsEnumerable",
        "then",
        "toLocaleString",
        "toString",
    }
    | {"valueOf", "__proto__", "__defineGetter__", "__defineSetter__", "__lookupGetter__", "__lookupSetter__"}
)
_NO_OBJECTS = {"string": "a string", "number": "a number", "array": "an array", "template_string": "a string"}


def check(
    program: Syntax, source: Text, tools: Mapping[str, ToolSummary], returned: Container[int]
) -> list[SourceWarning]:
    """Warnings about calls whose result is dropped.

    Args:
        program: JavaScript, as written (before a `return` is added).
        source: the text it came from.
        tools: what may be called, by JavaScript identifier.
        returned: where the expressions begin that will be returned.

    Raises:
        SourceError: "unknown_tool" or "unknown_argument", for a mistake that surely fails the run; up to four more
            of them in `others`.
    """
    usage = Usage(program)
    mistakes = list(_some(_Checker(program, source, tools).mistakes(usage)))
    if mistakes:
        raise _together(mistakes)
    return [*_dropped_calls(source, usage, returned), *_unwaited_callbacks(source, usage)]


def _some(mistakes: Iterator[SourceError]) -> Iterable[SourceError]:
    for _, mistake in zip(range(_SHOWN_MISTAKES), mistakes, strict=False):
        yield mistake


def _together(mistakes: list[SourceError]) -> SourceError:
    """The first mistake, its message naming the others, so that one answer mends them all."""
    first, *others = mistakes
    more = [f" Also, line {other.line}, column {other.column}: {other.message}" for other in others]
    together = SourceError(
        first.kind, first.message + "".join(more), first.line, first.column, suggestion=first.suggestion
    )
    together.others = tuple(others)
    return together


def _dropped_calls(source: Text, usage: Usage, returned: Container[int]) -> Iterable[SourceWarning]:
    for call in usage.calls:
        if call.dropped and start(call.node) not in returned:
            message = f"`codemode.{call.name}(...)` is not awaited: write `await codemode.{call.name}(...)`."
            yield source.warning(start(call.node), message)


def _unwaited_callbacks(source: Text, usage: Usage) -> Iterable[SourceWarning]:
    for callback in usage.unwaited:
        message = (
            "`forEach` does not wait for an async function. "
            "Use `for (const item of items) { await ... }` or `await Promise.all(items.map(async (item) => ...))`."
        )
        yield source.warning(start(callback), message)


class _Checker:
    def __init__(self, program: Syntax, source: Text, tools: Mapping[str, ToolSummary]) -> None:
        self.program = program
        self.source = source
        self.tools = tools
        self._original = {tool.name: tool for tool in tools.values()}

    def mistakes(self, usage: Usage) -> Iterator[SourceError]:
        """Every certain mistake in the order of the text."""
        for call in usage.calls:
            if call.name.startswith("$") or call.name in _OF_EVERY_OBJECT or not usage.is_certain(call):
                continue
            tool = self.tools.get(call.name) or self._original.get(call.name)
            if tool is None:
                yield self._unknown_tool(call)
            else:
                yield from self._arguments(call, tool)

    def _unknown_tool(self, call: ToolCall) -> SourceError:
        suggestion = closest(call.name, self.tools) or ""
        advice = (
            f"Did you mean `codemode.{suggestion}`?"
            if suggestion
            else "Use a name that the description of this tool or `await codemode.$search(...)` gives."
        )
        message = f"There is no tool `codemode.{call.name}`. {advice}"
        return self.source.error("unknown_tool", start(call.property), message, suggestion)

    def _arguments(self, call: ToolCall, tool: ToolSummary) -> Iterator[SourceError]:
        arguments = call.node.child_by_field_name("arguments")
        given = children(arguments) if arguments is not None and arguments.type == "arguments" else None
        if given is None:
            return
        if not given:
            yield from self._missing(call, tool, set(), start(call.property))
        elif given[0].type in _NO_OBJECTS and tool.parameters:
            sort = _NO_OBJECTS[given[0].type]
            message = f"`codemode.{call.name}` takes one object, not {sort}. {_parameters_of(tool)}"
            yield self.source.error("unknown_argument", start(given[0]), message)
        elif given[0].type == "object" and (keys := self._keys(given[0])) is not None:
            if tool.closed:
                yield from self._unknown(call, tool, keys)
            yield from self._missing(call, tool, set(keys), start(given[0]))

    def _keys(self, literal: Node) -> dict[str, int] | None:
        """The keys of an object literal with their places; None if some are not known."""
        keys = {}
        for member in children(literal):
            key = (
                member
                if member.type == "shorthand_property_identifier"
                else member.child_by_field_name("key")
            )
            key = key or (member.child_by_field_name("name") if member.type == "method_definition" else None)
            text = self._key_text(key) if key is not None else None
            if key is None or text is None:
                return None
            keys[text] = start(key)
        return keys

    def _key_text(self, key: Node) -> str | None:
        text = self.program.text(key)
        if "\\" in text or key.type == "computed_property_name":
            return None
        return text[1:-1] if key.type == "string" else text

    def _unknown(self, call: ToolCall, tool: ToolSummary, keys: dict[str, int]) -> Iterator[SourceError]:
        missing = [name for name in tool.required if name not in keys]
        unknown = [key for key in keys if key not in tool.parameters]
        only_missing = missing[0] if len(missing) == len(unknown) == 1 else ""
        for key, place in keys.items():
            if key in tool.parameters:
                continue
            suggestion = closest(key, [name for name in tool.parameters if name not in keys]) or only_missing
            meant = f" Did you mean `{suggestion}`?" if suggestion else ""
            message = f"`codemode.{call.name}` has no parameter `{key}`.{meant} {_parameters_of(tool)}"
            yield self.source.error("unknown_argument", place, message, suggestion)

    def _missing(
        self, call: ToolCall, tool: ToolSummary, keys: set[str], place: int
    ) -> Iterator[SourceError]:
        # A misspelt key was reported with its suggestion; its right spelling is not missing as well.
        missing = [name for name in tool.required if name not in keys]
        spare = [key for key in keys if key not in tool.parameters]
        if missing and not (tool.closed and len(spare) >= len(missing)):
            names = ", ".join(f"`{name}`" for name in missing[:_SHOWN_PARAMETERS])
            message = f"`codemode.{call.name}` needs {names}. {_parameters_of(tool)}"
            yield self.source.error("unknown_argument", place, message)


def _parameters_of(tool: ToolSummary) -> str:
    if not tool.parameters:
        return "It takes no arguments."
    names = [f"`{name}`" + (" (required)" if name in tool.required else "") for name in tool.parameters]
    shown = ", ".join(names[:_SHOWN_PARAMETERS])
    more = len(names) - _SHOWN_PARAMETERS
    return f"It takes {shown}{f' and {more} more' if more > 0 else ''}."
