"""Group `admin`."""

from mcp_server import tool


@tool(annotations="delete")
def delete_user(id: str) -> str:
    """Delete a user account."""
    return f"Deleted {id}."
