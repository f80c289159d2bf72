"""The same endpoint for a local client, over standard input and output (contract P10).

The SDK drives the pipe; what its handlers need of a request, which over HTTP the door makes, is made here for each.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import mcp_types
from mcp_types import CLIENT_CAPABILITIES_META_KEY
from mcp_types.methods import MONOLITH_NOTIFICATIONS, MONOLITH_REQUESTS
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from mcp_server.calls.caller import Caller, enter_as
from mcp_server.protocol.callers import client_info
from mcp_server.protocol.channel import ClientChannel, find_level
from mcp_server.protocol.exchange import Exchange, Incoming
from mcp_server.protocol.kernel import (
    CallNext,
    CallOptions,
    Connection,
    HandlerResult,
    ServerMessageMetadata,
    ServerRequestContext,
    ServerSession,
    TransportContext,
    progress_token_from_params,
    stdio_server,
)
from mcp_server.protocol.outbound import Outbound, Outbox
from mcp_server.protocol.questions import Questions, RoundQuestions, StreamQuestions
from mcp_server.protocol.servers import build_server
from mcp_server.protocol.serving import Serving

Context = ServerRequestContext[Any, Any]

_ANSWERS: Mapping[str, Any] = {
    "elicitation/create": mcp_types.ElicitResult,
    "sampling/createMessage": mcp_types.CreateMessageResult,
    "roots/list": mcp_types.ListRootsResult,
}


@dataclass(kw_only=True)
class PipeOutbound(Outbound):
    """What a request may send over the pipe, through the SDK's session."""

    pipe: ServerSession

    async def send_raw_request(
        self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None
    ) -> dict[str, Any]:
        """Return the client's answer."""
        question: Any = MONOLITH_REQUESTS[method].model_validate({"method": method, "params": params or {}})
        about = ServerMessageMetadata(related_request_id=self.request_id)
        answer = await self.pipe.send_request(question, _ANSWERS[method], metadata=about)
        dumped: dict[str, Any] = answer.model_dump(by_alias=True, mode="json", exclude_none=True)
        return dumped

    async def notify(
        self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None
    ) -> None:
        """Send a notification that belongs to this request."""
        news: Any = MONOLITH_NOTIFICATIONS[method].model_validate({"method": method, "params": params or {}})
        await self.pipe.send_notification(news, related_request_id=self.request_id)


async def serve(user: Any, endpoint_name: str) -> None:
    """Serve one client until it closes standard input.

    Args:
        user: a Django user, or None for an anonymous one.
        endpoint_name: of the endpoint.

    Raises:
        UnknownEndpoint: when there is none of that name.
        PermissionDenied: when a middleware of the endpoint lets nobody through.
    """
    caller = await enter_as(user, endpoint_name)
    server = build_server(caller.endpoint)
    # Outermost, so that all that comes after finds its request.
    server.middleware.insert(0, partial(_give_request, caller))
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


async def _give_request(caller: Caller, context: Context, call_next: CallNext) -> HandlerResult:
    if context.request_id is None:
        return await call_next(context)
    return await call_next(replace(context, request=_serving(caller, context)))


def _serving(caller: Caller, context: Context) -> Serving:
    assert context.request_id is not None  # noqa: S101 - told apart before
    version, params = context.protocol_version, dict(context.params or {})
    modern = version in MODERN_PROTOCOL_VERSIONS
    declared = context.session.client_params
    connection = Connection.from_envelope(
        version, declared.client_info.model_dump() if declared is not None else None, {}
    )
    incoming = Incoming(
        exchange=Exchange(
            request=caller.principal.request,
            headers={},
            body=b"",
            principal=caller.principal,
            endpoint=caller.endpoint,
            runner=caller.runner,
        ),
        id=context.request_id,
        method=context.method,
        params=params,
        version=version,
        modern=modern,
        connection=connection,
    )
    outbound = PipeOutbound(
        transport=TransportContext(kind="stdio", can_send_request=not modern),
        request_id=context.request_id,
        message_metadata=ServerMessageMetadata(),
        progress_token=progress_token_from_params(params),
        # There is always a stream: the pipe.
        outbox=Outbox(live=False),
        can_send_request=not modern,
        pipe=context.session,
    )
    questions = _questions(context, outbound, modern=modern)
    channel = ClientChannel(outbound, questions, partial(find_level, incoming))
    own = replace(caller, loop=asyncio.get_running_loop(), channel=channel, client=client_info(connection))
    return Serving(incoming=incoming, caller=own, questions=questions, outbound=outbound)


def _questions(context: Context, outbound: Outbound, *, modern: bool) -> Questions:
    if modern:
        meta = (context.params or {}).get("_meta") or {}
        return RoundQuestions(meta.get(CLIENT_CAPABILITIES_META_KEY) or {})
    declared = context.session.client_capabilities
    known = declared.model_dump(by_alias=True, exclude_none=True) if declared is not None else {}
    return StreamQuestions(outbound, known)
