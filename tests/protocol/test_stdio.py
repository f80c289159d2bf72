"""`manage.py mcp_stdio`: the same tools for a local client, in both eras (P10)."""

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters

from tests.protocol.conftest import ROOT, Site
from tests.protocol.test_clients import ERAS, text_of
from tests.protocol.test_questions import accept, answers


@asynccontextmanager
async def local(site: Site, mode: str, *arguments: str, **options: Any) -> AsyncIterator[Client]:
    command = StdioServerParameters(
        command=sys.executable,
        args=["-m", "django", "mcp_stdio", *arguments],
        env=site.environment(),
        cwd=ROOT,
    )
    async with Client(command, mode=mode, **options) as client:
        yield client


@ERAS
@pytest.mark.proves("P10", "G01d")
async def test_a_local_client_is_served_as_its_user(site: Site, mode: str, version: str) -> None:
    reported: list[float] = []
    logged: list[Any] = []

    async def on_progress(progress: float, total: float | None, message: str | None) -> None:
        reported.append(progress)

    async def on_log(params: Any) -> None:
        logged.append(params.data)

    person, heard = answers(accept(color="red", count=2), accept(confirm=True))
    async with local(
        site, mode, "--user", "staff", elicitation_callback=person, logging_callback=on_log, log_level="info"
    ) as client:
        assert client.protocol_version == version
        names = {tool.name for tool in (await client.list_tools()).tools}
        assert {"add", "staff-only", "for-requests"} <= names
        assert "for-group-viewers" not in names
        assert text_of(await client.call_tool("who-am-i")) == "staff"
        assert text_of(await client.call_tool("work", {"steps": 2}, progress_callback=on_progress)) == "done"
        assert text_of(await client.call_tool("order")) == "2 red"
        assert (await client.read_resource("note://welcome")).contents
        assert (await client.get_prompt("translate", {"text": "Hi", "language": "Dutch"})).messages
    assert reported == [1, 2]
    assert logged == ["did 1", "did 2"]
    assert heard == ["What shall it be?", "Deliver 2 in red?"]
