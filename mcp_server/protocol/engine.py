"""The engine that all doors share: one request in, one reply or stream out, in both eras."""

import asyncio
from collections.abc import Mapping
from functools import partial
from typing import Any

from mcp_types import CLIENT_CAPABILITIES_META_KEY

from mcp_server.protocol import callers, cancellation, resumption, sessions
from mcp_server.protocol.channel import ClientChannel, find_level
from mcp_server.protocol.exchange import Incoming
from mcp_server.protocol.kernel import (
    ERROR_CODE_HTTP_STATUS,
    ServerMessageMetadata,
    TransportContext,
    modern_error_data,
    progress_token_from_params,
    serve_one,
)
from mcp_server.protocol.outbound import Outbound, Outbox
from mcp_server.protocol.parameters import check_parameter_headers
from mcp_server.protocol.questions import Questions, RoundQuestions, StreamQuestions
from mcp_server.protocol.replies import (
    EVENT_STREAM,
    INTERNAL_ERROR,
    INVALID_REQUEST,
    STREAM_HEADERS,
    Reply,
    encode,
    event,
    failure,
)
from mcp_server.protocol.servers import server_for
from mcp_server.protocol.serving import Serving
from mcp_server.protocol.streams import SILENCE, Stream, cancel, next_frame

LISTEN = "subscriptions/listen"


async def serve(incoming: Incoming, *, live: bool) -> Reply | Stream:
    """Run one request and return its answer.

    Args:
        incoming: a request from `reading.read`.
        live: whether the door can send a response in pieces while the handler runs. If not, what a handler sends on
            the way is kept and delivered with the answer, and clients of 2025 cannot be asked.
    """
    if incoming.method == LISTEN and not (live and incoming.exchange.takes_stream):
        return _no_stream(incoming)
    outbox = Outbox(live=live) if incoming.exchange.takes_stream else None
    outbound = _outbound(incoming, outbox, live=live)
    if outbox is None or not live:
        message = await _answer(incoming, outbound)
        return _whole(incoming, message, outbox.collected() if outbox else [])
    return await _follow(incoming, outbound, outbox)


def _no_stream(incoming: Incoming) -> Reply:
    text = f"The answer to {LISTEN} is a stream. Send Accept: application/json, text/event-stream."
    return Reply(status=406, body=encode(failure(INVALID_REQUEST, text, request_id=incoming.id)))


async def _follow(incoming: Incoming, outbound: Outbound, outbox: Outbox) -> Reply | Stream:
    """Wait for the handler's first sign: its answer alone is a plain reply, anything before it opens a stream."""
    messages: list[dict[str, Any]] = []

    async def run() -> bytes:
        messages.append(await _answer(incoming, outbound))
        return event(messages[0])

    task = asyncio.create_task(run())
    try:
        first = await next_frame(outbox, task, SILENCE)
    except asyncio.CancelledError:
        cancel(task)
        raise
    if first is None:
        task.result()
        return _whole(incoming, messages[0], [])
    return Stream(resumption.priming(incoming) + first, outbox, task)


def _outbound(incoming: Incoming, outbox: Outbox | None, *, live: bool) -> Outbound:
    exchange, session = incoming.exchange, incoming.session
    can_ask = live and outbox is not None and session is not None
    metadata = ServerMessageMetadata(can_send_request=can_ask)
    outbound = Outbound(
        transport=TransportContext(
            kind="streamable-http", can_send_request=can_ask, headers=exchange.headers
        ),
        request_id=incoming.id,
        message_metadata=metadata,
        progress_token=progress_token_from_params(incoming.params),
        outbox=outbox,
        session=session,
        live=live,
        can_send_request=can_ask,
    )
    questions = _questions(incoming, outbound)
    channel = ClientChannel(outbound, questions, partial(find_level, incoming))
    caller = callers.build(exchange, incoming.connection, session, channel)
    metadata.request_context = Serving(
        incoming=incoming, caller=caller, questions=questions, outbound=outbound
    )
    return outbound


def _questions(incoming: Incoming, outbound: Outbound) -> Questions:
    if not incoming.modern:
        return StreamQuestions(outbound, incoming.session.capabilities if incoming.session else {})
    capabilities = (incoming.params or {})["_meta"][CLIENT_CAPABILITIES_META_KEY]
    return RoundQuestions(capabilities if isinstance(capabilities, Mapping) else {})


async def _answer(incoming: Incoming, outbound: Outbound) -> dict[str, Any]:
    """Return the JSON-RPC message that answers a request; a failure of the kernel or a handler is one too."""
    with cancellation.cancellable(incoming.session, incoming.id, live=outbound.live) as running:
        try:
            await check_parameter_headers(incoming, outbound)
            result = await serve_one(
                server_for(incoming.exchange.endpoint),
                outbound,
                incoming.method,
                incoming.params,
                connection=incoming.connection,
                lifespan_state=None,
            )
        except asyncio.CancelledError as error:
            if running.absorb():
                return failure(INTERNAL_ERROR, "The request was cancelled.", request_id=incoming.id)
            if running.task.cancelling():
                raise
            # A handler that waited for something cancelled has failed, but the client is still there.
            return _failed(incoming, RuntimeError("The handler was cancelled from within.", error))
        except Exception as error:  # noqa: BLE001 - logged by `modern_error_data`, and worded so that nothing leaks
            return _failed(incoming, error)
        finally:
            outbound.can_send_request = False
    return {"jsonrpc": "2.0", "id": incoming.id, "result": result}


def _failed(incoming: Incoming, error: Exception) -> dict[str, Any]:
    data = modern_error_data(error)
    return failure(data.code, data.message, data.data, incoming.id)


def _whole(incoming: Incoming, message: Mapping[str, Any], frames: list[bytes]) -> Reply:
    if frames:
        body = b"".join([resumption.priming(incoming), *frames, event(message)])
        return Reply(status=200, body=body, content_type=EVENT_STREAM, headers=STREAM_HEADERS)
    code = message["error"]["code"] if "error" in message else None
    # Before 2026 an answered request is a success of HTTP, whatever JSON-RPC says about it.
    status = ERROR_CODE_HTTP_STATUS.get(code, 200) if code is not None and incoming.modern else 200
    return Reply(status=status, body=encode(message), headers=_new_session(incoming, message))


def _new_session(incoming: Incoming, message: Mapping[str, Any]) -> Mapping[str, str]:
    if incoming.method != "initialize" or incoming.modern or "error" in message:
        return {}
    started = sessions.issue(incoming.params or {}, incoming.version, incoming.exchange.principal)
    return {"Mcp-Session-Id": started}
