"""From an exchange to a request that may be served, or to the reply that says why not."""

from collections.abc import Mapping
from typing import Any

from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, LATEST_HANDSHAKE_VERSION

from mcp_server.protocol import messages
from mcp_server.protocol.exchange import Exchange, Incoming
from mcp_server.protocol.kernel import (
    ERROR_CODE_HTTP_STATUS,
    Connection,
    InboundLadderRejection,
    classify_inbound_request,
    unsupported_protocol_version_rejection,
)
from mcp_server.protocol.replies import INVALID_REQUEST, Reply, encode, failure

VERSION_HEADER = "mcp-protocol-version"
UNSAID_VERSION = "2025-03-26"
"""What a request without a version header speaks, says the specification."""

ACCEPTED = Reply(status=202, content_type=None)


def read(exchange: Exchange) -> Incoming | Reply:
    """Return the request in an exchange, or the reply where there is nothing to run.

    The era follows the version header, as in the SDK: none or a revision with a handshake is served as of 2025,
    anything else as of 2026, which words the refusal of unknown revisions.
    """
    header = exchange.headers.get(VERSION_HEADER)
    modern = header is not None and header not in HANDSHAKE_PROTOCOL_VERSIONS
    try:
        message = messages.read(exchange.body)
    except messages.Malformed as problem:
        return error_reply(problem.code, problem.message, request_id=problem.id)
    if message.kind == "response":
        return _take_response(modern=modern)
    if message.kind == "notification" or message.id is None:
        return _take_notification(header if modern else None)
    return _read_modern(exchange, message) if modern else _read_legacy(exchange, message, header)


def error_reply(
    code: int,
    message: str,
    data: Any = None,
    *,
    request_id: int | str | None = None,
    status: int | None = None,
) -> Reply:
    """Return a JSON-RPC error with the HTTP status that belongs to its code."""
    return Reply(
        status=status or ERROR_CODE_HTTP_STATUS.get(code, 400),
        body=encode(failure(code, message, data, request_id)),
    )


def rejection_reply(rejection: InboundLadderRejection, request_id: int | str | None = None) -> Reply:
    """Return the reply for a request that the SDK's checks rejected."""
    return error_reply(rejection.code, rejection.message, rejection.data, request_id=request_id)


def _take_response(*, modern: bool) -> Reply:
    if modern:
        return error_reply(
            INVALID_REQUEST, "Responses are not accepted: this revision sends no requests to clients."
        )
    return ACCEPTED


def _take_notification(modern_version: str | None) -> Reply:
    if modern_version is not None and (rejection := unsupported_protocol_version_rejection(modern_version)):
        return rejection_reply(rejection)
    return ACCEPTED


def _read_modern(exchange: Exchange, message: messages.Message) -> Incoming | Reply:
    verdict = classify_inbound_request(message.raw, headers=exchange.headers)
    if isinstance(verdict, InboundLadderRejection):
        return rejection_reply(verdict, message.id)
    connection = Connection.from_envelope(
        verdict.protocol_version, verdict.client_info, verdict.client_capabilities
    )
    return _incoming(exchange, message, connection, modern=True)


def _read_legacy(exchange: Exchange, message: messages.Message, header: str | None) -> Incoming:
    params: Mapping[str, Any] = message.params or {}
    if message.method != "initialize":
        return _incoming(
            exchange, message, Connection.from_envelope(header or UNSAID_VERSION, None, None), modern=False
        )
    asked = params.get("protocolVersion")
    version = asked if asked in HANDSHAKE_PROTOCOL_VERSIONS else LATEST_HANDSHAKE_VERSION
    connection = Connection.from_envelope(version, params.get("clientInfo"), params.get("capabilities"))
    return _incoming(exchange, message, connection, modern=False)


def _incoming(
    exchange: Exchange, message: messages.Message, connection: Connection, *, modern: bool
) -> Incoming:
    assert message.id is not None  # noqa: S101 - notifications were answered before
    return Incoming(
        exchange=exchange,
        id=message.id,
        method=message.method,
        params=message.params,
        version=connection.protocol_version,
        modern=modern,
        connection=connection,
    )
