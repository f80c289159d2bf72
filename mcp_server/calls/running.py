"""Where the sync and the async code of a call runs (design 5.9).

The spine is written once, as coroutines that reach the world through a `Runner`. Which one decides the thread:

* `RequestThread`: a direct call. Sync code stays on the request's own thread, whose connection, tenant and language the
  middleware prepared.
* `PooledThreads`: calls from code, which overlap.
* `ThisThread`: calls that a sync handler makes. Nothing is awaited; `drive` runs the coroutine to its end at once.
"""

import asyncio
import types
from collections.abc import Callable, Coroutine, Generator
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
        return await finish_in_time(coroutine, timeout)


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
        return await finish_in_time(coroutine, timeout)


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


async def finish_in_time(coroutine: Coroutine[Any, Any, Any], timeout: float | None) -> Any:
    """Return what a coroutine gives on this loop; one that never waits is not charged for the means to interrupt it.

    Raises:
        TimeoutError: when it has waited beyond `timeout` seconds.
    """
    begun = asyncio.get_running_loop().time()
    try:
        awaited = coroutine.send(None)
    except StopIteration as stop:
        return stop.value
    async with asyncio.timeout_at(None if timeout is None else begun + timeout):
        return await _go_on(coroutine, awaited)


@types.coroutine
def _go_on(coroutine: Coroutine[Any, Any, Any], awaited: Any) -> Generator[Any, Any, Any]:
    """Return the result of a coroutine that has begun, and waits."""
    while True:
        try:
            yield awaited
        except GeneratorExit:
            coroutine.close()
            raise
        except BaseException as error:  # noqa: BLE001 - what is thrown in is the coroutine's to answer
            try:
                awaited = coroutine.throw(error)
            except StopIteration as stop:
                return stop.value
        else:
            return (yield from coroutine)


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
