"""Bounded threads for the sync code of calls that have no thread of their own: calls from code, and the ASGI door.

One queue, and answers brought home to their event loop in batches: one wake-up serves many calls (design 5.9).
"""

import asyncio
import os
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import Context, copy_context
from dataclasses import dataclass, field
from queue import SimpleQueue
from time import monotonic
from typing import Any
from weakref import WeakKeyDictionary, ref

from asgiref import local
from django.core.cache import caches
from django.db import close_old_connections

from mcp_server.conf import options

LOOK_SECONDS = 1.0
"""A connection that was good when the last call ended, less than this ago, is not looked at again before the next."""

# asgiref before 3.12 has no tags, and nothing to bring.
_Storage: type[Any] = getattr(local, "_Storage", type(None))


class _Home:
    """Where the answers of one event loop land."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        # Weak, since the pool finds this object by its loop: each sync request has a loop of its own.
        self._loop = ref(loop)
        self._done: deque[tuple[asyncio.Future[Any], Any, BaseException | None]] = deque()
        self._woken = False
        self._lock = threading.Lock()

    def put(self, future: asyncio.Future[Any], value: Any, error: BaseException | None) -> None:
        with self._lock:
            self._done.append((future, value, error))
            wake, self._woken = not self._woken, True
        loop = self._loop()
        if not wake or loop is None:
            return
        try:
            loop.call_soon_threadsafe(self._deliver)
        except RuntimeError:
            # The loop is closed: nobody waits for the answers, which would keep it alive.
            self._done.clear()

    def _deliver(self) -> None:
        with self._lock:
            self._woken = False
            done, self._done = self._done, deque()
        for future, value, error in done:
            if future.done():  # its caller left: the answer is dropped
                continue
            if error is None:
                future.set_result(value)
            else:
                future.set_exception(error)


_Work = tuple[_Home, asyncio.Future[Any], Context, Callable[[], Any]]


class ThreadPool:
    """Daemon threads that start with the first call, and again in a forked child."""

    def __init__(self) -> None:
        self.begin_anew()

    def begin_anew(self) -> None:
        """Be empty, as a forked child must, which has its parent's objects without their threads."""
        self._queue: SimpleQueue[_Work] = SimpleQueue()
        self._homes: WeakKeyDictionary[asyncio.AbstractEventLoop, _Home] = WeakKeyDictionary()
        self._lock = threading.Lock()
        self._size = 0

    def submit(self, function: Callable[[], Any]) -> asyncio.Future[Any]:
        """Return a future of the running loop for what `function` gives on one of the threads.

        The context variables of the caller reach the function; its database connections are kept in order around it.
        """
        loop = asyncio.get_running_loop()
        with self._lock:
            if self._size < options().threads:
                self._start()
            home = self._homes.get(loop) or self._homes.setdefault(loop, _Home(loop))
        future: asyncio.Future[Any] = loop.create_future()
        self._queue.put((home, future, copy_context(), function))
        return future

    def _start(self) -> None:
        for number in range(self._size, options().threads):
            self._size = number + 1
            name = f"mcp-tool-{number}"
            threading.Thread(target=self._work, args=(self._queue,), name=name, daemon=True).start()

    @staticmethod
    def _work(queue: "SimpleQueue[_Work]") -> None:
        own = _Own()
        while True:
            home, future, context, function = queue.get()
            if not future.cancelled():
                value, error = None, None
                try:
                    value = context.run(_run_kept, function, own)
                except BaseException as raised:  # noqa: BLE001 - it is raised again where the call was made
                    error = raised
                home.put(future, value, error)
                del value, error
            del home, future, context, function


@dataclass(slots=True)
class _Own:
    """What a thread keeps from call to call: its cache objects, and when it last looked at its connections."""

    caches: dict[str, Any] = field(default_factory=dict)
    looked_at: float = -LOOK_SECONDS


def _run_kept(function: Callable[[], Any], own: _Own) -> Any:
    _bring_locals()
    if monotonic() - own.looked_at >= LOOK_SECONDS:
        close_old_connections()
    try:
        with _own_caches(own.caches):
            return function()
    finally:
        close_old_connections()
        own.looked_at = monotonic()


def _bring_locals() -> None:
    """Make Django's language, time zone and the like, which came with the context, count on this thread.

    asgiref tags them with the thread that set them and re-homes them where it moves work itself; this is such a move.
    """
    for variable, value in copy_context().items():
        if isinstance(value, _Storage):
            variable.set(_Storage(threading.get_ident(), value.data))


@contextmanager
def _own_caches(own: dict[str, Any]) -> Iterator[None]:
    """Give the thread the cache objects that it had in earlier calls.

    Django keeps them in the context, and each call runs in a fresh copy of its caller's: without this, every call
    would open caches, and their connections, anew.
    """
    storage = caches._connections  # type: ignore[attr-defined]  # Django has no public way to set one
    for alias, cache in own.items():
        setattr(storage, alias, cache)
    try:
        yield
    finally:
        missing = [alias for alias in caches if alias not in own and hasattr(storage, alias)]
        own.update({alias: getattr(storage, alias) for alias in missing})


pool = ThreadPool()

os.register_at_fork(after_in_child=pool.begin_anew)
