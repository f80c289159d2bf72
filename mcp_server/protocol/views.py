"""The Django views: one body for servers without an event loop, one for those with."""

import asyncio
import logging
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from asgiref.sync import async_to_sync, sync_to_async
from django.contrib.auth.decorators import login_not_required
from django.core.exceptions import PermissionDenied, SuspiciousOperation
from django.core.signals import got_request_exception
from django.db import InterfaceError, OperationalError, connections, transaction
from django.http import HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.views.decorators.csrf import csrf_exempt

from mcp_server.access.principal import Principal
from mcp_server.calls.running import PooledThreads, RequestThread
from mcp_server.calls.transactions import release_connections
from mcp_server.models.connections import is_in_transaction
from mcp_server.protocol.admission import Candidate, find_endpoint, identify, inspect
from mcp_server.protocol.connecting import connect_page, wants_page
from mcp_server.protocol.foresight import holds_its_thread, may_speak
from mcp_server.protocol.replies import EVENT_STREAM, INTERNAL_ERROR, Reply, refusal

if TYPE_CHECKING:
    from mcp_server.calls.running import Runner
    from mcp_server.definitions.endpoint import Endpoint
    from mcp_server.protocol.portal import SyncStream
    from mcp_server.protocol.short import Plain
    from mcp_server.protocol.streams import Stream

logger = logging.getLogger("mcp_server")

View = Callable[..., Any]


def synchronous(request: HttpRequest, endpoint: str = "default", **captured: Any) -> HttpResponseBase:
    """Answer one request under WSGI; sync tools run on the thread that Django gave the request.

    Where a handler may speak on the way, the request moves to the background loop and its tools to our own threads:
    under WSGI the request's thread cannot both run a handler and send what it says.
    """
    try:
        if (page := _page(request, endpoint)) is not None:
            return page
        quick = _answer_here(request, endpoint)
        if quick is not None:
            return respond(quick)
        found = inspect(request, endpoint)
        if isinstance(found, Reply):
            return respond(found)
        if may_speak(found) and not is_in_transaction():
            return _stream_here(found)
        return respond(async_to_sync(_serve)(found, live=False))
    except Exception as error:  # noqa: BLE001 - reported, and answered in JSON whatever it is (contract P08)
        return respond(_report(request, error))


def _page(request: HttpRequest, name: str) -> HttpResponseBase | None:
    """Return the page for a person who visits; where there is no endpoint they are told so like everybody."""
    if not wants_page(request):
        return None
    endpoint = find_endpoint(name)
    return None if isinstance(endpoint, Reply) else connect_page(request, endpoint.definition)


def _answer_here(request: HttpRequest, name: str) -> Reply | None:
    """Return the answer to a plain request, made on this thread without any event loop; None for all else."""
    from mcp_server.protocol import portal, shortcut

    found = _recognise(request, name)
    if found is None or isinstance(found, Reply):
        return found
    return shortcut.answer_on_thread(*found, request, portal.loop())


async def _answer_there(request: HttpRequest, name: str) -> Reply | None:
    """Return the answer to a plain request, in one hop to the request's thread and back where it needs that."""
    from mcp_server.protocol import shortcut

    found = _recognise(request, name)
    if found is None or isinstance(found, Reply):
        return found
    return await sync_to_async(shortcut.answer_on_thread)(*found, request, asyncio.get_running_loop())


def _recognise(request: HttpRequest, name: str) -> "Reply | tuple[Plain, Endpoint] | None":
    """Return a plain request with its endpoint, or its answer where nobody must be asked for it; None for all else."""
    from mcp_server.protocol import shortcut

    endpoint = find_endpoint(name)
    plain = None if isinstance(endpoint, Reply) else shortcut.recognise_in_view(endpoint, request)
    if plain is None or isinstance(endpoint, Reply):
        return None
    return shortcut.answer_openly(plain, endpoint, request) or (plain, endpoint)


