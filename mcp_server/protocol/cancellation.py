"""`notifications/cancelled` of the 2025 eras: it may arrive at any process, and ends the request wherever it runs."""

import asyncio
import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

from mcp_server import bus
from mcp_server.protocol.sessions import Session

TOPIC = "cancel"

_Key = tuple[str, str]


@dataclass(eq=False)
class Cancellable:
    """One running request that its client may cancel; `requested` tells that it did."""

    loop: asyncio.AbstractEventLoop
    task: "asyncio.Task[Any]"
    requested: bool = False

    def cancel(self) -> None:
        """Cancel it; on its own loop."""
        self.requested = True
        self.task.cancel()

    def absorb(self) -> bool:
        """Return whether the client asked for this cancellation, which is then over; else it must go on."""
        if self.requested:
            self.task.uncancel()
        return self.requested


_running: dict[_Key, Cancellable] = {}
_listeners: WeakKeyDictionary[asyncio.AbstractEventLoop, "asyncio.Task[None]"] = WeakKeyDictionary()


def _key(session: Session, request_id: Any) -> _Key:
    # JSON tells 7 from "7".
    return session.nonce, json.dumps(request_id)


@contextmanager
def cancellable(session: Session | None, request_id: int | str, *, live: bool) -> Iterator[Cancellable]:
    """Within the block, the session's client may cancel the running task under the id of its request.

    Args:
        session: None where there is none: then nobody can name the request.
        request_id: as the client gave it.
        live: whether the event loop outlives the request, so that it is worth to listen for other processes.
    """
    task = asyncio.current_task()
    assert task is not None  # noqa: S101 - a request is always served by a task
    entry = Cancellable(asyncio.get_running_loop(), task)
    if session is None:
        yield entry
        return
    if live:
        _listen()
    key = _key(session, request_id)
    _running[key] = entry
    try:
        yield entry
    finally:
        if _running.get(key) is entry:
            del _running[key]


async def cancel(session: Session, request_id: Any) -> None:
    """Cancel a request of a session, in whichever process it runs. One that has ended is left alone."""
    key = _key(session, request_id)
    if not _cancel_here(key) and bus.is_shared():
        await bus.publish(TOPIC, {"session": key[0], "request": key[1]})


def _cancel_here(key: _Key) -> bool:
    entry = _running.get(key)
    if entry is None:
        return False
    entry.loop.call_soon_threadsafe(entry.cancel)
    return True


def _listen() -> None:
    """Hear what other processes receive; one task per event loop, where there are other processes at all."""
    loop = asyncio.get_running_loop()
    if loop not in _listeners and bus.is_shared():
        _listeners[loop] = loop.create_task(_hear())


async def _hear() -> None:
    while True:
        with suppress(bus.Overflow):
            async with bus.subscribe(TOPIC) as subscription:
                while True:
                    _, message = await subscription.get()
                    _cancel_here((message["session"], message["request"]))
