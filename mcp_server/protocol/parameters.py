"""`Mcp-Param-*` headers: parameters that a tool's author lets proxies route by, held against the arguments."""

from collections.abc import Mapping
from typing import Any
from weakref import WeakKeyDictionary

from mcp_server.calls import dispatcher
from mcp_server.definitions.tool import ToolDefinition
from mcp_server.protocol.exchange import Incoming
from mcp_server.protocol.kernel import MCPError, validate_mcp_param_headers, x_mcp_header_map
from mcp_server.protocol.outbound import Outbound
from mcp_server.protocol.serving import Serving

_mirroring: WeakKeyDictionary[ToolDefinition, bool] = WeakKeyDictionary()


async def check_parameter_headers(incoming: Incoming, outbound: Outbound) -> None:
    """Compare the headers of a `tools/call` with its arguments, in the caller's own view of the tools.

    Raises:
        MCPError: when they disagree. A tool that the caller may not see has no headers to disagree with.
    """
    definition = _called(incoming)
    if definition is None or not has_parameter_headers(definition):
        return
    serving: Serving = outbound.message_metadata.request_context
    if definition not in await dispatcher.visible_tools(serving.caller):
        return
    arguments = (incoming.params or {}).get("arguments") or {}
    if isinstance(arguments, Mapping) and (
        rejection := validate_mcp_param_headers(
            definition.arguments.json_schema, arguments, incoming.exchange.headers
        )
    ):
        raise MCPError(rejection.code, rejection.message, rejection.data)


def has_parameter_headers(definition: ToolDefinition) -> bool:
    """Return whether a tool mirrors parameters in headers."""
    found = _mirroring.get(definition)
    if found is None:
        found = _mirroring[definition] = bool(x_mcp_header_map(definition.arguments.json_schema))
    return found


def _called(incoming: Incoming) -> ToolDefinition | None:
    if not incoming.modern or incoming.method != "tools/call":
        return None
    name: Any = (incoming.params or {}).get("name")
    return incoming.exchange.endpoint.tools.get(name) if isinstance(name, str) else None
