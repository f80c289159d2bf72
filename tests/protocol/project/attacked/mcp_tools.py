import asyncio
from typing import Any

from mcp_server import tool


@tool(input_schema={"type": "object"})
def echo(arguments: Any) -> Any:
    """Return the arguments."""
    return arguments


@tool
async def slow() -> str:
    """Wait for half a minute."""
    await asyncio.sleep(30)
    return "slept"
