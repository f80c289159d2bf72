"""`tools/list` and `tools/call`."""

import mcp_types

from mcp_server.calls.rendering import render
from mcp_server.codemode import offering
from mcp_server.conf import options
from mcp_server.exceptions import UnknownTool
from mcp_server.protocol import pages, translation
from mcp_server.protocol.kernel import MCPError
from mcp_server.protocol.questions import InputRequired, RoundQuestions
from mcp_server.protocol.replies import INVALID_PARAMS
from mcp_server.protocol.serving import Context, Serving, resume, serving


async def list_tools(
    context: Context, params: mcp_types.PaginatedRequestParams | None
) -> mcp_types.ListToolsResult:
    """Return what the caller may see."""
    visible = await offering.offered_tools(serving(context).caller)
    shown, cursor = pages.cut(visible, params.cursor if params else None, options().page_size)
    structured = translation.allows_structured(context.protocol_version)
    return mcp_types.ListToolsResult(
        tools=[translation.describe_tool(item, structured=structured) for item in shown], next_cursor=cursor
    )


async def call_tool(
    context: Context, params: mcp_types.CallToolRequestParams
) -> mcp_types.CallToolResult | mcp_types.InputRequiredResult:
    """Return how the call ended, or what the client must answer first."""
    found = serving(context)
    await resume(found, params)
    try:
        called = await offering.call_offered(found.caller, params.name, params.arguments)
    except UnknownTool:
        # One wording for a name that is hidden and for one that never was (contract G02).
        raise MCPError(INVALID_PARAMS, f"Unknown tool: {params.name}") from None
    except InputRequired:
        assert isinstance(found.questions, RoundQuestions)  # noqa: S101 - nothing else raises it
        return found.questions.result()
    return _result(found, called, context.protocol_version)


def _result(found: Serving, called: offering.Called, version: str) -> mcp_types.CallToolResult:
    outcome, definition = called.outcome, called.definition
    if outcome.failure is not None and isinstance(found.questions, RoundQuestions):
        found.questions.refuse_failure(outcome.failure.message)
    rendered = render(
        outcome,
        definition,
        result_format=definition.result_format or found.endpoint.definition.result_format,
        structured_allowed=translation.allows_structured(version),
    )
    return translation.call_result(rendered, version)
