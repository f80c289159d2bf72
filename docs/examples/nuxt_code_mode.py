"""The snippets of docs/compare-nuxt-code-mode.md."""

from mcp_server import endpoint, tool


@tool(annotations="read")
def get_user(id: str) -> dict[str, str]:
    """Get a user by id."""
    return {"id": id, "name": "Ada"}


# [start:enable]
endpoint("code", code_mode="on")
# [end:enable]

# [start:chosen]
endpoint("ai-agent", code_mode="on", tools=["get-user", "list-*", "create-todo"])
# [end:chosen]

# [start:progressive]
endpoint("large", code_mode="progressive")
# [end:progressive]

# [start:description]
endpoint(
    "house-rules",
    code_mode="on",
    code_description="""You have {{count}} tools available. Write JavaScript using the codemode object.

{{types}}

Always combine related operations into a single code block.""",
)
# [end:description]


# [start:guard]
@tool(enabled="auth.delete_user", annotations="delete")
def admin_delete(id: str) -> str:
    """Delete a resource (for those who may)."""
    return f"Deleted {id}."


# [end:guard]
