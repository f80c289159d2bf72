"""Where the sync and the async code of a call runs (design 5.9).

The spine is written once, as coroutines that reach the world through a `Runner`. Which one decides the thread:

* `RequestThread`: a direct call. Sync code stays on the request's own thread, whose connection, tenant and language the
  middleware prepared.
* `PooledThreads`: calls from code, which overlap.
* `ThisThread`: calls that a sync handler makes. Nothing is awaited; `drive` runs the coroutine to its end at once.
"""

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any, Protocol

from asgiref.sync import sync_to_async
from django.http import HttpRequest
from django.utils.module_loading import import_string

from mcp_server.calls.threads import pool
from mcp_server.conf import options


class Runner(Protocol):
    """Runs code of a call. Both ways raise `TimeoutError` when `timeout` seconds have passed."""

    async def sync(self, function: Callable[..., Any], *args: Any, timeout: float | None = None) -> Any:
        """Return what a plain function gives on a thread that may touch the database."""

    async def coroutine(self, coroutine: Coroutine[Any, Any, Any], *, timeout: float | None = None) -> Any:
        """Return what a coroutine gives on the event loop."""


class RequestThread:
    """Sync code on the thread of the request, async code on the running loop."""

    async def sync(self, function: Callable[..., Any], *args: Any, timeout: float | None = None) -> Any:
        async with asyncio.timeout(timeout):
            return await sync_to_async(function, thread_sensitive=True)(*args)

    async def coroutine(self, coroutine: Coroutine[Any, Any, Any], *, timeout: float | None = None) -> Any:
        async with asyncio.timeout(timeout):
            return await coroutine


class PooledThreads:
    """Sync code on our own threads, each call within the project's `THREAD_CONTEXT(request)`."""

    def __init__(self, request: HttpRequest) -> None:
        self._request = request

    async def sync(self, function: Callable[..., Any], *args: Any, timeout: float | None = None) -> Any:
        async with asyncio.timeout(timeout):
            return await pool.submit(partial(self._within, partial(function, *args)))

    def _within(self, function: Callable[[], Any]) -> Any:
        with thread_context(self._request):
            return function()

    async def coroutine(self, coroutine: Coroutine[Any, Any, Any], *, timeout: float | None = None) -> Any:
        async with asyncio.timeout(timeout):
            return await coroutine


class ThisThread:
    """All code of a call that a sync handler makes: sync code here and now, async code on the handler's loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop

    async def sync(self, function: Callable[..., Any], *args: Any, timeout: float | None = None) -> Any:
        return function(*args)

    async def coroutine(self, coroutine: Coroutine[Any, Any, Any], *, timeout: float | None = None) -> Any:
        future = asyncio.run_coroutine_threadsafe(coroutine, self._loop)
        try:
            return future.result(timeout)
        except TimeoutError:
            future.cancel()
            raise


def drive(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """Return the result of a coroutine that never waits, as those over `ThisThread` are."""
    try:
        coroutine.send(None)
    except StopIteration as stop:
        return stop.value
    coroutine.close()
    raise RuntimeError("A coroutine over ThisThread waited.")


def thread_context(request: HttpRequest) -> AbstractContextManager[Any]:
    """Return the project's context manager around work on our threads: for a tenant, a language, a search path."""
    path = options().thread_context
    found: AbstractContextManager[Any] = import_string(path)(request) if path else nullcontext()
    return found
