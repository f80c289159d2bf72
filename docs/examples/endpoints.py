"""The snippets of docs/code-mode.md about endpoints."""

# [start:endpoints]
from mcp_server import endpoint, tool


@tool(annotations="read", tags=["reports"])
def monthly_report() -> str:
    """Return the report of this month."""
    return "All is well."


@tool(annotations="delete", code_mode=False)
def delete_everything() -> str:
    """Delete everything. Only as a call of its own, never from a program."""
    return "Done."


endpoint("code", code_mode="on")
endpoint("reports", title="Reports", tags=["reports"], code_mode="progressive", result_format="json")
endpoint("careful", code_mode="auto", code_destructive="outside")
# [end:endpoints]


# [start:description]
endpoint(
    "described",
    code_mode="on",
    code_description="""Write JavaScript that calls the {{count}} functions of `codemode`:

{{types}}

Do everything in one program and return only what was asked for.""",
)
# [end:description]
