"""Threads that requests at the ASGI door borrow for the sync code of their coroutines, such as Django's async ORM.

Django's own handler gives each request a thread that ends with it, and with it the database connection that the thread
had opened. Here the thread is kept for the next request, and with it a connection that `CONN_MAX_AGE` lets live.
"""

import asyncio
import os
import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextvars import Token
from typing import Any, Self

from asgiref.sync import SyncToAsync, ThreadSensitiveContext, sync_to_async
from django.db import close_old_connections, connections

from mcp_server.calls.transactions import release_connections
from mcp_server.conf import options

IDLE_SECONDS = 10.0


class _Thread(ThreadPoolExecutor):
    """One thread."""

    def __init__(self) -> None:
        super().__init__(max_workers=1, thread_name_prefix="mcp-request")
        self.loans = 0

    def end(self) -> None:
        """End the thread, once its connections are closed."""
        self.submit(connections.close_all)
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
        if thread.loans:
            # As Django does when a request begins: what an earlier one left open may be too old by now.
            thread.submit(close_old_connections)
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


class Loan(ThreadSensitiveContext, Executor):
    """What the `sync_to_async` of a block runs on: a borrowed thread, from the first use on.

        with Loan() as loan:
            ...

    Entered without `async`: there is nothing to wait for, at the beginning or at the end.
    """

    _before: Token[ThreadSensitiveContext]

    def __init__(self) -> None:
        super().__init__()
        self._thread: _Thread | None = None

    def __enter__(self) -> Self:
        self._before = SyncToAsync.thread_sensitive_context.set(self)
        SyncToAsync.context_to_thread_executor[self] = self
        return self

    def __exit__(self, *raised: object) -> None:
        SyncToAsync.context_to_thread_executor.pop(self, None)
        SyncToAsync.thread_sensitive_context.reset(self._before)
        if self._thread is not None:
            shelf.give_back(self._thread)

    @property
    def is_used(self) -> bool:
        """Return whether there is a thread now."""
        return self._thread is not None

    def submit(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Run a function on the thread, as executors do."""
        thread = self._thread
        if thread is None:
            thread = self._thread = shelf.take()
        return thread.submit(function, *args, **kwargs)

    async def rest(self) -> None:
        """Give the thread back where there will be nothing to do for long; a later use borrows one anew."""
        if self._thread is None:
            return
        await sync_to_async(release_connections)()
        thread, self._thread = self._thread, None
        shelf.give_back(thread)


async def rest() -> None:
    """Give back the thread that the current request has borrowed, if any, until it needs one again."""
    loan = SyncToAsync.thread_sensitive_context.get(None)
    if isinstance(loan, Loan):
        await loan.rest()
