"""Every name of the SDK's server side that we use, in one place.

`Server`, `CacheHint` and the request-state names are documented API. The rest is the request kernel: public names of the API reference that
the guides do not mention, so a 2.x minor may move them; `tests/protocol/test_kernel.py` says so first.

Should they go, the fallback is the SDK's own transport, documented API only: give the `Server` of
`servers.server_for` to `mcp.server.streamable_http_manager.StreamableHTTPSessionManager`, run it once per event loop,
and call its `handle_request(scope, receive, send)` where `engine.serve` stands. Both eras then still work in one
process; sessions that any process can serve are lost.
"""

from mcp.server.caching import CacheHint
from mcp.server.connection import Connection
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.models import InitializationOptions
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity
from mcp.server.runner import modern_error_data, serve_one
from mcp.server.session import ServerSession
from mcp.server.stdio import stdio_server
from mcp.server.subscriptions import SUBSCRIPTION_ID_META_KEY
from mcp.shared.dispatcher import CallOptions
from mcp.shared.exceptions import MCPError, NoBackChannelError
from mcp.shared.inbound import (
    ERROR_CODE_HTTP_STATUS,
    InboundLadderRejection,
    classify_inbound_request,
    find_invalid_x_mcp_header,
    unsupported_protocol_version_rejection,
    validate_mcp_param_headers,
    x_mcp_header_map,
)
from mcp.shared.jsonrpc_dispatcher import progress_token_from_params
from mcp.shared.message import ServerMessageMetadata
from mcp.shared.transport_context import TransportContext

__all__ = [
    "ERROR_CODE_HTTP_STATUS",
    "SUBSCRIPTION_ID_META_KEY",
    "CacheHint",
    "CallNext",
    "CallOptions",
    "Connection",
    "HandlerResult",
    "InboundLadderRejection",
    "InitializationOptions",
    "MCPError",
    "NoBackChannelError",
    "NotificationOptions",
    "RequestStateBoundary",
    "RequestStateSecurity",
    "Server",
    "ServerMessageMetadata",
    "ServerRequestContext",
    "ServerSession",
    "TransportContext",
    "classify_inbound_request",
    "find_invalid_x_mcp_header",
    "modern_error_data",
    "progress_token_from_params",
    "serve_one",
    "stdio_server",
    "unsupported_protocol_version_rejection",
    "validate_mcp_param_headers",
    "x_mcp_header_map",
]
