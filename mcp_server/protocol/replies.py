"""What goes back over HTTP, before anybody knows whether Django, an ASGI or a WSGI server sends it."""

import json
from collections.abc import Mapping
from dataclasses import field
from typing import Any

from pydantic_core import to_json

from mcp_server.definitions.values import value

JSON = "application/json"
EVENT_STREAM = "text/event-stream"

# The four codes of JSON-RPC 2.0 that are worded before the SDK is loaded.
PARSE_ERROR = -32700
INVALID_REQUEST = -32600
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603

# Proxies must neither hold back nor rewrite what is meant to arrive at once.
STREAM_HEADERS: Mapping[str, str] = {"Cache-Control": "no-cache, no-transform", "X-Accel-Buffering": "no"}
KEEP_ALIVE = b": keep-alive\n\n"


@value(kw_only=True)
class Reply:
    """One complete answer. `content_type` is None where there is no body."""

    status: int
    body: bytes = b""
    content_type: str | None = JSON
    headers: Mapping[str, str] = field(default_factory=dict)


def encode(value: Any) -> bytes:
    """Return `value` as compact JSON in UTF-8; NaN becomes null, lone surrogates stay escaped."""
    try:
        return to_json(value, inf_nan_mode="null")
    except ValueError:
        # UTF-8 cannot carry half a surrogate pair, an escape can.
        return json.dumps(value, separators=(",", ":")).encode("ascii")


def event(message: Mapping[str, Any]) -> bytes:
    """Return one JSON-RPC message as a server-sent event."""
    return b"event: message\ndata: " + encode(message) + b"\n\n"


def failure(code: int, message: str, data: Any = None, request_id: Any = None) -> dict[str, Any]:
    """Return a JSON-RPC error message; `request_id` is None where the request's own could not be read."""
    error: dict[str, Any] = {"code": code, "message": message}
    if data is not None:
        error["data"] = data
    return {"jsonrpc": "2.0", "id": request_id, "error": error}


def refusal(
    status: int, message: str, *, code: int = INVALID_REQUEST, headers: Mapping[str, str] | None = None
) -> Reply:
    """Return an HTTP refusal that an MCP client can read: JSON-RPC error, no HTML."""
    return Reply(status=status, body=encode(failure(code, message)), headers=headers or {})
