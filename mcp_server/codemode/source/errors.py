"""What is wrong with a program, told to the model that wrote it, with the exact place."""

import re
import unicodedata
from dataclasses import dataclass
from typing import Literal

Kind = Literal[
    "syntax", "module", "unknown_tool", "unknown_argument", "nothing_to_run", "never_called", "typescript"
]

_LINE_END = re.compile("\r\n|[\n\r\u2028\u2029]")
_WIDTH = 100
_LEAD = 60


class SourceError(Exception):
    """A program that is not run, with the reason (contract C06, C12).

    Args:
        kind: what sort of mistake it is.
        message: sentences for the model that say what to change; no position and no code excerpt in it.
        line, column: the place in the text that the model sent, from 1, columns in UTF-16 units as V8 counts them.
        suggestion: the name or text that was probably meant, "" if none is close.
        others: further mistakes of the same program; the message names them too.
    """

    def __init__(
        self, kind: Kind, message: str, line: int = 1, column: int = 1, *, suggestion: str = ""
    ) -> None:
        super().__init__(message)
        self.kind: Kind = kind
        self.message = message
        self.line = line
        self.column = column
        self.suggestion = suggestion
        self.others: tuple[SourceError, ...] = ()


@dataclass(frozen=True, slots=True)
class SourceWarning:
    """Something that runs, but hardly as meant."""

    message: str
    line: int
    column: int


def excerpt(text: str, line: int, column: int) -> str:
    """The line with its number and, under it, a caret below the column.

    Args:
        text: the whole text that the model sent.
        line, column: from 1; the column in UTF-16 units. A place outside the text gives the nearest one inside.
    """
    lines = _LINE_END.split(text)
    line = min(max(line, 1), len(lines))
    shown = lines[line - 1]
    at = _character_index(shown, column - 1)
    start = max(0, at - _LEAD) if len(shown) > _WIDTH else 0
    end = min(len(shown), start + _WIDTH)
    before, after = shown[start:at], shown[at:end]
    lead, tail = "…" if start else "", "…" if end < len(shown) else ""
    margin = f"{line} | "
    under = " " * len(str(line)) + " | " + " " * len(lead) + "".join(map(_blank_as_wide, before))
    return f"{margin}{lead}{_printable(before)}{_printable(after)}{tail}".rstrip() + f"\n{under}^"


def _character_index(line: str, units: int) -> int:
    seen = 0
    for index, character in enumerate(line):
        if seen >= units:
            return index
        seen += 2 if character > "\uffff" else 1
    return len(line)


def _blank_as_wide(character: str) -> str:
    if character == "\t":
        return "\t"
    if unicodedata.combining(character):
        return ""
    return "  " if unicodedata.east_asian_width(character) in "WF" else " "


def _printable(text: str) -> str:
    return "".join(
        character if character == "\t" or unicodedata.category(character) not in {"Cc", "Cs"} else "\ufffd"
        for character in text
    )
