"""Sync handlers that nobody waits for any more: counted, and capped (contract T18)."""

import threading

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

    def add(self) -> None:
        """Note one more."""
        with self._lock:
            self._count += 1

    def remove(self) -> None:
        """Note that one has ended."""
        with self._lock:
            self._count -= 1

    def check(self) -> None:
        """Refuse new work while too many threads are lost to old work.

        Raises:
            ToolError: with status 503.
        """
        if self._count >= options().threads:
            raise ToolError("The server is busy with calls that ran out of time. Try again in a minute.", 503)


abandoned = Abandoned()
