"""Group `content`."""

from mcp_server import tool


@tool(annotations="read")
def list_pages() -> list[str]:
    """List pages."""
    return ["index"]
