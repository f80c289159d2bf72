"""The text a model sent, counted as V8 counts it: in UTF-16 code units, with JavaScript's line ends.

Inside this package an index is an offset in `Text.units`, where a character beyond U+FFFF takes two places. So a
column here, a column in V8's messages and a column in an editor are the same number.
"""

import re
from bisect import bisect_right
from functools import cached_property
from typing import NamedTuple

from mcp_server.codemode.source.errors import Kind, SourceError, SourceWarning

_ASTRAL = re.compile("[\U00010000-\U0010ffff]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_LINE_END = re.compile("\r\n|[\n\r\u2028\u2029]")
_VISIBLE = re.compile("[^\n\r\u2028\u2029]")


class Position(NamedTuple):
    """A place in a text; both numbers start at 1."""

    line: int
    column: int


class Text:
    """A text as code units, with its lines.

    Args:
        text: any string. Lone surrogates become U+FFFD (they can be neither stored nor sent), a byte order mark a blank.
    """

    def __init__(self, text: str) -> None:
        clean = _SURROGATE.sub("\ufffd", text)
        if clean.startswith("\ufeff"):
            clean = " " + clean[1:]
        self.units = _ASTRAL.sub(_pair, clean)

    @cached_property
    def _line_starts(self) -> list[int]:
        return [0, *(match.end() for match in _LINE_END.finditer(self.units))]

    def position(self, index: int) -> Position:
        """The line and column of an index."""
        line = bisect_right(self._line_starts, index)
        return Position(line, index - self._line_starts[line - 1] + 1)

    def index(self, line: int, column: int) -> int:
        """The index of a line and column; of the nearest line there is."""
        starts = self._line_starts
        return starts[min(max(line, 1), len(starts)) - 1] + max(column, 1) - 1

    def error(self, kind: Kind, index: int, message: str, suggestion: str = "") -> SourceError:
        """An error that points at an index."""
        return SourceError(kind, message, *self.position(index), suggestion=suggestion)

    def warning(self, index: int, message: str) -> SourceWarning:
        """A warning that points at an index."""
        return SourceWarning(message, *self.position(index))


def join(units: str) -> str:
    """The ordinary string for code units."""
    return units.encode("utf-16-le", "surrogatepass").decode("utf-16-le")


def blanks(units: str) -> str:
    """As many blanks, with every line end kept."""
    return _VISIBLE.sub(" ", units)


def _pair(match: re.Match[str]) -> str:
    offset = ord(match[0]) - 0x10000
    return chr(0xD800 + (offset >> 10)) + chr(0xDC00 + (offset & 0x3FF))
