"""Who gets in: everything that is decided about an HTTP request before its body is read as MCP.

Loads nothing of the SDK, since `manage.py check` loads the views.
"""

import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest
from django.http.request import UnreadablePostError
from django.http.response import HttpResponseBase

from mcp_server.access.origins import check_origin
from mcp_server.access.principal import Principal
from mcp_server.access.refusal import Refusal
from mcp_server.calls.middleware import admit
from mcp_server.definitions.endpoint import Endpoint
from mcp_server.definitions.registry import UnknownEndpoint, registry
from mcp_server.protocol.replies import EVENT_STREAM, INTERNAL_ERROR, JSON, Reply, refusal

logger = logging.getLogger("mcp_server")

ALLOWED_METHODS = "POST, DELETE"
SESSION_HEADER = "mcp-session-id"
LARGEST_BODY = 8 * 1024 * 1024
"""The bound in bytes where a project lifts Django's own, `DATA_UPLOAD_MAX_MEMORY_SIZE`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A request that is well-formed HTTP for an endpoint; headers are by lower-case name.

    Its method is POST, DELETE for the end of a session, or GET for its stream.
    """

    request: HttpRequest
    headers: Mapping[str, str]
    body: bytes
    endpoint: Endpoint


def inspect(request: HttpRequest, name: str) -> Candidate | Reply:
    """Return the request to endpoint `name` with its body, or the reply that refuses it. Touches no database."""
    endpoint = find_endpoint(name)
    if isinstance(endpoint, Reply):
        return endpoint
    # Some servers leave the white space around a value that HTTP does not count (RFC 9110, 5.5).
    headers = {key.lower(): value.strip(" \t") for key, value in request.headers.items()}
    refused = _check_origin(request) or _check_method(request, headers)
    if refused is not None:
        return refused
    body = b"" if request.method != "POST" else _check_media(headers) or read_body(request)
    if isinstance(body, Reply):
        return body
    return Candidate(request=request, headers=headers, body=body, endpoint=endpoint)


async def identify(candidate: Candidate, run_sync: Callable[..., Awaitable[Any]]) -> Principal | Reply:
    """Return who calls, or the reply where nobody is let in, or where a middleware of the endpoint answers.

    Args:
        candidate: from `inspect`.
        run_sync: runs a plain function on the thread that may touch the database.
    """
    found = await admit(candidate.request, candidate.endpoint.definition, run_sync)
    if isinstance(found, HttpResponseBase):
        return _pass_on(found)
    return refuse(found) if isinstance(found, Refusal) else found


def find_endpoint(name: str) -> Endpoint | Reply:
    """Return an endpoint, or the reply where there is none, or where a module of tools is broken (contract T20)."""
    if broken := registry.broken:
        logger.error("MCP is not served: %s", " ".join(f"{item.message} ({item.where})" for item in broken))
        return refusal(
            503,
            "This server cannot serve its tools: a module of theirs cannot be imported. Its log says which.",
            code=INTERNAL_ERROR,
        )
    try:
        return registry.endpoint(name)
    except UnknownEndpoint:
        return refusal(404, "There is no MCP endpoint here.")


def _pass_on(response: HttpResponseBase) -> Reply:
    """Return the reply that a middleware's response is; a stream is read to its end."""
    body = b"".join(map(response.make_bytes, response))
    headers = {key: value for key, value in response.items() if key != "Content-Type"}
    return Reply(
        status=response.status_code,
        body=body,
        content_type=response.headers.get("Content-Type"),
        headers=headers,
    )


def refuse(found: Refusal) -> Reply:
    """Return the reply for a refusal of the access room."""
    return refusal(found.status, found.message, headers=found.headers)


def read_body(request: HttpRequest) -> bytes | Reply:
    """Return the body, or the reply where it is too large or the client stopped sending."""
    limit: int = settings.DATA_UPLOAD_MAX_MEMORY_SIZE or LARGEST_BODY
    length = request.META.get("CONTENT_LENGTH") or ""
    try:
        if length.isdecimal() and int(length) > limit:
            return too_large(limit)
        # Without a length only a bounded read is safe; Django then refuses `request.body`, which nobody here needs.
        body = request.body if length else request.read(limit + 1)
    except RequestDataTooBig:
        return too_large(limit)
    except UnreadablePostError:
        return refusal(400, "The body ended before it was complete.")
    return too_large(limit) if len(body) > limit else body


def too_large(limit: int) -> Reply:
    """Return the refusal of a body of more than `limit` bytes."""
    return refusal(413, f"The body is larger than {limit} bytes.")


def _check_origin(request: HttpRequest) -> Reply | None:
    found = check_origin(request)
    return None if found is None else refuse(found)


def _check_method(request: HttpRequest, headers: Mapping[str, str]) -> Reply | None:
    named = SESSION_HEADER in headers
    takes_stream = EVENT_STREAM in headers.get("accept", "")
    if request.method == "POST" or (named and request.method == "DELETE"):
        return None
    if named and request.method == "GET" and takes_stream:
        return None
    return no_such_method(request.method, takes_stream=takes_stream)


def no_such_method(method: str | None, *, takes_stream: bool) -> Reply:
    """Return the refusal of an HTTP method, with what to do instead."""
    hint = "Send MCP messages with POST (transport: Streamable HTTP)."
    if method == "GET" and takes_stream:
        hint = f"There is no stream to GET here. {hint} A client set to SSE must be set to Streamable HTTP."
    return refusal(405, hint, headers={"Allow": ALLOWED_METHODS})


def _check_media(headers: Mapping[str, str]) -> Reply | None:
    sent = headers.get("content-type", "").partition(";")[0].strip().lower()
    if sent != JSON:
        return refusal(415, f"The body must be sent as Content-Type: {JSON}.")
    kinds = {item.partition(";")[0].strip().lower() for item in headers.get("accept", "*/*").split(",")}
    if kinds & {JSON, "*/*", "application/*", ""}:
        return None
    return refusal(
        406,
        f"Send Accept: {JSON}, {EVENT_STREAM} (transport: Streamable HTTP). Answers are JSON, or a stream where a "
        "handler reports progress.",
    )
