"""The fastmcp client lists and calls on both endpoints; in and out as in clients.mjs. Runs in fastmcp's own environment."""

import asyncio
import json
import sys

from fastmcp import Client
from fastmcp.client.transports import StreamableHttpTransport


async def main() -> None:
    given = json.load(sys.stdin)
    servers = given["servers"]
    plain = await look(servers["demo"], "get-user", {"id": "123"})
    code = await look(servers["demo-code"], "code", {"code": given["program"]})
    print(json.dumps({"plain": plain, "code": code}))


async def look(server, name: str, arguments):
    async with Client(StreamableHttpTransport(server["url"], headers=server["headers"])) as client:
        tools = [tool.name for tool in await client.list_tools()]
        result = await client.call_tool_mcp(name, arguments)
        found = result.model_dump(mode="json", by_alias=True)
        return {"version": client.protocol_version, "tools": tools, "result": found}


if __name__ == "__main__":
    asyncio.run(main())
