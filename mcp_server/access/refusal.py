"""A request that is not let in."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Refusal:
    """Status, a sentence that says what to do and nothing of what exists, and headers (contract G06)."""

    status: int
    message: str
    headers: Mapping[str, str] = field(default_factory=dict)
