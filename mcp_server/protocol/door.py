"""The ASGI door: MCP ahead of Django's own handler and its middleware, for throughput (design 5.7).

It authenticates, checks hosts and origins, and sends `request_started` and `request_finished` like Django's handler. It
runs none of the project's middleware: where a tenant, a language or a maintenance page comes from there, use the view.
"""

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable, MutableMapping
from functools import partial
from typing import Any

from asgiref.sync import sync_to_async
from django.conf import settings
from django.core.cache import close_caches
from django.core.handlers.base import reset_urlconf
from django.core.signals import request_finished, request_started
from django.db import close_old_connections, reset_queries
from django.dispatch import Signal

from mcp_server.access import recent
from mcp_server.access.principal import Principal
from mcp_server.calls.running import PooledThreads
from mcp_server.calls.threads import pool
from mcp_server.definitions.endpoint import Endpoint
from mcp_server.policy import rows
from mcp_server.protocol import hosts, requests, short, shortcut
from mcp_server.protocol.admission import (
    LARGEST_BODY,
    SESSION_HEADER,
    Candidate,
    find_endpoint,
    identify,
    inspect,
    too_large,
)
from mcp_server.protocol.companion import Companion
from mcp_server.protocol.exchange import Exchange
from mcp_server.protocol.lending import Loan
from mcp_server.protocol.replies import EVENT_STREAM, Reply, refusal
from mcp_server.protocol.streams import Stream

logger = logging.getLogger("mcp_server")

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

_NAME = re.compile(r"[A-Za-z0-9_-]+")
_SESSION = b"mcp-session-id"


class Door:
    """An ASGI application that answers MCP itself and passes everything else on.

    Args:
        application: Django's, or Channels' router; it still serves the connect page and everything under other paths.
        prefix: that of `mcp_urls`.
    """

    def __init__(self, application: Application, prefix: str = "mcp") -> None:
        self._application = application
        self._path = f"/{prefix.strip('/')}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection."""
        if scope["type"] == "lifespan":
            return await _live(receive, send)
        name = self._endpoint_of(scope) if scope["type"] == "http" else None
        if name is None:
            return await self._application(scope, receive, send)
        return await _serve(scope, receive, send, name)

    def _endpoint_of(self, scope: Scope) -> str | None:
        """Return the endpoint that a request is for, None for what is Django's."""
        path: str = scope["path"]
        if not path.startswith(self._path) and not scope.get("root_path"):
            return None
        path = path.removeprefix(scope.get("root_path", ""))
        rest = path.removeprefix(self._path)
        if len(rest) == len(path) or scope["method"] not in {"POST", "DELETE", "GET"}:
            return None
        if scope["method"] == "GET" and not any(key == _SESSION for key, _ in scope["headers"]):
            return None
        if rest in {"", "/"}:
            return "default"
        name = rest[1:].removesuffix("/")
        return name if rest[0] == "/" and _NAME.fullmatch(name) else None


async def _live(receive: Receive, send: Send) -> None:
    """Answer the server's lifespan: load what the first client would wait for, and store what is queued at the end."""
    from mcp_server.calls import journal

    while True:
        message = await receive()
        if message["type"] == "lifespan.startup":
            await asyncio.to_thread(_warm_up)
            await send({"type": "lifespan.startup.complete"})
        elif message["type"] == "lifespan.shutdown":
            await asyncio.to_thread(journal.flush)
            await send({"type": "lifespan.shutdown.complete"})
            return


def _warm_up() -> None:
    from mcp_server.definitions.registry import registry
    from mcp_server.protocol.servers import server_for

    for endpoint in registry.endpoints():
        server_for(endpoint)


async def _serve(scope: Scope, receive: Receive, send: Send, name: str) -> None:
    body = await _read(receive)
    if body is None:
        return
    companion = Companion(receive, send)
    try:
        with Loan() as loan:
            if _is_heard(request_started):
                request_started.send(sender=Door, scope=scope)
            try:
                answer = await _answer(requests.DoorRequest(scope, body), name, companion)
                await companion.send(answer)
            finally:
                companion.stop()
                if loan.is_used:
                    # Last in its line: when it has run, so has all else of this request.
                    await sync_to_async(_finish)()
                elif _is_heard(request_finished):
                    _finish()
    except asyncio.CancelledError:
        # Our own cancellation, since the client has left, ends here; the server's goes on.
        if not companion.client_left:
            raise
    except Exception:
        logger.exception("An MCP request failed")
        await companion.send(refusal(500, "The server failed to answer; its log says why."))


