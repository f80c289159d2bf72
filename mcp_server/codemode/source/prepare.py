"""From the text a model sent to a program that can run, position by position the same."""

import re
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass

from mcp_server.codemode.source.brackets import check_brackets
from mcp_server.codemode.source.checks import check
from mcp_server.codemode.source.draft import Shift
from mcp_server.codemode.source.errors import SourceWarning
from mcp_server.codemode.source.fences import unfence
from mcp_server.codemode.source.modules import refuse_modules, warn_of_imports
from mcp_server.codemode.source.syntax import Syntax, parse
from mcp_server.codemode.source.text import Position, Text, blanks, join
from mcp_server.codemode.source.tools import ToolSummary
from mcp_server.codemode.source.typescript import strip
from mcp_server.codemode.source.value import ValueFinder

_PROSE = (
    "No JavaScript was found in the text. Send only the program, statements that end with `return value;`."
)
_EMPTY = "There is nothing to run: the program is empty. Send statements that end with `return value;`."


@dataclass(frozen=True, slots=True)
class Program:
    """What the sandbox runs.

    Args:
        code: the body of an async function. Its line N is line N of what the model sent, and its columns are the
            same but for the few characters in `shifts`.
        warnings: what will run, but hardly as meant.
        shifts: what was added, in the order of the text.
    """

    code: str
    warnings: tuple[SourceWarning, ...] = ()
    shifts: tuple[Shift, ...] = ()

    def locate(self, line: int, column: int, name: str = "") -> Position:
        """The place in what the model sent of a place in `code`.

        Args:
            line, column: from 1, columns in UTF-16 units as in V8.
            name: an undeclared name that V8 complains about. It gives the statement's place then; this gives the
                name's, if it follows on that line or a later one.
        """
        if name:
            line, column = self._find(line, column, name)
        first = bisect_right(self.shifts, line - 1, key=lambda shift: shift.line)
        for shift in self.shifts[first:]:
            if shift.line != line or shift.column >= column:
                break
            column = max(shift.column, column - shift.length)
        return Position(line, column)

    def _find(self, line: int, column: int, name: str) -> Position:
        code = Text(self.code)
        word = re.compile(rf"(?<![\w$.]){re.escape(name)}(?![\w$])")
        found = word.search(code.units, code.index(line, column))
        return code.position(found.start()) if found else Position(line, column)


def prepare(text: str, tools: Mapping[str, ToolSummary]) -> Program:
    """The program that a model sent, whatever its form (contract C06), as the body of an async function.

    Args:
        text: statements, an expression, a function, TypeScript, with or without Markdown around.
        tools: what it may call, by JavaScript identifier.

    Raises:
        SourceError: nothing can run, or it surely fails (contract C12). Syntax errors are left to V8.
    """
    source = Text(text)
    units = _without_hashbang(unfence(source))
    if not units.strip():
        raise source.error("nothing_to_run", 0, _EMPTY)
    program = parse(units)
    if program is None:
        return Program(join(units))
    if program.has_error:
        if _is_prose(units):
            raise source.error("nothing_to_run", 0, _PROSE)
        check_brackets(program, source)
    plain = _plain_javascript(program, source)
    if plain is None:
        return Program(join(units))
    refuse_modules(plain, source)
    finder = ValueFinder(plain, source)
    finder.run()
    warnings = warn_of_imports(plain, source)
    if not plain.has_error:
        warnings += check(plain, source, tools, finder.given_back)
    code, shifts = finder.draft.finish(source)
    return Program(code, tuple(warnings), shifts)


def _plain_javascript(program: Syntax, source: Text) -> Syntax | None:
    draft = strip(program, source)
    return parse(draft.units) if draft.changed else program


def _without_hashbang(units: str) -> str:
    first = len(units) - len(units.lstrip())
    if not units.startswith("#!", first):
        return units
    end = units.find("\n", first)
    end = len(units) if end < 0 else end
    return units[:first] + blanks(units[first:end]) + units[end:]


def _is_prose(units: str) -> bool:
    return len(units.split()) > 3 and not any(mark in units for mark in "(){}[];=")
