"""Threads that requests at the ASGI door borrow for the sync code of their coroutines, such as Django's async ORM.

Django's own handler gives each request a thread that ends with it, and with it the database connection that the thread
had opened. Here the thread is kept for the next request, and with it a connection that `CONN_MAX_AGE` lets live.
"""

import os
from collections import deque
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import Any

from asgiref.sync import SyncToAsync, ThreadSensitiveContext, sync_to_async
from django.db import close_old_connections, connections

from mcp_server.conf import options


class _Thread(ThreadPoolExecutor):
    """One thread, started when something is first submitted to it."""

    def __init__(self) -> None:
        super().__init__(max_workers=1, thread_name_prefix="mcp-request")
        self.was_used = False
        """By the request that has it now."""
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


_free: deque[_Thread] = deque()
# A forked child has its parent's objects without their threads.
os.register_at_fork(after_in_child=_free.clear)


def _borrow() -> _Thread:
    try:
        # The one that was given back last, so that no more are kept busy than requests overlap.
        thread = _free.pop()
    except IndexError:
        return _Thread()
    thread.was_used = False
    return thread


def _give_back(thread: _Thread) -> None:
    if len(_free) < options().threads:
        _free.append(thread)
    else:
        thread.end()


@asynccontextmanager
async def borrowed_thread(finish: Callable[[], Any]) -> AsyncIterator[_Thread]:
    """Run `sync_to_async` of the block on one borrowed thread.

    Args:
        finish: is run on that thread at the end, if it was used.
    """
    thread = _borrow()
    try:
        async with ThreadSensitiveContext() as context:
            SyncToAsync.context_to_thread_executor[context] = thread
            try:
                yield thread
            finally:
                if thread.was_used:
                    # Last in its line: when it has run, so has all else of this request.
                    await sync_to_async(finish)()
                # Taken away before the context ends, which would end the thread as well.
                SyncToAsync.context_to_thread_executor.pop(context, None)
    finally:
        _give_back(thread)
