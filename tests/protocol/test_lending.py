"""Threads that requests at the ASGI door borrow for the sync code of coroutines (P05)."""

import asyncio
import json
import threading
import time
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest
from asgiref.sync import sync_to_async
from django.core.signals import request_finished
from django.db import close_old_connections, connection, connections

from mcp_server import tool
from mcp_server.asgi import door
from mcp_server.protocol import lending
from tests.door import serving
from tests.protocol.wire import modern, modern_headers

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def barrier(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[asyncio.Barrier]]:
    """Where calls wait for each other, if a test puts one there, so that they overlap."""
    barriers: list[asyncio.Barrier] = []
    monkeypatch.setitem(connections.settings["default"], "CONN_MAX_AGE", 60)
    with serving(THREADS=2):

        @tool
        async def where() -> list[int]:
            """Return the thread of sync code, and the connection that it has."""
            found = await sync_to_async(look)()
            for item in barriers:
                await item.wait()
            return found

        def look() -> list[int]:
            connection.ensure_connection()
            return [threading.get_ident(), id(connection.connection)]

        yield barriers


async def ask(times: int) -> list[list[int]]:
    async with httpx2.AsyncClient(
        transport=httpx2.ASGITransport(door(no_django)), base_url="http://testserver"
    ) as http:
        return await asyncio.gather(*(call(http) for _ in range(times)))


async def no_django(scope: Any, receive: Any, send: Any) -> None:
    raise AssertionError("It is the door's path.")


async def call(http: httpx2.AsyncClient) -> list[int]:
    message = modern("tools/call", {"name": "where", "arguments": {}})
    response = await http.post("/mcp", json=message, headers=modern_headers(message))
    text = response.json()["result"]["content"][0]["text"]
    return list(json.loads(text))


def test_the_next_request_has_the_thread_and_the_connection_of_the_one_before(barrier: Any) -> None:
    async def in_turn() -> list[list[int]]:
        return [*(await ask(1)), *(await ask(1))]

    first, second = asyncio.run(in_turn())
    assert first == second


def test_requests_that_overlap_have_threads_of_their_own(barrier: list[asyncio.Barrier]) -> None:
    async def at_once() -> list[list[int]]:
        barrier.append(asyncio.Barrier(5))
        return await ask(5)

    found = asyncio.run(at_once())
    assert len({thread for thread, _ in found}) == 5


def test_threads_beyond_the_setting_end_when_the_busy_moment_is_over(
    barrier: list[asyncio.Barrier], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lending, "IDLE_SECONDS", 0.1)

    async def at_once() -> int:
        barrier.append(asyncio.Barrier(5))
        used = {thread for thread, _ in await ask(5)}
        deadline = time.monotonic() + 10
        while len(left := used & {item.ident for item in threading.enumerate()}) > 2:
            assert time.monotonic() < deadline
            await asyncio.sleep(0.02)
        return len(left)

    assert asyncio.run(at_once()) == 2


def test_the_signal_of_a_requests_end_comes_on_its_thread(barrier: Any) -> None:
    heard: list[int] = []

    def hear(**kwargs: Any) -> None:
        heard.append(threading.get_ident())

    request_finished.connect(hear)
    try:
        ((thread, _),) = asyncio.run(ask(1))
    finally:
        request_finished.disconnect(hear)
    assert heard == [thread]


@pytest.fixture(autouse=True)
def no_connection_stays() -> Iterator[None]:
    """What the tests let live must not keep their database busy."""
    yield
    lending.shelf.end_all()
    close_old_connections()
