"""Group `search`."""

from mcp_server import tool


@tool(annotations="read")
def search(query: str) -> list[str]:
    """Search pages."""
    return [query]
