"""A sync handler's transactions (contract T18)."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext

from django.db import DEFAULT_DB_ALIAS, connections, transaction


def atomic_aliases(atomic: bool | None) -> tuple[str, ...]:
    """Return the databases on which a handler runs in a transaction: None follows each one's ATOMIC_REQUESTS."""
    if atomic is False:
        return ()
    following = [alias for alias in connections if connections.settings[alias]["ATOMIC_REQUESTS"]]
    return tuple(dict.fromkeys([*([DEFAULT_DB_ALIAS] if atomic else []), *following]))


def atomic_on(aliases: tuple[str, ...]) -> AbstractContextManager[Callable[[], None]]:
    """Run the block in a transaction on each database, and give it a function that undoes them all at its end.

    An exception undoes them too.
    """
    return _atomic_on(aliases) if aliases else _NOT_ATOMIC


_NOT_ATOMIC: AbstractContextManager[Callable[[], None]] = nullcontext(lambda: None)


@contextmanager
def _atomic_on(aliases: tuple[str, ...]) -> Iterator[Callable[[], None]]:

    def roll_back() -> None:
        for alias in aliases:
            transaction.set_rollback(True, using=alias)

    with ExitStack() as stack:
        for alias in aliases:
            stack.enter_context(transaction.atomic(using=alias))
        yield roll_back


def release_connections() -> None:
    """Close this thread's connections, or give them back to their pool; those in a transaction stay."""
    for connection in connections.all(initialized_only=True):
        if not connection.in_atomic_block:
            connection.close()
