"""The official Python SDK's client, in both eras, against every kind of server (P01c, P02a, P04)."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import pytest
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from mcp_types import TextContent

from tests.protocol.conftest import Served

ERAS = pytest.mark.parametrize(("mode", "version"), [("legacy", "2025-11-25"), ("auto", "2026-07-28")])


@asynccontextmanager
async def connect(
    served: Served, mode: str, token: str = "", *, endpoint: str = "", **options: Any
) -> AsyncIterator[Client]:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=20) as http,
        Client(
            streamable_http_client(served.url + endpoint, http_client=http), mode=mode, **options
        ) as client,
    ):
        yield client


def text_of(result: Any) -> str:
    """The text of a result's only item."""
    (item,) = result.content
    assert isinstance(item, TextContent)
    return item.text


@ERAS
@pytest.mark.proves("G01d", "P01c", "P02a", "T19a")
async def test_the_official_client_lists_and_calls(served: Served, mode: str, version: str) -> None:
    async with connect(served, mode, raise_exceptions=True) as client:
        assert client.protocol_version == version
        assert client.server_info
        assert client.server_info.version == "1.2.3"
        listed = await client.list_tools()
        names = [tool.name for tool in listed.tools]
        assert names == sorted(names)
        assert "add" in names
        assert "for-requests" in names
        assert "staff-only" not in names
        result = await client.call_tool("add", {"a": 2, "b": 3})
        assert result.structured_content == {"total": 5}
        assert not result.is_error
        later = await client.call_tool("add-later", {"a": 2, "b": 3})
        assert text_of(later) == "5"


@ERAS
@pytest.mark.proves("P02a", "G05b")
async def test_a_token_makes_the_caller_its_user(served: Served, mode: str, version: str) -> None:
    for token, name in ((served.site.staff, "staff"), (served.site.plain, "plain")):
        async with connect(served, mode, token) as client:
            said = await client.call_tool("who-am-i")
            assert text_of(said) == name
            listed = {tool.name for tool in (await client.list_tools()).tools}
            assert ("staff-only" in listed) == (name == "staff")


@ERAS
@pytest.mark.proves("G02b")
async def test_a_hidden_tool_and_a_missing_one_are_answered_alike(
    served: Served, mode: str, version: str
) -> None:
    said = []
    async with connect(served, mode, served.site.plain) as client:
        for name in ("staff-only", "never-was"):
            with pytest.raises(MCPError) as caught:
                await client.call_tool(name)
            error = caught.value.error
            said.append((error.code, error.message.replace(name, "NAME"), error.data))
    assert said[0] == said[1]
    assert said[0][0] == -32602


@ERAS
@pytest.mark.proves("T14a", "T14d")
async def test_errors_reach_the_client_as_results_without_secrets(
    served: Served, mode: str, version: str
) -> None:
    async with connect(served, mode) as client:
        failed = await client.call_tool("fail", {"status": 418})
        assert failed.is_error
        assert text_of(failed) == "[418] Nothing there"
        crashed = await client.call_tool("crash")
        assert crashed.is_error
        assert "hunter2" not in text_of(crashed)
        assert re.search(r"reference [0-9a-f]+", text_of(crashed))
        wrong = await client.call_tool("add", {"a": "x", "b": 1})
        assert text_of(wrong).startswith("[400] ")


@ERAS
@pytest.mark.proves("P04a")
@pytest.mark.parametrize("tool", ["work", "work-in-thread"])
async def test_progress_and_log_reach_the_client_that_asked(
    served: Served, mode: str, version: str, tool: str
) -> None:
    reported: list[tuple[float, float | None, str | None]] = []
    logged: list[Any] = []

    async def on_progress(progress: float, total: float | None, message: str | None) -> None:
        reported.append((progress, total, message))

    async def on_log(params: Any) -> None:
        logged.append((params.level, params.data))

    async with connect(served, mode, logging_callback=on_log, log_level="info") as client:
        await client.call_tool(tool, {"steps": 3}, progress_callback=on_progress)
    assert reported == [(1, 3, "step 1"), (2, 3, "step 2"), (3, 3, "step 3")]
    assert logged == ([("info", f"did {step}") for step in (1, 2, 3)] if tool == "work" else [])


@ERAS
@pytest.mark.proves("P12a", "T18c")
async def test_atomic_requests_neither_break_a_call_nor_are_ignored_by_sync_tools(
    served: Served, mode: str, version: str
) -> None:
    name = f"{served.kind} {mode}"
    async with connect(served, mode, served.site.staff) as client:
        failed = await client.call_tool("write-then-fail", {"name": name})
        assert text_of(failed) == "After the write"
        assert served.site.groups(name) == 0
