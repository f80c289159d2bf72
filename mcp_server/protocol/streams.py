"""A response that arrives in pieces: notifications as they come, keep-alives in between, the answer last."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from typing import Self

from mcp_server.protocol.outbound import Outbox
from mcp_server.protocol.replies import KEEP_ALIVE, STREAM_HEADERS

SILENCE = 2.0
"""Seconds after which a call that says nothing becomes a stream, so that proxies and people see a sign of life."""
KEEP_ALIVE_SECONDS = 10.0

# The event loop keeps only weak references to tasks; a cancelled handler must live until its clean-up is done.
_ending: set[asyncio.Task[bytes]] = set()


async def next_frame(outbox: Outbox, task: asyncio.Task[bytes], seconds: float) -> bytes | None:
    """Return the next frame, None when the task is done and nothing is left, or a keep-alive after so many seconds."""
    if (ready := outbox.take()) is not None:
        return ready
    getter = asyncio.ensure_future(outbox.get())
    try:
        await asyncio.wait({getter, task}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        if getter.done():
            return getter.result()
    finally:
        getter.cancel()
    if task.done():
        return outbox.take()
    return KEEP_ALIVE


class Stream:
    """Frames of one response, as an asynchronous iterator.

    Args:
        first: the frame that made this a stream.
        outbox: where later frames come from.
        task: the running handler; its result is the last frame.
    """

    status = 200

    def __init__(self, first: bytes, outbox: Outbox, task: asyncio.Task[bytes]) -> None:
        self.headers: Mapping[str, str] = STREAM_HEADERS
        self._first: bytes | None = first
        self._outbox = outbox
        self._task = task
        self._loop = asyncio.get_running_loop()
        self._ended = False

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self

    async def __anext__(self) -> bytes:
        if self._first is not None:
            first, self._first = self._first, None
            return first
        if self._ended:
            raise StopAsyncIteration
        try:
            frame = await next_frame(self._outbox, self._task, KEEP_ALIVE_SECONDS)
        except asyncio.CancelledError:
            self._stop()
            raise
        if frame is None:
            self._ended = True
            return self._task.result()
        return frame

    async def aclose(self) -> None:
        """End the handler: nobody reads on."""
        self._stop()

    def close(self) -> None:
        """End the handler from any thread, as Django does when it closes a response."""
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._stop)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        self._stop()

    def _stop(self) -> None:
        self._ended = True
        cancel(self._task)


def cancel(task: asyncio.Task[bytes]) -> None:
    """End a running handler, keeping it alive until its clean-up is done."""
    if not task.done():
        _ending.add(task)
        task.add_done_callback(_ending.discard)
        task.cancel()
