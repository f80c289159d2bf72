"""Whether a handler may speak before its answer: asked before a view chooses a thread for it."""

import json
from typing import Any

from mcp_server.definitions.tool import ToolDefinition
from mcp_server.protocol.admission import SESSION_HEADER, Candidate
from mcp_server.protocol.replies import EVENT_STREAM

_ASKED_META = ("progressToken", "io.modelcontextprotocol/logLevel")
_SPEAKING_METHODS = {"tools/call", "prompts/get", "resources/read", "subscriptions/listen"}


def may_speak(candidate: Candidate) -> bool:
    """Return whether the request may open a stream; what cannot be read says nothing and is refused elsewhere.

    A handler speaks through its context. A tool without one is silent, and so is any where the client asked for neither
    progress nor log and has no session in which it could be asked something itself.
    """
    message = _read(candidate)
    if message.get("method") != "tools/call":
        return bool(message)
    definition = _called(candidate, message)
    # A name that is not on the endpoint's own list may be `code`, whose calls report progress.
    return _is_asked(candidate, message) and (definition is None or bool(definition.arguments.context))


def holds_its_thread(candidate: Candidate) -> bool:
    """Return whether the handler is a plain function that may speak: what it says must not wait for its end."""
    message = _read(candidate)
    if message.get("method") != "tools/call":
        return message.get("method") in {"prompts/get", "resources/read"}
    definition = _called(candidate, message)
    return definition is not None and not definition.is_async and may_speak(candidate)


def _read(candidate: Candidate) -> dict[str, Any]:
    """Return the message, or nothing where it cannot open a stream."""
    if EVENT_STREAM not in candidate.headers.get("accept", ""):
        return {}
    try:
        found = json.loads(candidate.body)
    except (ValueError, RecursionError):
        return {}
    method = found.get("method") if isinstance(found, dict) else None
    return found if isinstance(method, str) and method in _SPEAKING_METHODS else {}


def _params(message: dict[str, Any]) -> dict[str, Any]:
    params = message.get("params")
    return params if isinstance(params, dict) else {}


def _is_asked(candidate: Candidate, message: dict[str, Any]) -> bool:
    meta = _params(message).get("_meta")
    asked = isinstance(meta, dict) and any(key in meta for key in _ASKED_META)
    return asked or SESSION_HEADER in candidate.headers


def _called(candidate: Candidate, message: dict[str, Any]) -> ToolDefinition | None:
    name = _params(message).get("name")
    return candidate.endpoint.tools.get(name) if isinstance(name, str) else None