def _finish() -> None:
    """Send Django's signal, on the thread whose connections it looks after."""
    request_finished.send(sender=Door)


def _is_heard(signal: Signal) -> bool:
    """Return whether anybody but Django listens, whose own receivers have nothing to clean on the event loop's thread."""
    for receiver in signal.receivers:  # noqa: SIM110 - asked twice a request, where a generator would count
        if receiver[0][0] not in _DJANGOS_OWN:
            return True
    return False


_DJANGOS_OWN = {id(item) for item in (close_old_connections, reset_queries, close_caches, reset_urlconf)}


async def _read(receive: Receive) -> bytes | Reply | None:
    """Return the body, the refusal of one that is too large, or None where the client left."""
    limit = settings.DATA_UPLOAD_MAX_MEMORY_SIZE or LARGEST_BODY
    parts: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return None
        part: bytes = message.get("body", b"")
        size += len(part)
        if size <= limit:
            parts.append(part)
        if not message.get("more_body"):
            break
    return b"".join(parts) if size <= limit else too_large(limit)


async def _answer(request: requests.DoorRequest, name: str, companion: Companion) -> Reply | Stream:
    if isinstance(request.given, Reply):
        return request.given
    endpoint = find_endpoint(name)
    if isinstance(endpoint, Reply):
        return endpoint
    quick = await _answer_quickly(endpoint, request, companion)
    if quick is not None:
        return quick
    found = inspect(request, name)
    if isinstance(found, Reply):
        return found
    return await _ask_kernel(found, companion)


_NOT_PLAIN = frozenset({b"origin", b"cookie", b"x-mcp-tools"})
"""Headers that mean something which only the kernel's way looks at."""

_READ = {name.encode(): name for name in (*short.HEADERS, "host", "authorization", SESSION_HEADER)}


async def _answer_quickly(
    endpoint: Endpoint, request: requests.DoorRequest, companion: Companion
) -> Reply | None:
    """Return the answer to a plain request, or None for what is the kernel's."""
    scope, body = request.scope, request.given
    raw = dict(scope["headers"])
    # A header that stands twice is the kernel's, which refuses it.
    if scope["method"] != "POST" or len(raw) != len(scope["headers"]) or scope["query_string"]:
        return None
    headers = {name: raw[key].decode("latin-1") for key, name in _READ.items() if key in raw}
    if not (_NOT_PLAIN.isdisjoint(raw) and hosts.is_known(headers.get("host", ""))):
        return None
    if not (shortcut.is_plain_endpoint(endpoint) and isinstance(body, bytes)):
        return None
    if rows.is_due(endpoint.name):
        # In time, since all who ask while it is unknown take the longer way.
        _ = pool.submit(partial(rows.renew, endpoint.name))
    plain = short.recognise(endpoint, headers, body)
    principal = plain and recent.recall(request, headers.get("authorization"), endpoint.definition)
    if not plain or not principal:
        return None
    place = shortcut.Place(PooledThreads(request), asyncio.get_running_loop())
    caller = shortcut.enter(plain, endpoint, principal, headers.get(SESSION_HEADER), place)
    if caller is None:
        return None
    if plain.name is not None:
        companion.watch(keeps_alive=EVENT_STREAM in headers.get("accept", ""))
    return await shortcut.answer(plain, caller)


async def _ask_kernel(candidate: Candidate, companion: Companion) -> Reply | Stream:
    from mcp_server.protocol import engine, reading, standing

    runner = PooledThreads(candidate.request)
    principal = await identify(candidate, runner.sync)
    if not isinstance(principal, Principal):
        return principal
    recent.remember(candidate.headers.get("authorization"), candidate.endpoint.definition, principal)
    exchange = Exchange(
        request=candidate.request,
        headers=candidate.headers,
        body=candidate.body,
        principal=principal,
        endpoint=candidate.endpoint,
        runner=runner,
    )
    if candidate.request.method == "DELETE":
        return await reading.end_session(exchange)
    if candidate.request.method == "GET":
        return await standing.stand(exchange, live=True)
    incoming = await reading.read(exchange)
    if isinstance(incoming, Reply):
        return incoming
    companion.watch(keeps_alive=False)
    return await engine.serve(incoming, live=True)
