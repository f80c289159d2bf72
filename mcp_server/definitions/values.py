"""Objects that never change after they are made, at the price of those that may."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar, dataclass_transform

_Made = TypeVar("_Made")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def value(*, kw_only: bool = False) -> Callable[[type[_Made]], type[_Made]]:
    """Return a decorator for a dataclass that type checkers hold to be frozen.

    Python's own frozen dataclasses set each field by a call; those that are made anew for each request took a tenth of
    its time. So whoever writes to one of these is refused by the type checker, not at run time.
    """
    return dataclass(slots=True, kw_only=kw_only)
