"""Test your tools in one line each: `MCPClient(user=ada).call_tool("add", {"a": 2, "b": 3}).text == "5"`."""

from mcp_server.testing.client import AsyncMCPClient, MCPClient
from mcp_server.testing.replies import MCPError, Result

__all__ = ["AsyncMCPClient", "MCPClient", "MCPError", "Result"]
