"""The short path: recognises the plain, well-formed `tools/list` and `tools/call`; all else is the kernel's.

It never refuses: every error of the protocol is worded by the kernel, so none is worded twice, and a differential test
holds the two to the same answers.
"""

from collections.abc import Mapping
from typing import Any
from weakref import WeakKeyDictionary

from mcp_types import CLIENT_CAPABILITIES_META_KEY, CLIENT_INFO_META_KEY, PROTOCOL_VERSION_META_KEY
from mcp_types.methods import validate_client_request
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError
from pydantic_core import from_json, to_json

from mcp_server.definitions.endpoint import Endpoint
from mcp_server.definitions.values import value
from mcp_server.protocol.messages import MAX_DEPTH

VERSIONS = frozenset({"2025-06-18", "2025-11-25", *MODERN_PROTOCOL_VERSIONS})
JSON_TYPES = frozenset(
    {"application/json", "application/json; charset=utf-8", "application/json;charset=utf-8"}
)
ACCEPTS = frozenset(
    {
        "application/json, text/event-stream",
        "text/event-stream, application/json",
        "application/json,text/event-stream",
        "*/*",
    }
)
LARGEST = 262_144
"""Bytes of a body that is read here; larger ones are worth the kernel's care."""

HEADERS = ("mcp-protocol-version", "mcp-method", "mcp-name", "accept", "content-type")
"""All that is read here."""

_ENVELOPE = frozenset({"jsonrpc", "id", "method", "params"})
_MEMBERS: Mapping[str, frozenset[str]] = {
    "tools/call": frozenset({"name", "arguments", "_meta"}),
    "tools/list": frozenset({"_meta"}),
}
_QUIET_META = frozenset({PROTOCOL_VERSION_META_KEY, CLIENT_INFO_META_KEY, CLIENT_CAPABILITIES_META_KEY})


@value()
class Plain:
    """A plain request: `name` is None for `tools/list`."""

    id: int | str
    version: str
    name: str | None
    arguments: dict[str, Any] | None
    client: Any

    @property
    def modern(self) -> bool:
        """Return whether the revision knows no sessions."""
        return self.version in MODERN_PROTOCOL_VERSIONS


def recognise(endpoint: Endpoint, headers: Mapping[str, str], body: bytes) -> Plain | None:
    """Return a plain request, or None for what the kernel should see.

    Args:
        endpoint: which is asked; one with code mode, or pages of a list, is the kernel's.
        headers: by lower-case name; the door sees to it that none stood twice.
        body: at most `LARGEST` bytes are read.
    """
    version = headers.get("mcp-protocol-version", "")
    if version not in VERSIONS or len(body) > LARGEST:
        return None
    if headers.get("content-type") not in JSON_TYPES or headers.get("accept", "*/*") not in ACCEPTS:
        return None
    try:
        message = from_json(body, allow_inf_nan=False)
        found = _read(message, version)
        if found is None or (body.count(b"[") + body.count(b"{") > MAX_DEPTH):
            return None
        if version in MODERN_PROTOCOL_VERSIONS and not _agrees(headers, message):
            return None
        _validate(message["method"], version, message.get("params", {}))
    except (ValueError, KeyError, TypeError, AttributeError, ValidationError):
        return None
    return found if found.name is None or _is_quiet(endpoint, found, message["params"]) else None


def _validate(method: str, version: str, params: dict[str, Any]) -> None:
    """Have the SDK validate the parameters; `_meta` that it has accepted before need not be looked at again.

    Raises:
        ValidationError: when the SDK refuses them, as the kernel would.
    """
    named = method != "tools/call" or (
        type(params.get("name")) is str and type(params.get("arguments", {})) is dict
    )
    key = method, version, to_json(params.get("_meta", {}))
    if named and key in _accepted:
        return
    validate_client_request(method, version, params)
    if len(_accepted) >= _MOST_ACCEPTED:
        _accepted.clear()
    if named:
        _accepted.add(key)


_accepted: set[tuple[str, str, bytes]] = set()
_MOST_ACCEPTED = 256


def _read(message: Any, version: str) -> Plain | None:
    if type(message) is not dict or message["jsonrpc"] != "2.0" or not message.keys() <= _ENVELOPE:
        return None
    request_id, members = message["id"], _MEMBERS.get(message["method"])
    params = message.get("params", {})
    if members is None or type(request_id) not in {int, str} or type(params) is not dict:
        return None
    if not params.keys() <= members:
        return None
    meta = params.get("_meta", {})
    return Plain(
        request_id, version, params.get("name"), params.get("arguments"), meta.get(CLIENT_INFO_META_KEY)
    )


def _agrees(headers: Mapping[str, str], message: dict[str, Any]) -> bool:
    """Whether the headers of 2026-07-28 say what the body says; anything but equal texts is the kernel's."""
    params = message["params"]
    meta = params["_meta"]
    if (
        meta[PROTOCOL_VERSION_META_KEY] != headers["mcp-protocol-version"]
        or CLIENT_CAPABILITIES_META_KEY not in meta
    ):
        return False
    if headers["mcp-method"] != message["method"]:
        return False
    name = params.get("name")
    return name is None or (headers["mcp-name"] == name and not name.startswith("=?"))


def _is_quiet(endpoint: Endpoint, plain: Plain, params: dict[str, Any]) -> bool:
    """Whether the tool has nothing to say but its answer: it takes no context, or the request gives it none to speak on."""
    definition = endpoint.tools.get(plain.name or "")
    if definition is None or definition.name in _mirroring_tools(endpoint):
        return False
    if not definition.arguments.context:
        return True
    asked = params.get("_meta", {})
    # A question may end the request since 2026, and open a stream before.
    return (
        plain.version in MODERN_PROTOCOL_VERSIONS and asked.keys() <= _QUIET_META and not _can_be_asked(asked)
    )


def _mirroring_tools(endpoint: Endpoint) -> frozenset[str]:
    """Return which tools mirror parameters in headers, which the kernel compares."""
    found = _mirroring.get(endpoint)
    if found is None:
        # Here, since it loads the SDK.
        from mcp_server.protocol.parameters import has_parameter_headers

        tools = endpoint.tools.values()
        found = _mirroring[endpoint] = frozenset(item.name for item in tools if has_parameter_headers(item))
    return found


_mirroring: WeakKeyDictionary[Endpoint, frozenset[str]] = WeakKeyDictionary()


def _can_be_asked(meta: Mapping[str, Any]) -> bool:
    return bool(meta.get(CLIENT_CAPABILITIES_META_KEY))
