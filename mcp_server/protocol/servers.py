"""One low-level SDK `Server` per endpoint: what it says about itself, and its handlers."""

from dataclasses import dataclass
from typing import Any, cast
from weakref import WeakKeyDictionary

import mcp_types

from mcp_server.calls.caller import Caller
from mcp_server.calls.results import render
from mcp_server.codemode import offering
from mcp_server.conf import options
from mcp_server.definitions.endpoint import Endpoint, EndpointDefinition
from mcp_server.exceptions import UnknownTool
from mcp_server.protocol import pages, translation
from mcp_server.protocol.kernel import CacheHint, MCPError, Server, ServerRequestContext
from mcp_server.protocol.replies import INVALID_PARAMS

PUBLIC_SECONDS = 60
"""How long a client may keep a list that is the same for everybody; other lists are never kept (contract G03)."""

_servers: WeakKeyDictionary[Endpoint, Server[Any]] = WeakKeyDictionary()

Context = ServerRequestContext[Any, Any]


@dataclass(frozen=True, slots=True)
class Serving:
    """What handlers need beside the SDK's own context; they find it as `context.request`."""

    caller: Caller
    endpoint: Endpoint


def server_for(endpoint: Endpoint) -> Server[Any]:
    """Return the endpoint's server, made at its first request."""
    server = _servers.get(endpoint)
    if server is None:
        server = _servers.setdefault(endpoint, _build(endpoint))
    return server


def _build(endpoint: Endpoint) -> Server[Any]:
    definition = endpoint.definition
    return Server(
        definition.title or definition.name,
        version=definition.version,
        title=definition.title or None,
        description=definition.description or None,
        instructions=definition.instructions or None,
        website_url=definition.website_url,
        icons=translation.icons(definition.icons),
        cache_hints={
            "tools/list": _cache_hint(endpoint),
            "server/discover": CacheHint(ttl_ms=0, scope="private"),
        },
        on_list_tools=_list_tools,
        on_call_tool=_call_tool,
    )


def _cache_hint(endpoint: Endpoint) -> CacheHint:
    if is_public(endpoint.definition) and not any(tool.guard for tool in endpoint.tools.values()):
        return CacheHint(ttl_ms=PUBLIC_SECONDS * 1000, scope="public")
    return CacheHint(ttl_ms=0, scope="private")


def is_public(definition: EndpointDefinition) -> bool:
    """Return whether everybody sees the endpoint in the same way."""
    return not definition.login_required and definition.guard is None and definition.policy == "off"


def _serving(context: Context) -> Serving:
    return cast("Serving", context.request)


async def _list_tools(
    context: Context, params: mcp_types.PaginatedRequestParams | None
) -> mcp_types.ListToolsResult:
    serving = _serving(context)
    visible = await offering.offered_tools(serving.caller)
    shown, cursor = pages.cut(visible, params.cursor if params else None, options().page_size)
    structured = translation.allows_structured(context.protocol_version)
    return mcp_types.ListToolsResult(
        tools=[translation.describe_tool(item, structured=structured) for item in shown], next_cursor=cursor
    )


async def _call_tool(context: Context, params: mcp_types.CallToolRequestParams) -> mcp_types.CallToolResult:
    serving = _serving(context)
    try:
        called = await offering.call_offered(serving.caller, params.name, params.arguments)
    except UnknownTool:
        # One wording for a name that is hidden and for one that never was (contract G02).
        raise MCPError(INVALID_PARAMS, f"Unknown tool: {params.name}") from None
    definition = called.definition
    rendered = render(
        called.outcome,
        definition,
        result_format=definition.result_format or serving.endpoint.definition.result_format,
        structured_allowed=translation.allows_structured(context.protocol_version),
    )
    return translation.call_result(rendered, context.protocol_version)
