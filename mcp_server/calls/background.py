"""Work that outlives its request: an event loop of our own on one daemon thread, made when first needed."""

import asyncio
import logging
import os
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from copy import copy
from dataclasses import replace

from asgiref.sync import AsyncToSync, ThreadSensitiveContext, sync_to_async

from mcp_server.access.principal import bind
from mcp_server.calls.caller import Caller, SilentChannel
from mcp_server.calls.running import PooledThreads, ThisThread, drive
from mcp_server.calls.transactions import release_connections

logger = logging.getLogger("mcp_server.calls")

Work = Callable[[Caller], Awaitable[None]]


class _Loop:
    """One loop a process; a forked child starts its own."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._process = 0

    def get(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None or self._process != os.getpid():
                self._loop, self._process = asyncio.new_event_loop(), os.getpid()
                threading.Thread(target=self._loop.run_forever, name="mcp-background", daemon=True).start()
            return self._loop


_background = _Loop()


def start(caller: Caller, work: Work) -> None:
    """Do work of a call after its answer. To be called on a thread that runs sync code.

    Inside a transaction it is done here and now: no other thread sees what a test or an admin action has written.

    Args:
        caller: whose work it is; it goes on with a request object of its own, and cannot reach the client.
        work: a coroutine function of the caller that does it.
    """
    request = copy(caller.principal.request)
    bind(request, request.user, caller.principal.scopes)
    principal = replace(caller.principal, request=request)
    own = replace(caller, principal=principal, channel=SilentChannel(), run=None)
    if caller.in_transaction:
        drive(_do(work, own.using(ThisThread(caller.loop))))
        return
    loop = _background.get()
    own = replace(own, loop=loop, runner=PooledThreads(request))
    asyncio.run_coroutine_threadsafe(_do_apart(work, own), loop).add_done_callback(_report)


async def _do(work: Work, caller: Caller) -> None:
    await work(caller)


async def _do_apart(work: Work, caller: Caller) -> None:
    # The context came with the thread of a request that has left: asgiref would still send queries there. Set before
    # it is deleted, since what another thread has set cannot be.
    AsyncToSync.executors.current = None
    del AsyncToSync.executors.current
    # Async handlers reach the database on a thread of this context, which ends with it.
    async with ThreadSensitiveContext():
        try:
            await work(caller)
        finally:
            await sync_to_async(release_connections)()


def _report(future: "Future[None]") -> None:
    error = None if future.cancelled() else future.exception()
    if error is not None:
        logger.error("Work in the background failed", exc_info=error)
