"""Whether a handler may speak before its answer: asked by servers without an event loop, before they choose a thread."""

import json
from typing import Any

from mcp_server.protocol.admission import SESSION_HEADER, Candidate
from mcp_server.protocol.replies import EVENT_STREAM

_ASKED_META = ("progressToken", "io.modelcontextprotocol/logLevel")
_SPEAKING_METHODS = {"tools/call", "prompts/get", "resources/read", "subscriptions/listen"}


def may_speak(candidate: Candidate) -> bool:
    """Return whether the request may open a stream; what cannot be read says nothing and is refused elsewhere.

    A handler speaks through its context. A tool without one is silent, and so is any where the client asked for neither
    progress nor log and has no session in which it could be asked something itself.
    """
    if EVENT_STREAM not in candidate.headers.get("accept", ""):
        return False
    message = _read(candidate.body)
    if message.get("method") not in _SPEAKING_METHODS:
        return False
    if message["method"] != "tools/call":
        return True
    params = message.get("params") if isinstance(message.get("params"), dict) else {}
    return _is_asked(candidate, params) and _takes_context(candidate, params.get("name"))


def _read(body: bytes) -> dict[str, Any]:
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) and isinstance(found.get("method"), str) else {}


def _is_asked(candidate: Candidate, params: dict[str, Any]) -> bool:
    meta = params.get("_meta")
    return SESSION_HEADER in candidate.headers or (
        isinstance(meta, dict) and any(key in meta for key in _ASKED_META)
    )


def _takes_context(candidate: Candidate, name: Any) -> bool:
    definition = candidate.endpoint.tools.get(name) if isinstance(name, str) else None
    # A name that is not on the endpoint's own list may be `code`, whose calls report progress.
    return definition is None or bool(definition.arguments.context)
