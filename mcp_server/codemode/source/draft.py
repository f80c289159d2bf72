"""A text being rewritten so that positions stay true: characters become blanks, and what is added is remembered."""

from typing import NamedTuple

from mcp_server.codemode.source.text import Text, blanks, join


class Shift(NamedTuple):
    """Text that was added: from `column` of `line` on, everything moved right by `length`."""

    line: int
    column: int
    length: int


class Draft:
    """Changes to a text of code units. Blanking and putting keep every position; insertions are kept apart.

    Args:
        units: the text as code units.
    """

    def __init__(self, units: str) -> None:
        self._original = units
        self._units: list[str] | None = None
        self._put: dict[int, str] = {}
        self._insertions: list[tuple[int, str]] = []

    def blank(self, start: int, end: int) -> None:
        """Replace a range by blanks; line ends stay."""
        self._editable()[start:end] = blanks(self._original[start:end])

    def put(self, index: int, character: str) -> None:
        """Replace one character, whatever is blanked around it before or after."""
        self._put[index] = character

    def insert(self, index: int, text: str) -> None:
        """Add text without a line end before an index; at one index, in the order of the calls."""
        self._insertions.append((index, text))

    @property
    def changed(self) -> bool:
        """Whether characters were replaced."""
        return self._units is not None or bool(self._put)

    @property
    def units(self) -> str:
        """The text with its replaced characters, without the insertions."""
        if not self.changed:
            return self._original
        units = self._editable()
        for index, character in self._put.items():
            units[index] = character
        return "".join(units)

    def finish(self, source: Text) -> tuple[str, tuple[Shift, ...]]:
        """The final text as an ordinary string, and what its insertions moved."""
        units, parts, shifts, done = self.units, [], [], 0
        for index, text in sorted(self._insertions, key=lambda insertion: insertion[0]):
            parts += [units[done:index], text]
            shifts.append(Shift(*source.position(index), len(text)))
            done = index
        return join("".join([*parts, units[done:]])), tuple(shifts)

    def _editable(self) -> list[str]:
        if self._units is None:
            self._units = list(self._original)
        return self._units
