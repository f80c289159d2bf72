"""From the bytes of a body to one JSON-RPC message. Every byte is hostile (contract P08)."""

import json
from dataclasses import dataclass
from typing import Any, Literal, Never

from mcp_server.protocol.replies import INVALID_REQUEST, PARSE_ERROR

MAX_DEPTH = 100
"""How deep arrays and objects may nest: deeper than any real argument, far from Python's own recursion limit."""


class Malformed(Exception):
    """The body is not one JSON-RPC message. The message is meant for the client's author."""

    def __init__(self, code: int, message: str, id: Any = None) -> None:  # noqa: A002 - JSON-RPC's word
        super().__init__(message)
        self.code = code
        self.message = message
        self.id = id


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One JSON-RPC message. `raw` is the decoded object, `id` is None for a notification."""

    kind: Literal["request", "notification", "response"]
    raw: dict[str, Any]
    id: int | str | None = None
    method: str = ""
    params: dict[str, Any] | None = None


def read(body: bytes) -> Message:
    """Return the message in `body`.

    Raises:
        Malformed: when it is not JSON, or not exactly one JSON-RPC 2.0 message.
    """
    decoded = _decode(body)
    if isinstance(decoded, list):
        raise Malformed(
            INVALID_REQUEST, "JSON-RPC batches are not supported; send each message in a POST of its own."
        )
    if not isinstance(decoded, dict):
        raise Malformed(INVALID_REQUEST, "The body must be one JSON-RPC message: a JSON object.")
    identifier = _identifier(decoded)
    if decoded.get("jsonrpc") != "2.0":
        raise Malformed(INVALID_REQUEST, 'The member "jsonrpc" must be "2.0".', identifier)
    if "method" not in decoded and ("result" in decoded or "error" in decoded):
        return Message(kind="response", raw=decoded, id=identifier)
    if not isinstance(decoded.get("method"), str):
        raise Malformed(INVALID_REQUEST, 'The member "method" must be a string.', identifier)
    params = decoded.get("params")
    if params is not None and not isinstance(params, dict):
        raise Malformed(INVALID_REQUEST, 'The member "params" must be an object.', identifier)
    kind: Literal["request", "notification"] = "request" if "id" in decoded else "notification"
    return Message(kind=kind, raw=decoded, id=identifier, method=decoded["method"], params=params)


def _decode(body: bytes) -> Any:
    if not body.strip():
        raise Malformed(
            PARSE_ERROR, "The body is empty; send one JSON-RPC message, with a Content-Length header."
        )
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError:
        raise Malformed(PARSE_ERROR, "The body is not UTF-8.") from None
    try:
        decoded = json.loads(text, parse_constant=_refuse_constant)
    except RecursionError:
        raise _too_deep() from None
    except ValueError as error:
        # Beside bad syntax: integers of thousands of digits, which Python refuses to read.
        where = (
            f" (line {error.lineno}, column {error.colno})" if isinstance(error, json.JSONDecodeError) else ""
        )
        raise Malformed(PARSE_ERROR, f"The body is not valid JSON{where}.") from None
    if text.count("[") + text.count("{") > MAX_DEPTH and _is_deeper(decoded, MAX_DEPTH):
        raise _too_deep()
    return decoded


def _refuse_constant(name: str) -> Never:
    raise ValueError(name)


def _too_deep() -> Malformed:
    return Malformed(PARSE_ERROR, f"The body nests deeper than {MAX_DEPTH} levels.")


def _is_deeper(value: Any, limit: int) -> bool:
    level = [value]
    for _ in range(limit + 1):
        level = [child for item in level if isinstance(item, dict | list) for child in _children(item)]
        if not level:
            return False
    return True


def _children(item: dict[str, Any] | list[Any]) -> Any:
    return item.values() if isinstance(item, dict) else item


def _identifier(decoded: dict[str, Any]) -> int | str | None:
    identifier = decoded.get("id")
    if isinstance(identifier, str) or (isinstance(identifier, int) and not isinstance(identifier, bool)):
        return identifier
    if "id" in decoded and "method" in decoded:
        raise Malformed(INVALID_REQUEST, 'The member "id" must be a string or an integer.')
    return None
