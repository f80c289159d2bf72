"""Tools declared for a model: what each takes and gives back, as TypeScript or one line each (contract C05)."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum

from mcp_server.codemode.described import DescribedTool
from mcp_server.codemode.identifiers import identifiers
from mcp_server.schema.typescript import Notes, Shape, Shapes, Writer, parameter, read
from mcp_server.schema.typescript.naming import pascal
from mcp_server.schema.typescript.notes import repeats
from mcp_server.schema.typescript.text import comment, key, literal, shorten


class Detail(StrEnum):
    """How much of the tools is told, the most first; `BRIEF` is `FULL` with shorter comments."""

    FULL = "full"
    BRIEF = "brief"
    TYPES = "types"
    NAMES = "names"
    PROGRESSIVE = "progressive"


_NOTES = {
    Detail.FULL: Notes.ALL,
    Detail.BRIEF: Notes.FACTS,
    Detail.TYPES: Notes.NONE,
    Detail.NAMES: Notes.NONE,
}
_LONGEST_SUMMARY = {Detail.FULL: 200, Detail.BRIEF: 80, Detail.TYPES: 0, Detail.NAMES: 60}
_LONGEST_EXAMPLE = 120


def declare(
    tools: Iterable[DescribedTool], detail: Detail = Detail.FULL, *, names: Mapping[str, str] | None = None
) -> str:
    """Return the tools as text for a model: TypeScript, or at `NAMES` one line each.

    Args:
        tools: in the order of the text.
        detail: `PROGRESSIVE` gives "".
        names: the identifier of each tool where `tools` are part of a greater set, whose names count.
    """
    ordered = list(tools)
    if names is None:
        names = identifiers(tool.name for tool in ordered)
    if detail is Detail.PROGRESSIVE or not ordered:
        return ""
    write: Callable[..., str] = _names if detail is Detail.NAMES else _types
    return write(ordered, detail, names)


def _types(tools: Sequence[DescribedTool], detail: Detail, names: Mapping[str, str]) -> str:
    shapes, notes = Shapes(), _NOTES[detail]
    signatures = [_Signature(tool, shapes, notes) for tool in tools]
    writer = Writer(shapes, [shape for signature in signatures for shape in signature.shapes()])
    lines = [*_notation(writer.words(), notes), *writer.declarations(), "declare const codemode: {"]
    for signature in signatures:
        if summary := _summary(signature.tool, detail):
            lines.append(f" // {summary}")
        lines.append(f" {signature.write(names[signature.tool.name], writer)}")
    return "\n".join([*lines, "};"])


class _Signature:
    """A tool's input and output as shapes."""

    def __init__(self, tool: DescribedTool, shapes: Shapes, notes: Notes) -> None:
        self.tool = tool
        name = pascal(tool.name)
        self.input = read(shapes, tool.arguments.json_schema, name=f"{name}Input", notes=notes)
        self.parameter = parameter(self.input, shapes)
        self.output: Shape | None = None
        if tool.output is not None:
            self.output = read(
                shapes, tool.output.json_schema, name=f"{name}Output", notes=notes, output=True
            )

    def shapes(self) -> Iterator[Shape]:
        if self.parameter != "none":
            yield self.input
        if self.output is not None:
            yield self.output

    def write(self, name: str, writer: Writer) -> str:
        mark = "?" if self.parameter == "optional" else ""
        given = "" if self.parameter == "none" else f"input{mark}: {writer.expression(self.input, 1)}"
        result = "unknown" if self.output is None else writer.expression(self.output, 1)
        return f"{name}({given}): Promise<{result}>;"


def _notation(words: Sequence[str], notes: Notes) -> Iterator[str]:
    said = ["int: whole number"] if "int" in words else []
    if times := [word for word in words if word in {"datetime", "date", "time", "duration"}]:
        said.append(f"{', '.join(times)}: ISO 8601 text")
    if notes:
        said.append("comments: = default, min..max, e.g. example")
    if said:
        yield f"// {'; '.join(said)}"


def _names(tools: Sequence[DescribedTool], detail: Detail, names: Mapping[str, str]) -> str:
    lines = [
        '// name({ arguments, optional? }): what it does. `await codemode.$describe("name")` returns the types.'
    ]
    for tool in tools:
        summary = _summary(tool, detail)
        lines.append(f"{names[tool.name]}({_argument_names(tool)}){summary and f': {summary}'}")
    return "\n".join(lines)


def _argument_names(tool: DescribedTool) -> str:
    schema = tool.arguments.json_schema
    properties, required = schema.get("properties"), schema.get("required")
    if not isinstance(properties, Mapping) or not properties:
        return ""
    needed = required if isinstance(required, list) else []
    written = [f"{key(str(name))}{'' if name in needed else '?'}" for name in properties]
    return f"{{ {', '.join(written)} }}"


def _summary(tool: DescribedTool, detail: Detail) -> str:
    length = _LONGEST_SUMMARY[detail]
    if not length:
        return ""
    marks = ["[destructive]"] if tool.annotations is not None and tool.annotations.destructive else []
    text = comment(tool.description.strip().partition("\n\n")[0] or tool.title)
    if not repeats(text, _spaced(tool.name)):
        marks.append(shorten(text, length))
    if detail is Detail.FULL and tool.input_examples:
        example = comment(literal(dict(tool.input_examples[0])))
        marks += [f"e.g. {example}"] if len(example) <= _LONGEST_EXAMPLE else []
    return " ".join(marks)


def _spaced(name: str) -> str:
    """Return a tool name with its words apart: `listUsers` is `list Users`."""
    return "".join(f" {letter}" if letter.isupper() else letter for letter in name)
