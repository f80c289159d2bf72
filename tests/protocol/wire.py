"""JSON-RPC by hand, for what no MCP client would send."""

import json
from typing import Any

VERSION = "2026-07-28"
JSON_HEADERS = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}


def request(method: str, params: dict[str, Any] | None = None, request_id: Any = 1) -> dict[str, Any]:
    """A request of the 2025 eras."""
    return {
        "jsonrpc": "2.0",
        "id": request_id,
        "method": method,
        **({} if params is None else {"params": params}),
    }


def modern(
    method: str, params: dict[str, Any] | None = None, request_id: Any = 1, **meta: Any
) -> dict[str, Any]:
    """A request of 2026-07-28, with its envelope."""
    envelope = {
        "io.modelcontextprotocol/protocolVersion": VERSION,
        "io.modelcontextprotocol/clientCapabilities": {},
        **meta,
    }
    return request(method, {**(params or {}), "_meta": envelope}, request_id)


def modern_headers(message: dict[str, Any]) -> dict[str, str]:
    """The headers that belong to a request of 2026-07-28."""
    params = message.get("params") or {}
    name = params.get("name", params.get("uri"))
    named = {"Mcp-Name": name} if isinstance(name, str) else {}
    return {**JSON_HEADERS, "Mcp-Protocol-Version": VERSION, "Mcp-Method": message["method"], **named}


def events(body: str | bytes) -> list[dict[str, Any]]:
    """The messages of a server-sent event stream."""
    text = body.decode() if isinstance(body, bytes) else body
    return [json.loads(line[6:]) for line in text.splitlines() if line.startswith("data: {")]
