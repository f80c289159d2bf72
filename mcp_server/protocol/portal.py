"""One background event loop per process, for servers that have none: streams live there (design 5.7)."""

import asyncio
import os
import threading
from collections.abc import Coroutine, Iterator
from concurrent.futures import Future
from typing import Any

from mcp_server.protocol.streams import Stream

_lock = threading.Lock()
_loops: dict[int, asyncio.AbstractEventLoop] = {}


def loop() -> asyncio.AbstractEventLoop:
    """Return this process's loop, started at its first use: a server that forks does so before."""
    with _lock:
        found = _loops.get(os.getpid())
        if found is None:
            # A forked child inherits the entry of its parent, whose thread it does not have.
            _loops.clear()
            found = _loops[os.getpid()] = asyncio.new_event_loop()
            threading.Thread(target=found.run_forever, name="mcp-loop", daemon=True).start()
        return found


def submit(coroutine: Coroutine[Any, Any, Any]) -> Future[Any]:
    """Return a future for what the coroutine gives on the loop."""
    return asyncio.run_coroutine_threadsafe(coroutine, loop())


class SyncStream:
    """A stream of the background loop for a server that iterates on a thread."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self.headers = stream.headers

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        frame: bytes | None = submit(_next(self._stream)).result()
        if frame is None:
            raise StopIteration
        return frame

    def close(self) -> None:
        """End the handler; Django calls it when the response is sent or the client has left."""
        self._stream.close()


async def _next(stream: Stream) -> bytes | None:
    return await anext(stream, None)
