"""Two hundred idle streams at the ASGI door: seen from outside, they hold no thread and no connection (P06c)."""

import asyncio
import json
import subprocess
import sys
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import httpx2
import pytest

from tests.protocol.conftest import ROOT, Served, open_files, threads
from tests.protocol.wire import JSON_HEADERS, modern, modern_headers, request

STREAMS = 200
USERS = 20
"""Ten streams each: one caller may have sixteen."""
SECONDS = 30.0
SPARE_THREADS = 12
"""Threads that come and go whoever listens: those that requests borrow, of which eight are kept, and the log's writer."""
SPARE_CONNECTIONS = 2
"""The log's writer may hold one, and so may a call that is just ending."""

_PEOPLE = f"""
import django; django.setup()
from django.contrib.auth.models import User
from mcp_server.models import Token
for number in range({USERS}):
    user = User.objects.create_user(f"listener {{number}}")
    print(Token.objects.issue(user, "tests")[1])
"""

URI = "note://welcome"
UPDATED = "notifications/resources/updated"


@pytest.fixture(scope="module")
def crowded(start: Callable[..., Served]) -> Served:
    return start("door", copy="crowd")


@pytest.fixture(scope="module")
def tokens(crowded: Served) -> list[str]:
    """One token of each user."""
    run = subprocess.run(
        [sys.executable, "-c", _PEOPLE],
        env=crowded.site.environment(),
        cwd=ROOT,
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    return run.stdout.split()


class Listener:
    """One open stream: whether its first frame came, and how often it heard what."""

    def __init__(self) -> None:
        self.opened = False
        self.heard: Counter[str] = Counter()

    async def read(self, response: httpx2.Response) -> None:
        async for line in response.aiter_lines():
            self.opened = True
            if line.startswith("data: {"):
                self.heard[json.loads(line[6:])["method"]] += 1


class Door:
    """The served door, as many clients at once see it."""

    def __init__(self, served: Served, http: httpx2.AsyncClient, endpoint: str = "") -> None:
        self._served = served
        self._http = http
        self._url = served.url + endpoint

    async def call(self, token: str, name: str, **arguments: Any) -> Any:
        message = modern("tools/call", {"name": name, "arguments": arguments})
        headers = modern_headers(message) | _bearer(token)
        response = await self._http.post(self._url, json=message, headers=headers)
        return response.json()["result"]["content"][0]["text"]

    @asynccontextmanager
    async def listening(self, era: str, token: str) -> AsyncIterator[Listener]:
        """A stream that hears of changed lists and of one resource."""
        opening = self._listen(token) if era == "2026" else await self._stand(token)
        async with opening as response:
            assert response.headers["content-type"].startswith("text/event-stream")
            listener = Listener()
            reading = asyncio.create_task(listener.read(response))
            try:
                yield listener
            finally:
                reading.cancel()

    def _listen(self, token: str) -> Any:
        wanted = {"toolsListChanged": True, "resourceSubscriptions": [URI]}
        message = modern("subscriptions/listen", {"notifications": wanted})
        headers = modern_headers(message) | _bearer(token)
        return self._http.stream("POST", self._url, json=message, headers=headers)

    async def _stand(self, token: str) -> Any:
        """The stream that a session of 2025 may GET, subscribed to the resource."""
        hello = {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "by hand", "version": "1"},
        }
        headers = JSON_HEADERS | _bearer(token)
        answer = await self._http.post(self._url, json=request("initialize", hello), headers=headers)
        headers |= {"Mcp-Session-Id": answer.headers["mcp-session-id"], "Mcp-Protocol-Version": "2025-11-25"}
        subscribe = request("resources/subscribe", {"uri": URI})
        answer = await self._http.post(self._url, json=subscribe, headers=headers)
        assert answer.json()["result"] == {}
        return self._http.stream("GET", self._url, headers=headers)

    def costs(self) -> tuple[int, int]:
        """How many threads the process has, and how many connections to the database.

        Each connection has a log of its own open; the database file itself SQLite closes later, when its locks allow.
        """
        process = self._served.process.pid
        return threads(process), open_files(process, f"{self._served.site.database.name}-wal")


def _bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


async def until(condition: Callable[[], bool], what: Callable[[], Any]) -> None:
    """Wait for a condition, or fail with what was seen last."""
    try:
        async with asyncio.timeout(SECONDS):
            while not condition():
                await asyncio.sleep(0.05)
    except TimeoutError:
        pytest.fail(f"Still after {SECONDS} s: {what()}")


@pytest.mark.thorough
@pytest.mark.proves("P06c", "P06a")
@pytest.mark.parametrize("endpoint", ["", "/awaiting"])
@pytest.mark.parametrize("era", ["2026", "2025"])
async def test_two_hundred_idle_streams_hold_no_thread_and_no_connection(
    crowded: Served, tokens: list[str], era: str, endpoint: str
) -> None:
    limits = httpx2.Limits(max_connections=None, max_keepalive_connections=None)
    async with AsyncExitStack() as stack:
        http = await stack.enter_async_context(httpx2.AsyncClient(timeout=SECONDS, limits=limits))
        door = Door(crowded, http, endpoint)
        # All threads that calls ever need are there before the count.
        for token in tokens:
            assert await door.call(token, "who-am-i") == f"listener {tokens.index(token)}"
            assert await door.call(token, "add-later", a=1, b=2) == "3"
        before, _ = door.costs()
        listeners: list[Listener] = []
        for _ in range(STREAMS // USERS):
            opening = (stack.enter_async_context(door.listening(era, token)) for token in tokens)
            listeners += await asyncio.gather(*opening)
        await until(lambda: all(item.opened for item in listeners), lambda: "not every stream has begun")
        if era == "2025":
            await _hear_first(door, tokens, listeners)
        await until(
            lambda: _is_idle(door.costs(), before), lambda: f"{door.costs()}, {before} threads before"
        )
        await _reach_all(door, tokens, listeners)
        await until(
            lambda: _is_idle(door.costs(), before), lambda: f"{door.costs()}, {before} threads before"
        )


def _is_idle(costs: tuple[int, int], threads_before: int) -> bool:
    return costs[0] <= threads_before + SPARE_THREADS and costs[1] <= SPARE_CONNECTIONS


async def _hear_first(door: Door, tokens: list[str], listeners: list[Listener]) -> None:
    """Wait until every stream hears: one of 2025 does not say from when on it does."""
    async with asyncio.timeout(SECONDS):
        while not all(item.heard[UPDATED] for item in listeners):
            await door.call(tokens[0], "touch", uri=URI)
            await asyncio.sleep(0.2)


async def _reach_all(door: Door, tokens: list[str], listeners: list[Listener]) -> None:
    """Show that each stream hears of an update, and that calls are answered meanwhile."""
    told = [item.heard[UPDATED] for item in listeners]
    assert await door.call(tokens[0], "touch", uri=URI) == "touched"
    answers = await asyncio.gather(*(door.call(token, "add", a=1, b=2) for token in tokens))
    assert len(answers) == USERS
    await until(
        lambda: all(item.heard[UPDATED] > count for item, count in zip(listeners, told, strict=True)),
        lambda: Counter(item.heard[UPDATED] for item in listeners),
    )
