"""The Django views: one body for servers without an event loop, one for those with."""

import logging
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from asgiref.sync import async_to_sync, sync_to_async
from django.contrib.auth.decorators import login_not_required
from django.core.exceptions import PermissionDenied, SuspiciousOperation
from django.core.signals import got_request_exception
from django.db import connections, transaction
from django.http import HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.views.decorators.csrf import csrf_exempt

from mcp_server.calls.running import RequestThread, in_transaction
from mcp_server.protocol.admission import Candidate, identify, inspect
from mcp_server.protocol.replies import EVENT_STREAM, INTERNAL_ERROR, Reply, refusal

if TYPE_CHECKING:
    from mcp_server.protocol.streams import Stream

logger = logging.getLogger("mcp_server")

View = Callable[..., Any]


def synchronous(request: HttpRequest, endpoint: str = "default", **captured: Any) -> HttpResponseBase:
    """Answer one request under WSGI; sync tools run on the thread that Django gave the request."""
    try:
        found = inspect(request, endpoint)
        return respond(found if isinstance(found, Reply) else async_to_sync(_serve)(found, live=False))
    except Exception as error:  # noqa: BLE001 - reported, and answered in JSON whatever it is (contract P08)
        return respond(_report(request, error))


async def asynchronous(request: HttpRequest, endpoint: str = "default", **captured: Any) -> HttpResponseBase:
    """Answer one request under ASGI; a client that leaves cancels the handler."""
    try:
        found = inspect(request, endpoint)
        answer = found if isinstance(found, Reply) else await _serve(found, live=True)
        if not isinstance(answer, Reply):
            # A stream may stay open for long; what the request used of the database must not wait with it.
            await sync_to_async(_release_connections)()
        return respond(answer)
    except Exception as error:  # noqa: BLE001 - as above
        return respond(_report(request, error))


async def _serve(candidate: Candidate, *, live: bool) -> "Reply | Stream":
    # Here, since `manage.py check` imports this module and should not have to load the SDK (contract Q08).
    from mcp_server.protocol import engine
    from mcp_server.protocol.exchange import Exchange
    from mcp_server.protocol.reading import read

    runner = RequestThread()
    seen: list[bool] = []

    def look_around(function: Callable[..., Any], *args: Any) -> Any:
        # On a hop that is made anyway.
        seen.append(in_transaction())
        return function(*args)

    principal = await identify(candidate, partial(runner.sync, look_around))
    if isinstance(principal, Reply):
        return principal
    exchange = Exchange(
        request=candidate.request,
        headers=candidate.headers,
        body=candidate.body,
        principal=principal,
        endpoint=candidate.endpoint,
        runner=runner,
        in_transaction=seen[0] if seen else await runner.sync(in_transaction),
    )
    incoming = read(exchange)
    return incoming if isinstance(incoming, Reply) else await engine.serve(incoming, live=live)


def _release_connections() -> None:
    for connection in connections.all(initialized_only=True):
        if not connection.in_atomic_block:
            connection.close()


def respond(answer: "Reply | Stream") -> HttpResponseBase:
    """Return a reply or a stream as Django's response."""
    if not isinstance(answer, Reply):
        return StreamingHttpResponse(answer, content_type=EVENT_STREAM, headers=dict(answer.headers))
    response = HttpResponse(
        answer.body, status=answer.status, content_type=answer.content_type, headers=dict(answer.headers)
    )
    if answer.content_type is None:
        del response.headers["Content-Type"]
    return response


def _report(request: HttpRequest, error: Exception) -> Reply:
    if isinstance(error, PermissionDenied):
        return refusal(403, "You may not use this endpoint.")
    if isinstance(error, SuspiciousOperation):
        logger.warning("Refused a suspicious request: %s", error)
        return refusal(400, "The request was refused.")
    logger.error("An MCP request failed", exc_info=error)
    got_request_exception.send(sender=None, request=request)
    return refusal(500, "The server failed to answer; its log says why.", code=INTERNAL_ERROR)


def exempted(view: View) -> View:
    """Return the view, free of what would break it: CSRF tokens, a login redirect, a transaction on any database."""
    for alias in connections:
        view = transaction.non_atomic_requests(using=alias)(view)
    return login_not_required(csrf_exempt(view))
