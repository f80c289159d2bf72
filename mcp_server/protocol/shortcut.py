"""Answers plain requests at the ASGI door without the kernel: recognised by `short`, framed by `frames`."""

import asyncio
from collections.abc import Mapping
from typing import Any
from weakref import WeakKeyDictionary

from django.conf import settings
from django.core.signals import setting_changed
from django.http.request import split_domain_port, validate_host

from mcp_server.access import recent
from mcp_server.calls.caller import Caller
from mcp_server.calls.running import PooledThreads
from mcp_server.codemode import offering
from mcp_server.conf import options
from mcp_server.definitions.context import ClientInfo
from mcp_server.definitions.endpoint import Endpoint
from mcp_server.exceptions import UnknownTool
from mcp_server.protocol import sessions, short
from mcp_server.protocol.admission import SESSION_HEADER
from mcp_server.protocol.companion import Companion
from mcp_server.protocol.frames import frames_for
from mcp_server.protocol.replies import EVENT_STREAM, Reply, encode, failure
from mcp_server.protocol.requests import DoorRequest
from mcp_server.protocol.sessions import Session

_KEPT_OUT = frozenset({"origin", "cookie", "x-mcp-tools"})
"""Headers that mean something which only the kernel's way looks at."""

_open_endpoints: WeakKeyDictionary[Endpoint, bool] = WeakKeyDictionary()
_hosts: set[str] = set()
_MOST_HOSTS = 1024


async def answer(endpoint: Endpoint, request: DoorRequest, companion: Companion) -> Reply | None:
    """Return the answer to a plain request, or None for what is the kernel's."""
    scope = request.scope
    raw = scope["headers"]
    headers = {key.decode("latin-1"): value.decode("latin-1") for key, value in raw}
    # A header that stands twice is the kernel's, which refuses it.
    if scope["method"] != "POST" or len(headers) != len(raw) or scope["query_string"]:
        return None
    if (
        not _KEPT_OUT.isdisjoint(headers)
        or not _is_known_host(headers.get("host", ""))
        or not _is_plain(endpoint)
    ):
        return None
    plain = short.recognise(endpoint, headers, request.given if isinstance(request.given, bytes) else b"")
    if plain is None:
        return None
    principal = recent.recall(request, headers.get("authorization"), endpoint.definition)
    if principal is None:
        return None
    named = None if plain.modern else headers.get(SESSION_HEADER)
    session = sessions.recall(named, principal) if named is not None else None
    if named is not None and (session is None or session.version != plain.version):
        return None
    caller = Caller(
        principal=principal,
        endpoint=endpoint,
        runner=PooledThreads(request),
        loop=asyncio.get_running_loop(),
        client=_client(plain, session),
        session=session.nonce if session is not None else None,
    )
    return await (_list(plain, caller) if plain.name is None else _call(plain, caller, companion, headers))


def _is_plain(endpoint: Endpoint) -> bool:
    definition = endpoint.definition
    return definition.policy == "off" and options().page_size is None and recent.is_plain(definition)


def _client(plain: short.Plain, session: Session | None) -> ClientInfo:
    info = session.client if session is not None else plain.client
    if not isinstance(info, Mapping):
        return ClientInfo(protocol=plain.version)
    return ClientInfo(
        name=str(info.get("name", "")), version=str(info.get("version", "")), protocol=plain.version
    )


async def _list(plain: short.Plain, caller: Caller) -> Reply:
    frames = frames_for(caller.endpoint, plain.version)
    if _is_open(caller.endpoint) and not caller.principal.is_stale:
        visible: Any = caller.endpoint.tools.values()
    else:
        visible = await offering.offered_tools(caller)
    return Reply(status=200, body=frames.list_tools(plain.id, visible))


def _is_open(endpoint: Endpoint) -> bool:
    """Return whether everybody who is let in sees all tools."""
    found = _open_endpoints.get(endpoint)
    if found is None:
        guards = [endpoint.definition.guard, *(tool.guard for tool in endpoint.tools.values())]
        found = _open_endpoints[endpoint] = all(guard is None for guard in guards)
    return found


async def _call(
    plain: short.Plain, caller: Caller, companion: Companion, headers: Mapping[str, str]
) -> Reply:
    from mcp_server.protocol.tools import render_call, unknown_tool

    assert plain.name is not None  # noqa: S101 - told apart before
    frames = frames_for(caller.endpoint, plain.version)
    companion.watch(keeps_alive=EVENT_STREAM in headers.get("accept", ""))
    try:
        called = await offering.call_offered(caller, plain.name, plain.arguments)
    except UnknownTool:
        error = unknown_tool(plain.name)
        body = encode(failure(error.code, error.message, request_id=plain.id))
        return Reply(status=400 if frames.modern else 200, body=body)
    rendered = render_call(called, caller.endpoint, structured=frames.structured)
    return Reply(status=200, body=frames.call_tool(plain.id, rendered))


def _is_known_host(host: str) -> bool:
    if host in _hosts:
        return True
    allowed = settings.ALLOWED_HOSTS or ([".localhost", "127.0.0.1", "[::1]"] if settings.DEBUG else [])
    domain, _ = split_domain_port(host)
    if settings.USE_X_FORWARDED_HOST or not (domain and validate_host(domain, allowed)):
        return False
    if len(_hosts) < _MOST_HOSTS:
        _hosts.add(host)
    return True


def _forget(*, setting: str, **kwargs: Any) -> None:
    if setting in {"ALLOWED_HOSTS", "DEBUG", "USE_X_FORWARDED_HOST"}:
        _hosts.clear()


setting_changed.connect(_forget, dispatch_uid="mcp_server.protocol.shortcut")
