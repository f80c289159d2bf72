"""Sync handlers that nobody waits for any more: counted, and capped (contract T18)."""

import threading
from typing import Self

from mcp_server.conf import options
from mcp_server.exceptions import ToolError


class Abandoned:
    """How many threads of this process are still busy with calls whose callers left."""

    def __init__(self) -> None:
        self._count = 0
        self._lock = threading.Lock()

    @property
    def count(self) -> int:
        """Return the number of such threads."""
        return self._count

    def check(self) -> None:
        """Refuse new work while too many threads are lost to old work.

        Raises:
            ToolError: with status 503.
        """
        if self._count >= options().threads:
            raise ToolError("The server is busy with calls that ran out of time. Try again in a minute.", 503)

    def change(self, step: int) -> None:
        """Note one more, or one that has ended."""
        with self._lock:
            self._count += step


class Work:
    """One sync handler, between the thread that runs it and the caller who may leave at any moment."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running = False
        self.left = False

    def __enter__(self) -> Self:
        """Begin, on the thread of the handler.

        Raises:
            TimeoutError: when the caller has left already, so that nothing is begun for nobody.
        """
        with self._lock:
            if self.left:
                raise TimeoutError
            self._running = True
        return self

    def __exit__(self, *raised: object) -> None:
        with self._lock:
            self._running = False
            if self.left:
                abandoned.change(-1)

    def leave(self) -> None:
        """Stop waiting: what still runs is counted as abandoned until it ends."""
        with self._lock:
            if self._running and not self.left:
                abandoned.change(1)
            self.left = True


abandoned = Abandoned()
