"""Call tools as an application does whose model runs its code somewhere else."""

import asyncio
import json
from typing import Any

import httpx2
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client

Call = tuple[str, dict[str, Any]]


async def answer(client: Client, calls: list[Call]) -> list[str]:
    """Return for each call the text that the model's code receives."""
    return list(await asyncio.gather(*(answer_one(client, name, arguments) for name, arguments in calls)))


async def answer_one(client: Client, name: str, arguments: dict[str, Any]) -> str:
    result = await client.call_tool(name, arguments)
    if not result.is_error and result.structured_content is not None:
        return json.dumps(result.structured_content)  # the same as the text, without the text's cap
    return "".join(part.text for part in result.content if part.type == "text")


async def run(url: str, token: str, calls: list[Call]) -> list[str]:
    headers = {"Authorization": f"Bearer {token}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=240) as http,
        Client(streamable_http_client(url, http_client=http)) as client,
    ):
        return await answer(client, calls)
