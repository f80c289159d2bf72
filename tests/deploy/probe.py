"""What a client does with a site, through the official SDK: plain calls, a code run, a question, a listen stream."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import httpx2
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import ElicitResult

from tests.deploy.served import Served

PATIENCE = 20.0
ERAS = ("legacy", "auto")


@asynccontextmanager
async def connect(url: str, token: str, mode: str = "auto", **options: Any) -> AsyncIterator[Client]:
    """Yield a client of the official SDK."""
    verify = options.pop("verify", True)
    async with (
        httpx2.AsyncClient(
            headers={"Authorization": f"Bearer {token}"}, timeout=PATIENCE, verify=verify
        ) as http,
        Client(streamable_http_client(url, http_client=http), mode=mode, **options) as client,
    ):
        yield client


def text_of(result: Any) -> str:
    """Return the text of a result.

    Raises:
        AssertionError: the call failed.
    """
    text: str = result.content[0].text
    assert not result.is_error, text
    return text


async def call(
    url: str, token: str, name: str, arguments: dict[str, Any] | None = None, **options: Any
) -> str:
    """Return the text that a tool gives to a new client."""
    async with connect(url, token, **options) as client:
        return text_of(await client.call_tool(name, arguments or {}))


async def try_calls(url: str, token: str, mode: str, **options: Any) -> None:
    """List and call."""
    async with connect(url, token, mode, **options) as client:
        names = [tool.name for tool in (await client.list_tools()).tools]
        assert "add" in names, names
        assert text_of(await client.call_tool("add", {"a": 2, "b": 3})) == "5"


async def try_code(url: str, token: str, **options: Any) -> None:
    """Run a program that calls tools, side by side."""
    program = (
        "const sums = await Promise.all([1, 2, 3].map(n => codemode.add({a: n, b: n}))); return sums.join()"
    )
    assert await call(f"{url}/code", token, "code", {"code": program}, **options) == "2,4,6"


async def try_question(url: str, token: str, mode: str, **options: Any) -> None:
    """Be asked by a tool, and agree."""

    async def agree(context: Any, params: Any) -> ElicitResult:
        return ElicitResult(action="accept", content={"confirm": True})

    assert await call(url, token, "ask", mode=mode, elicitation_callback=agree, **options) == "agreed"


async def try_listening(url: str, token: str, **options: Any) -> None:
    """Subscribe to a resource, and hear from one client what another caused."""
    async with (
        connect(url, token, **options) as client,
        client.listen(resource_subscriptions=["parcels://all"]) as subscription,
    ):
        await call(url, token, "announce", **options)
        async for event in subscription:
            assert event.uri == "parcels://all"
            break


async def try_everything(url: str, token: str, *, shared: bool = True, **options: Any) -> None:
    """Do all of it in both eras.

    Args:
        url: of the default endpoint.
        token: of the client's user.
        shared: whether all requests reach one process, or processes that hear each other.
        options: for `connect`.
    """
    for mode in ERAS:
        await try_calls(url, token, mode, **options)
        if shared or mode != "legacy":
            await try_question(url, token, mode, **options)
    await try_code(url, token, **options)
    if shared:
        await try_listening(url, token, **options)


def play(coroutine: Coroutine[Any, Any, Any], seconds: float = 60) -> Any:
    """Return what a coroutine gives, in bounded time."""

    async def bounded() -> Any:
        async with asyncio.timeout(seconds):
            return await coroutine

    return asyncio.run(bounded())


def check(served: Served, **options: Any) -> None:
    """Do everything with a server that was just started."""
    play(try_everything(served.url, served.site.token, **options))


async def until(attempt: Callable[[], Coroutine[Any, Any, Any]], seconds: float = 20) -> Any:
    """Return what an attempt gives once it succeeds; the last error when it does not in time."""
    end = asyncio.get_running_loop().time() + seconds
    while True:
        try:
            async with asyncio.timeout(10):
                return await attempt()
        except Exception:
            if asyncio.get_running_loop().time() > end:
                raise
        await asyncio.sleep(0.2)
