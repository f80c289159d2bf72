"""One thing that the doctor found."""

from dataclasses import dataclass
from typing import Literal

Level = Literal["ok", "note", "warning", "problem"]


@dataclass(frozen=True, slots=True)
class Finding:
    """How something is: `subject` names it, `advice` says what to do about it."""

    level: Level
    subject: str
    text: str
    advice: str = ""
