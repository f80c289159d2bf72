"""Ready parts of answers, for one endpoint and one revision.

All constant parts are made by the SDK's own serialiser, once, so that they cannot drift from the kernel's answers.
"""

from collections.abc import Iterable
from typing import Any
from weakref import WeakKeyDictionary

import mcp_types
from mcp_types.methods import serialize_server_result
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from mcp_server.calls.rendering import Rendered
from mcp_server.definitions.endpoint import Endpoint
from mcp_server.definitions.results import Text
from mcp_server.definitions.tool import ToolDefinition
from mcp_server.protocol import translation
from mcp_server.protocol.replies import encode

SERVER_INFO = "io.modelcontextprotocol/serverInfo"


class Frames:
    """Answers to `tools/list` and `tools/call` as bytes."""

    def __init__(self, endpoint: Endpoint, version: str) -> None:
        # Here, since the server behind it loads the whole SDK, which must not happen before the first request.
        from mcp_server.protocol.servers import server_for

        server = server_for(endpoint)
        self.version = version
        self.modern = version in MODERN_PROTOCOL_VERSIONS
        self.structured = translation.allows_structured(version)
        self._stamp: dict[str, Any] = (
            {"_meta": {SERVER_INFO: server.server_info_stamp}} if self.modern else {}
        )
        hint = server.cache_hints["tools/list"]
        listed = self._serialise(
            "tools/list", mcp_types.ListToolsResult(tools=[], ttl_ms=hint.ttl_ms, cache_scope=hint.scope)
        )
        listed.pop("tools")
        self._list_tail = self._tail(listed)
        called = self._serialise("tools/call", mcp_types.CallToolResult(content=[]))
        self._call_rest = {key: value for key, value in called.items() if key not in {"content", "isError"}}
        # By id, which is quick; each definition is kept beside its bytes, so that its id cannot come to mean another.
        self._fragments: dict[int, tuple[bytes, ToolDefinition]] = {}

    def _serialise(self, method: str, result: mcp_types.Result) -> dict[str, Any]:
        dumped = result.model_dump(by_alias=True, mode="json", exclude_none=True)
        return serialize_server_result(method, self.version, dumped)

    def _tail(self, rest: dict[str, Any]) -> bytes:
        inner = encode({**rest, **self._stamp})[1:-1]
        return b"]" + (b"," + inner if inner else b"") + b"}}"

    def _describe(self, definition: ToolDefinition) -> tuple[bytes, ToolDefinition]:
        tool = translation.describe_tool(definition, structured=self.structured)
        listed = self._serialise("tools/list", mcp_types.ListToolsResult(tools=[tool]))
        found = self._fragments[id(definition)] = encode(listed["tools"][0]), definition
        return found

    def list_tools(self, request_id: int | str, definitions: Iterable[ToolDefinition]) -> bytes:
        """Return the answer to `tools/list`."""
        known = self._fragments
        tools = b",".join([(known.get(id(item)) or self._describe(item))[0] for item in definitions])
        return b'{"jsonrpc":"2.0","id":%b,"result":{"tools":[%b%b' % (
            encode(request_id),
            tools,
            self._list_tail,
        )

    def call_tool(self, request_id: int | str, rendered: Rendered) -> bytes:
        """Return the answer to `tools/call`."""
        content = [{"type": "text", "text": item.text} for item in rendered.content if type(item) is Text]
        if rendered.meta or len(content) != len(rendered.content):
            result = self._serialise("tools/call", translation.call_result(rendered, self.version))
            return encode({"jsonrpc": "2.0", "id": request_id, "result": self._stamped(result)})
        called: dict[str, Any] = {"content": content}
        if rendered.structured is not None:
            called["structuredContent"] = rendered.structured
        called["isError"] = rendered.is_error
        return encode(
            {"jsonrpc": "2.0", "id": request_id, "result": {**called, **self._call_rest, **self._stamp}}
        )

    def _stamped(self, result: dict[str, Any]) -> dict[str, Any]:
        meta = {**result.get("_meta", {}), **self._stamp.get("_meta", {})}
        return {**result, "_meta": meta} if meta else result


_frames: WeakKeyDictionary[Endpoint, dict[str, Frames]] = WeakKeyDictionary()


def frames_for(endpoint: Endpoint, version: str) -> Frames:
    """Return the frames of an endpoint for a revision, made at the first request."""
    versions = _frames.get(endpoint)
    if versions is None:
        versions = _frames.setdefault(endpoint, {})
    found = versions.get(version)
    if found is None:
        found = versions[version] = Frames(endpoint, version)
    return found
