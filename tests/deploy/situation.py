"""A situation: one way to run a site, tried for real, that passes, fails, or says why it was not run."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

_T = TypeVar("_T")


class NotRun(Exception):
    """This machine cannot make the situation; the text says why."""


@dataclass(slots=True)
class Stage:
    """What a situation is played on.

    Args:
        folder: for its files; readable by everybody, removed with everything in it.
        stack: what is undone at the end, in reverse order.
        shared: services that several situations use, by name; they end with the whole run.
        install: whether missing Debian packages may be installed.
        seconds: how long constant load lasts.
    """

    folder: Path
    stack: ExitStack
    shared: "Shared"
    install: bool = False
    seconds: float = 20.0
    notes: list[str] = field(default_factory=list)

    def need_time(self) -> None:
        """Stop where what follows takes longer than CI has.

        Raises:
            NotRun: constant load does not last for longer than a minute.
        """
        if self.seconds <= 60:
            raise NotRun("takes longer than CI has: --seconds 120")

    def note(self, text: str) -> None:
        """Print something with the verdict."""
        self.notes.append(text)


@dataclass(slots=True)
class Shared:
    """Services made once; each is made when first asked for."""

    folder: Path
    stack: ExitStack
    made: dict[str, object] = field(default_factory=dict)

    def get(self, name: str, make: Callable[[], _T]) -> _T:
        """Return the service of that name."""
        if name not in self.made:
            self.made[name] = make()
        return self.made[name]


Play = Callable[[Stage], None]
situations: dict[str, Play] = {}


def situation(name: str) -> Callable[[Play], Play]:
    """Register a function under the name that the run prints."""

    def register(play: Play) -> Play:
        situations[name] = play
        return play

    return register


@contextmanager
def expecting(error: type[Exception], why: str) -> Iterator[None]:
    """Fail unless the block raises that error."""
    try:
        yield
    except error:
        return
    raise AssertionError(why)
