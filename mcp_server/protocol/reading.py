"""From an exchange to a request that may be served, or to the reply that says why not."""

import json
from collections.abc import Mapping
from typing import Any

from mcp_types import JSONRPCError, JSONRPCResponse
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, LATEST_HANDSHAKE_VERSION
from pydantic import ValidationError

from mcp_server import bus
from mcp_server.protocol import cancellation, messages, sessions
from mcp_server.protocol.admission import SESSION_HEADER
from mcp_server.protocol.exchange import Exchange, Incoming
from mcp_server.protocol.kernel import (
    ERROR_CODE_HTTP_STATUS,
    Connection,
    InboundLadderRejection,
    classify_inbound_request,
    unsupported_protocol_version_rejection,
)
from mcp_server.protocol.messages import Message
from mcp_server.protocol.outbound import reply_topic
from mcp_server.protocol.replies import INVALID_REQUEST, Reply, encode, failure
from mcp_server.protocol.sessions import Session

VERSION_HEADER = "mcp-protocol-version"
UNSAID_VERSION = "2025-03-26"
"""What a request without a version header speaks, says the specification."""

ACCEPTED = Reply(status=202, content_type=None)

_NOT_HERE = (
    "Nobody waits for this reply here: the question is over, or another process of the server asked it and "
    "there is no shared channel layer (setting CHANNEL_LAYERS) to pass the reply on."
)
_GONE = (
    "Nobody waits for this reply: the question is over, or the process of the server that asked it has ended, and its "
    "call with it. The session goes on; send the request again."
)


async def read(exchange: Exchange) -> Incoming | Reply:
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
    if header is not None and modern:
        return _read_modern(exchange, message, header)
    session = None if message.method == "initialize" else await find_session(exchange)
    if isinstance(session, Reply):
        return session
    return await _read_legacy(exchange, message, session, header or UNSAID_VERSION)


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


async def find_session(exchange: Exchange) -> Session | Reply | None:
    """Return the 2025 session that the request names, None where it names none, or the reply where it is not alive."""
    named = exchange.headers.get(SESSION_HEADER)
    if named is None:
        return None
    session = sessions.read(named, exchange.principal)
    if session is not None and not sessions.seems_alive(session):
        ended = await exchange.runner.sync(sessions.is_ended, session)
        session = None if ended else session
    if session is None:
        return error_reply(
            INVALID_REQUEST, "There is no such session. Send initialize to start one.", status=404
        )
    return session


async def end_session(exchange: Exchange) -> Reply:
    """End the session that the request names."""
    session = await find_session(exchange)
    if isinstance(session, Reply):
        return session
    if session is not None:
        await exchange.runner.sync(sessions.end, session)
    return Reply(status=204, content_type=None)


def _read_modern(exchange: Exchange, message: Message, header: str) -> Incoming | Reply:
    if message.kind == "response":
        return error_reply(
            INVALID_REQUEST, "Responses are not accepted: this revision sends no requests to clients."
        )
    if message.kind == "notification":
        rejection = unsupported_protocol_version_rejection(header)
        return ACCEPTED if rejection is None else _rejected(rejection, None)
    verdict = classify_inbound_request(message.raw, headers=exchange.headers)
    if isinstance(verdict, InboundLadderRejection):
        return _rejected(verdict, message.id)
    connection = Connection.from_envelope(
        verdict.protocol_version, verdict.client_info, verdict.client_capabilities
    )
    return _incoming(exchange, message, connection, modern=True)


def _rejected(rejection: InboundLadderRejection, request_id: int | str | None) -> Reply:
    return error_reply(rejection.code, rejection.message, rejection.data, request_id=request_id)


async def _read_legacy(
    exchange: Exchange, message: Message, session: Session | None, version: str
) -> Incoming | Reply:
    if message.kind == "response":
        return ACCEPTED if session is None else await _pass_reply(session, message)
    if message.kind == "notification":
        if session is not None and message.method == "notifications/cancelled":
            await cancellation.cancel(session, (message.params or {}).get("requestId"))
        return ACCEPTED
    if session is not None:
        connection = Connection.from_envelope(session.version, session.client, session.capabilities)
    elif message.method == "initialize":
        connection = _shake_hands(message.params or {})
    else:
        connection = Connection.from_envelope(version, None, None)
    return _incoming(exchange, message, connection, session=session)


def _shake_hands(params: Mapping[str, Any]) -> Connection:
    asked = params.get("protocolVersion")
    version = asked if asked in HANDSHAKE_PROTOCOL_VERSIONS else LATEST_HANDSHAKE_VERSION
    return Connection.from_envelope(version, params.get("clientInfo"), params.get("capabilities"))


async def _pass_reply(session: Session, message: Message) -> Reply:
    """Pass the client's reply to the process that asked."""
    if not _is_reply(message):
        return error_reply(INVALID_REQUEST, 'A response has an "id", and a "result" object or an "error".')
    if await bus.deliver(reply_topic(session, str(message.id)), {"reply": json.dumps(message.raw)}):
        return ACCEPTED
    return error_reply(INVALID_REQUEST, _GONE if bus.is_shared() else _NOT_HERE, status=409)


def _is_reply(message: Message) -> bool:
    if message.id is None:
        return False
    try:
        (JSONRPCError if "error" in message.raw else JSONRPCResponse).model_validate(message.raw)
    except ValidationError:
        return False
    return True


def _incoming(
    exchange: Exchange,
    message: Message,
    connection: Connection,
    *,
    modern: bool = False,
    session: Session | None = None,
) -> Incoming:
    assert message.id is not None  # noqa: S101 - only requests come here
    return Incoming(
        exchange=exchange,
        id=message.id,
        method=message.method,
        params=message.params,
        version=connection.protocol_version,
        modern=modern,
        connection=connection,
        session=session,
    )
