"""Threads that requests at the ASGI door borrow for the sync code of their coroutines, such as Django's async ORM.

Django's own handler gives each request a thread that ends with it, and with it the database connection that the thread
had opened. Here the thread is kept for the next request, and with it a connection that `CONN_MAX_AGE` lets live.
"""

import asyncio
import os
import threading
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import Any

from asgiref.sync import SyncToAsync, ThreadSensitiveContext, sync_to_async
from django.db import close_old_connections, connections

from mcp_server.calls.transactions import release_connections
from mcp_server.conf import options

IDLE_SECONDS = 10.0


class _Thread(ThreadPoolExecutor):
    """One thread, started when something is first submitted to it."""

    def __init__(self) -> None:
        super().__init__(max_workers=1, thread_name_prefix="mcp-request")
        self.was_used = False
        """By the request that has it now."""
        self.loans = 0
        self._has_started = False

    def submit(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        if self._has_started and not self.was_used:
            # As Django does when a request begins: what an earlier one left open may be too old by now.
            super().submit(close_old_connections)
        self.was_used = self._has_started = True
        return super().submit(function, *args, **kwargs)

    def end(self) -> None:
        """End the thread, once its connections are closed."""
        if self._has_started:
            super().submit(connections.close_all)
        self.shutdown(wait=False)


class _Shelf:
    """Threads that nobody has now. As many as `THREADS` stay; what a busy moment needed beyond them ends after it."""

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Be empty, as a forked child must, which has its parent's objects without their threads."""
        self._free: list[_Thread] = []
        self._lock = threading.Lock()

    def take(self) -> _Thread:
        """Return the thread that was given back last, so that no more are kept busy than requests overlap."""
        with self._lock:
            thread = self._free.pop() if self._free else _Thread()
        thread.was_used = False
        thread.loans += 1
        return thread

    def give_back(self, thread: _Thread) -> None:
        """Keep a thread for the next request."""
        with self._lock:
            self._free.append(thread)
            in_excess = len(self._free) > options().threads
        if in_excess:
            asyncio.get_running_loop().call_later(IDLE_SECONDS, self._end_if_idle, thread, thread.loans)

    def _end_if_idle(self, thread: _Thread, loans: int) -> None:
        with self._lock:
            idle = thread.loans == loans and thread in self._free
            if not idle or len(self._free) <= options().threads:
                return
            self._free.remove(thread)
        thread.end()

    def end_all(self) -> None:
        """End the threads that are here."""
        with self._lock:
            ended, self._free = self._free, []
        for thread in ended:
            thread.end()


shelf = _Shelf()
os.register_at_fork(after_in_child=shelf.clear)


@asynccontextmanager
async def borrowed_thread(finish: Callable[[], Any]) -> AsyncIterator[_Thread]:
    """Run `sync_to_async` of the block on one borrowed thread.

    Args:
        finish: is run on that thread at the end, if it was used.
    """
    thread = shelf.take()
    try:
        async with ThreadSensitiveContext() as context:
            SyncToAsync.context_to_thread_executor[context] = thread
            try:
                yield thread
            finally:
                # Another one, where the request has rested.
                thread = _borrowed() or thread
                if thread.was_used:
                    # Last in its line: when it has run, so has all else of this request.
                    await sync_to_async(finish)()
                # Taken away before the context ends, which would end the thread as well.
                SyncToAsync.context_to_thread_executor.pop(context, None)
    finally:
        shelf.give_back(thread)


def _borrowed() -> _Thread | None:
    """Return the thread that the request has now."""
    context = SyncToAsync.thread_sensitive_context.get(None)
    found = SyncToAsync.context_to_thread_executor.get(context) if context is not None else None
    return found if isinstance(found, _Thread) else None


async def rest() -> None:
    """Give the thread back in the middle of a request that has nothing to do for long; a later use starts one anew."""
    thread = _borrowed()
    if thread is None or not thread.was_used:
        return
    await sync_to_async(release_connections)()
    context = SyncToAsync.thread_sensitive_context.get()
    SyncToAsync.context_to_thread_executor[context] = _Thread()
    shelf.give_back(thread)
