"""Code mode over real servers: what passes between a running program and its client."""

import asyncio
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest

from tests.protocol.conftest import Served
from tests.protocol.test_clients import ERAS, connect, text_of
from tests.protocol.test_disconnect import wait_for
from tests.protocol.test_questions import accept, answers


@ERAS
@pytest.mark.proves("C01a", "C15a", "P04a")
async def test_progress_of_each_inner_call_reaches_a_client_that_asked(
    served: Served, mode: str, version: str
) -> None:
    told: list[tuple[float, str | None]] = []

    async def on_progress(progress: float, total: float | None, message: str | None) -> None:
        told.append((progress, message))

    program = "let n = 0; for (let i = 0; i < 3; i++) n = (await codemode.add({a: n, b: 1})).total; return n"
    async with connect(served, mode, served.site.staff, endpoint="/code") as client:
        assert [item.name for item in (await client.list_tools()).tools] == ["code"]
        result = await client.call_tool("code", {"code": program}, progress_callback=on_progress)
    assert text_of(result) == "3"
    assert told == [(1, "add finished"), (2, "add finished"), (3, "add finished")]


@pytest.mark.proves("C17c")
async def test_a_program_asks_the_user_in_2025_and_is_told_why_not_in_2026(
    start: Callable[..., Served],
) -> None:
    served = start("uvicorn")
    person, heard = answers(accept(color="red", count=2), accept(confirm=True))
    options: dict[str, Any] = {"endpoint": "/code", "elicitation_callback": person}
    program = {"code": "return await codemode.order({prefix: '> '})"}
    async with connect(served, "legacy", served.site.staff, **options) as client:
        assert text_of(await client.call_tool("code", program)) == "> 2 red"
    assert len(heard) == 2
    async with connect(served, "auto", served.site.staff, **options) as client:
        refused = await client.call_tool("code", program)
    assert refused.is_error
    assert "cannot ask the user with this protocol revision" in text_of(refused)
    assert len(heard) == 2


@pytest.mark.proves("C15b")
async def test_a_client_that_leaves_ends_its_run(start: Callable[..., Served]) -> None:
    served, token, begun = start("uvicorn"), uuid4().hex, asyncio.Event()
    program = f"await Promise.all([codemode.sleep({{seconds: 30, token: '{token}'}}), codemode.add({{a: 1, b: 1}})])"

    async def on_progress(progress: float, total: float | None, message: str | None) -> None:
        begun.set()

    async with connect(served, "auto", served.site.staff, endpoint="/code") as client:
        call = asyncio.ensure_future(
            client.call_tool("code", {"code": program}, progress_callback=on_progress)
        )
        async with asyncio.timeout(20):
            await begun.wait()
        call.cancel()
        await asyncio.wait({call})
    assert wait_for(lambda: served.site.groups(f"cancelled {token}"), 10) == 1
