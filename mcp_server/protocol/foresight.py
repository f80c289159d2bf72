"""Whether a handler may speak before its answer: asked before a view chooses a thread for it."""

import json
from typing import Any

from mcp_server.definitions.prompt import PromptDefinition
from mcp_server.definitions.resource import ResourceDefinition
from mcp_server.definitions.tool import ToolDefinition
from mcp_server.protocol.admission import SESSION_HEADER, Candidate
from mcp_server.protocol.replies import EVENT_STREAM

Definition = ToolDefinition | PromptDefinition | ResourceDefinition

_ASKED_META = ("progressToken", "io.modelcontextprotocol/logLevel")
_SPEAKING_METHODS = {"tools/call", "prompts/get", "resources/read", "subscriptions/listen"}


def may_speak(candidate: Candidate) -> bool:
    """Return whether the request may open a stream; what cannot be read says nothing and is refused elsewhere.

    A handler speaks through its context. One without is silent, and so is any where the client asked for neither
    progress nor log and has no session in which it could be asked something itself.
    """
    message = _read(candidate)
    if not message or message["method"] == "subscriptions/listen":
        return bool(message)
    definition = _handler(candidate, message)
    if definition is None:
        # A name that is not on the endpoint's own list may be `code`, whose calls report progress.
        return message["method"] == "tools/call" and _is_asked(candidate, message)
    return _is_asked(candidate, message) and _takes_context(definition)


def holds_its_thread(candidate: Candidate) -> bool:
    """Return whether the handler is a plain function that may speak: what it says must not wait for its end."""
    message = _read(candidate)
    definition = _handler(candidate, message) if message else None
    return definition is not None and not definition.is_async and may_speak(candidate)


def _takes_context(definition: Definition) -> bool:
    taken = definition.arguments if isinstance(definition, ToolDefinition) else definition.parameters
    return bool(taken.context)


def _handler(candidate: Candidate, message: dict[str, Any]) -> Definition | None:
    """Return the tool, prompt or resource that the request names."""
    params = _params(message)
    endpoint = candidate.endpoint
    name, uri = params.get("name"), params.get("uri")
    if message["method"] == "resources/read":
        found = endpoint.find_resource(uri) if isinstance(uri, str) else None
        return found[0] if found is not None else None
    if not isinstance(name, str):
        return None
    return endpoint.prompts.get(name) if message["method"] == "prompts/get" else endpoint.tools.get(name)


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