def _stream_here(candidate: Candidate) -> HttpResponseBase:
    from mcp_server.protocol import portal

    # On this thread, since its middleware may have prepared what authentication needs.
    principal = async_to_sync(identify)(candidate, RequestThread().sync)
    if isinstance(principal, Reply):
        return respond(principal)
    release_connections()
    runner = PooledThreads(candidate.request)
    answer = portal.submit(_answer(candidate, principal, runner, live=True)).result()
    return respond(answer if isinstance(answer, Reply) else portal.SyncStream(answer))


async def asynchronous(request: HttpRequest, endpoint: str = "default", **captured: Any) -> HttpResponseBase:
    """Answer one request under ASGI; a client that leaves cancels the handler."""
    try:
        if (page := _page(request, endpoint)) is not None:
            return page
        quick = await _answer_there(request, endpoint)
        if quick is not None:
            return respond(quick)
        found = inspect(request, endpoint)
        answer = found if isinstance(found, Reply) else await _serve(found, live=True)
        if not isinstance(answer, Reply):
            _release_soon()
        return respond(answer)
    except Exception as error:  # noqa: BLE001 - as above
        return respond(_report(request, error))


# The event loop keeps only weak references to tasks.
_releasing: set[asyncio.Task[None]] = set()


def _release_soon() -> None:
    """Close the request's connections when its thread is next free: they must not wait with a stream for long.

    Not awaited, since a sync handler that asks its user holds the thread until the stream brings the answer.
    """
    task = asyncio.create_task(sync_to_async(release_connections)())
    _releasing.add(task)
    task.add_done_callback(_releasing.discard)


async def _serve(candidate: Candidate, *, live: bool) -> "Reply | Stream":
    runner = RequestThread()
    seen: list[bool] = []

    def look_around(function: Callable[..., Any], *args: Any) -> Any:
        # On a hop that is made anyway.
        seen.append(is_in_transaction())
        return function(*args)

    principal = await identify(candidate, partial(runner.sync, look_around))
    if isinstance(principal, Reply):
        return principal
    within = seen[0] if seen else await runner.sync(is_in_transaction)
    if live and holds_its_thread(candidate):
        # Middleware needs the request's thread to begin the response, which a speaking handler must not wait for.
        if not within:
            return await _answer(candidate, principal, PooledThreads(candidate.request), live=True)
        live = False
    return await _answer(candidate, principal, runner, live=live, within=within)


async def _answer(
    candidate: Candidate, principal: Principal, runner: "Runner", *, live: bool, within: bool = False
) -> "Reply | Stream":
    # Here, since `manage.py check` imports this module and should not have to load the SDK (contract Q08).
    from mcp_server.protocol import engine, reading, standing
    from mcp_server.protocol.exchange import Exchange

    exchange = Exchange(
        request=candidate.request,
        headers=candidate.headers,
        body=candidate.body,
        principal=principal,
        endpoint=candidate.endpoint,
        runner=runner,
        in_transaction=within,
    )
    if candidate.request.method == "DELETE":
        return await reading.end_session(exchange)
    if candidate.request.method == "GET":
        return await standing.stand(exchange, live=live)
    incoming = await reading.read(exchange)
    return incoming if isinstance(incoming, Reply) else await engine.serve(incoming, live=live)


def respond(answer: "Reply | Stream | SyncStream") -> HttpResponseBase:
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
    if isinstance(error, OperationalError | InterfaceError):
        # The database is away, locked or has no connection left: nothing was done, and a load balancer may know better.
        message = "The server cannot reach its database now. Try again in a few seconds."
        return refusal(503, message, code=INTERNAL_ERROR, headers={"Retry-After": "5"})
    return refusal(500, "The server failed to answer; its log says why.", code=INTERNAL_ERROR)


def exempted(view: View) -> View:
    """Return the view, free of what would break it: CSRF tokens, a login redirect, a transaction on any database."""
    for alias in connections:
        view = transaction.non_atomic_requests(using=alias)(view)
    return login_not_required(csrf_exempt(view))
