"""What runs beside a call at the ASGI door: it sees a client leave, and gives a silent call a sign of life."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from mcp_server.protocol.replies import EVENT_STREAM, KEEP_ALIVE, STREAM_HEADERS, Reply
from mcp_server.protocol.streams import KEEP_ALIVE_SECONDS, SILENCE, Stream

Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

LATE = 0.02
"""Seconds until it begins: a quick call never pays for it (measured: 14 % from the start, 5 % late)."""


class Companion:
    """Watches over one request. Made by the task that serves it."""

    def __init__(self, receive: Receive, send: Send) -> None:
        self._receive = receive
        self._send = send
        self._task: asyncio.Task[None] | None = None
        self._served_by = asyncio.current_task()
        self._keeps_alive = False
        self._is_watching = False
        self._is_over = False
        self._started = False
        self.client_left = False

    def watch(self, *, keeps_alive: bool) -> None:
        """Begin, soon, to watch for the client's leave.

        Args:
            keeps_alive: whether a long silence turns the response into a stream.
        """
        self._keeps_alive = keeps_alive
        if not self._is_watching:
            self._is_watching = True
            _late_of(asyncio.get_running_loop()).add(self)

    def stop(self) -> None:
        """End; the response is on its way."""
        self._is_over = True
        if self._task is not None:
            self._task.cancel()

    def begin(self) -> None:
        """Watch from now on, unless the response is on its way."""
        if not self._is_over:
            self._task = asyncio.get_running_loop().create_task(self._accompany())

    async def _accompany(self) -> None:
        listening = asyncio.ensure_future(self._receive())
        try:
            while True:
                pause = (KEEP_ALIVE_SECONDS if self._started else SILENCE) if self._keeps_alive else None
                done, _ = await asyncio.wait({listening}, timeout=pause)
                if not done:
                    await self._give_sign()
                elif listening.result()["type"] == "http.disconnect":
                    self._leave()
                    return
                else:
                    listening = asyncio.ensure_future(self._receive())
        finally:
            listening.cancel()

    def _leave(self) -> None:
        self.client_left = True
        if self._served_by is not None:
            self._served_by.cancel()

    async def _give_sign(self) -> None:
        if not self._started:
            await self._start(200, EVENT_STREAM, STREAM_HEADERS)
        await self._send({"type": "http.response.body", "body": KEEP_ALIVE, "more_body": True})

    async def _start(
        self, status: int, content_type: str | None, headers: Any, length: int | None = None
    ) -> None:
        self._started = True
        raw = []
        for key, value in headers.items():
            raw.append((key.lower().encode("latin-1"), value.encode("latin-1")))
        if content_type is not None:
            raw.append((b"content-type", content_type.encode("latin-1")))
        if length is not None:
            raw.append((b"content-length", b"%d" % length))
        await self._send({"type": "http.response.start", "status": status, "headers": raw})

    async def send(self, answer: Reply | Stream) -> None:
        """Send the response, or its end where a silence made it a stream already."""
        if isinstance(answer, Stream):
            await self._send_stream(answer)
            return
        self.stop()
        if self._started:
            body = b"event: message\ndata: " + answer.body + b"\n\n"
        else:
            body = answer.body
            await self._start(answer.status, answer.content_type, answer.headers, len(body))
        await self._send({"type": "http.response.body", "body": body})

    async def _send_stream(self, stream: Stream) -> None:
        self.watch(keeps_alive=False)
        await self._start(200, EVENT_STREAM, stream.headers)
        async with stream:
            async for frame in stream:
                await self._send({"type": "http.response.body", "body": frame, "more_body": True})
        self.stop()
        await self._send({"type": "http.response.body", "body": b""})


class _Late:
    """The companions of one loop that begin soon: one timer for all, since most have ended before."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self._waiting: deque[tuple[float, Companion]] = deque()

    def add(self, companion: Companion) -> None:
        """Let a companion begin in `LATE` seconds."""
        due = self.loop.time() + LATE
        if not self._waiting:
            self.loop.call_at(due, self._begin_due)
        self._waiting.append((due, companion))

    def _begin_due(self) -> None:
        now = self.loop.time() + _RESOLUTION
        while self._waiting and self._waiting[0][0] <= now:
            self._waiting.popleft()[1].begin()
        if self._waiting:
            self.loop.call_at(self._waiting[0][0], self._begin_due)


_RESOLUTION = 0.002
"""Seconds by which a timer may come early: loops count in milliseconds."""

_latest: _Late | None = None


def _late_of(loop: asyncio.AbstractEventLoop) -> _Late:
    """Return a loop's own; that of the loop that asked last is at hand, and one that is left ends with its timer."""
    global _latest  # noqa: PLW0603 - a process has one loop, tests one after the other
    found = _latest
    if found is None or found.loop is not loop:
        found = _latest = _Late(loop)
    return found
