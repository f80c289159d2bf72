"""`tools/list` and `tools/call`."""

import mcp_types

from mcp_server.calls.rendering import Rendered, render
from mcp_server.codemode import offering
from mcp_server.definitions.endpoint import Endpoint
from mcp_server.exceptions import UnknownTool
from mcp_server.protocol import pages, translation
from mcp_server.protocol.kernel import MCPError
from mcp_server.protocol.questions import InputRequired, RoundQuestions
from mcp_server.protocol.replies import INVALID_PARAMS
from mcp_server.protocol.serving import Context, resume, serving


async def list_tools(
    context: Context, params: mcp_types.PaginatedRequestParams | None
) -> mcp_types.ListToolsResult:
    """Return what the caller may see."""
    visible = await offering.offered_tools(serving(context).caller)
    shown, cursor = pages.cut(visible, params)
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
        raise unknown_tool(params.name) from None
    except InputRequired as pending:
        return pending.questions.result()
    failure = called.outcome.failure
    if failure is not None and isinstance(found.questions, RoundQuestions):
        found.questions.refuse_failure(failure.message)
    version = context.protocol_version
    rendered = render_call(called, found.endpoint, structured=translation.allows_structured(version))
    return translation.call_result(rendered, version)


def render_call(called: offering.Called, endpoint: Endpoint, *, structured: bool) -> Rendered:
    """Return a finished call as the endpoint gives it to clients."""
    definition = called.definition
    return render(
        called.outcome,
        definition,
        result_format=definition.result_format or endpoint.definition.result_format,
        structured_allowed=structured,
    )


def unknown_tool(name: str) -> MCPError:
    """Return the error for a name that is hidden and for one that never was: one wording for both (contract G02)."""
    return MCPError(INVALID_PARAMS, f"Unknown tool: {name}")
