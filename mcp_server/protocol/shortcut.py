"""Answers plain requests without the kernel: recognised by `short`, framed by `frames`; all else gets None from here."""

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

from django.http import HttpRequest

from mcp_server.access import recent
from mcp_server.access.permission import needs_await
from mcp_server.access.principal import Principal
from mcp_server.calls import tracing
from mcp_server.calls.caller import Caller
from mcp_server.calls.dispatcher import call_tool, visible_tools
from mcp_server.calls.middleware import admit
from mcp_server.calls.running import Runner, ThisThread, drive
from mcp_server.codemode.offering import Called
from mcp_server.conf import options
from mcp_server.definitions.context import ClientInfo
from mcp_server.definitions.endpoint import Endpoint
from mcp_server.definitions.tool import ToolDefinition
from mcp_server.definitions.values import value
from mcp_server.exceptions import UnknownTool
from mcp_server.models.connections import is_in_transaction
from mcp_server.policy.rows import UNKNOWN, remembered_row
from mcp_server.protocol import hosts, sessions, short
from mcp_server.protocol.admission import SESSION_HEADER, read_body
from mcp_server.protocol.frames import frames_for
from mcp_server.protocol.replies import Reply, encode, failure
from mcp_server.protocol.sessions import Session


@dataclass(frozen=True, slots=True)
class _Facts:
    """What is so for an endpoint as long as this process runs.

    Args:
        is_open: whether everybody who is let in sees all tools.
        lists_on_thread: whether no guard is a coroutine, so that one thread can ask them all.
        called_on_thread: the tools that one thread can call, without an event loop.
    """

    is_open: bool
    lists_on_thread: bool
    called_on_thread: frozenset[str]


_facts: WeakKeyDictionary[Endpoint, _Facts] = WeakKeyDictionary()


def _facts_of(endpoint: Endpoint) -> _Facts:
    found = _facts.get(endpoint)
    if found is None:
        guards = [endpoint.definition.guard, *(tool.guard for tool in endpoint.tools.values())]
        found = _facts[endpoint] = _Facts(
            is_open=all(guard is None for guard in guards),
            lists_on_thread=not any(guard is not None and guard.is_async for guard in guards),
            called_on_thread=frozenset(
                tool.name for tool in endpoint.tools.values() if _runs_on_one_thread(tool, endpoint)
            ),
        )
    return found


def _runs_on_one_thread(tool: ToolDefinition, endpoint: Endpoint) -> bool:
    # A deadline of its own is kept by a loop that waits beside the thread; a stale answer is renewed on one.
    return not (
        needs_await(tool, endpoint.definition)
        or tool.is_async
        or tool.arguments.context
        or tool.timeout
        or tool.cache
    )


@value()
class Place:
    """Where the code of a call runs."""

    runner: Runner
    loop: asyncio.AbstractEventLoop
    in_transaction: bool = False


def is_plain_endpoint(endpoint: Endpoint) -> bool:
    """Return whether an endpoint's requests can be plain: no code mode, no pages, no authentication but ours.

    Without code mode an endpoint offers its tools as they are, so that the dispatcher can be asked directly.
    """
    definition = endpoint.definition
    # The kernel makes the spans of requests.
    if tracing.is_on():
        return False
    # Staff may have changed the policy; a row that is not known any more is for the kernel's way to read again.
    row = remembered_row(definition.name)
    policy = definition.policy if row is None or not row.code_policy else row.code_policy
    if row is UNKNOWN or policy != "off" or options().page_size is not None:
        return False
    return recent.is_plain(definition)


def enter(
    plain: short.Plain, endpoint: Endpoint, principal: Principal, session_id: str | None, place: Place
) -> Caller | None:
    """Return the caller of a plain request, or None where its session must be looked at closely."""
    session = None
    if session_id is not None and not plain.modern:
        session = sessions.recall(session_id, principal)
        if session is None or session.version != plain.version:
            return None
    return Caller(
        principal=principal,
        endpoint=endpoint,
        runner=place.runner,
        loop=place.loop,
        in_transaction=place.in_transaction,
        client=_client(plain, session),
        session=session.nonce if session is not None else None,
    )


def _client(plain: short.Plain, session: Session | None) -> ClientInfo:
    info: Any = session.client if session is not None else plain.client
    if type(info) is not dict and not isinstance(info, Mapping):
        return ClientInfo(protocol=plain.version)
    return ClientInfo(
        name=str(info.get("name", "")), version=str(info.get("version", "")), protocol=plain.version
    )


async def answer(plain: short.Plain, caller: Caller) -> Reply:
    """Return the answer to a plain request."""
    return await (_list(plain, caller) if plain.name is None else _call(plain, plain.name, caller))


async def _list(plain: short.Plain, caller: Caller) -> Reply:
    frames = frames_for(caller.endpoint, plain.version)
    visible: Iterable[ToolDefinition]
    if _facts_of(caller.endpoint).is_open and not caller.principal.is_stale:
        visible = caller.endpoint.tools.values()
    else:
        visible = await visible_tools(caller)
    return Reply(status=200, body=frames.list_tools(plain.id, visible))


async def _call(plain: short.Plain, name: str, caller: Caller) -> Reply:
    from mcp_server.protocol.tools import render_call, unknown_tool

    frames = frames_for(caller.endpoint, plain.version)
    try:
        outcome = await call_tool(caller, name, plain.arguments)
    except UnknownTool:
        error = unknown_tool(name)
        body = encode(failure(error.code, error.message, request_id=plain.id))
        return Reply(status=400 if frames.modern else 200, body=body)
    called = Called(outcome, caller.endpoint.tools[name])
    rendered = render_call(called, caller.endpoint, structured=frames.structured)
    return Reply(status=200, body=frames.call_tool(plain.id, rendered))


_NOT_PLAIN = frozenset({"HTTP_ORIGIN", "HTTP_X_MCP_TOOLS"})
_SESSION = "HTTP_" + SESSION_HEADER.upper().replace("-", "_")
_SHOWN = frozenset({"HTTP_AUTHORIZATION", _SESSION})
_FROM_META = {
    name.upper().replace("-", "_")
    if name == "content-type"
    else "HTTP_" + name.upper().replace("-", "_"): name
    for name in short.HEADERS
}


def recognise_in_view(endpoint: Endpoint, request: HttpRequest) -> short.Plain | None:
    """Return a plain request that came to a view and can be answered on one thread, without an event loop."""
    meta = request.META
    if request.method != "POST" or meta.get("QUERY_STRING") or not _NOT_PLAIN.isdisjoint(meta):
        return None
    if not is_plain_endpoint(endpoint) or not hosts.is_known(meta.get("HTTP_HOST", "")):
        return None
    body = read_body(request)
    headers = {name: meta[key] for key, name in _FROM_META.items() if key in meta}
    plain = short.recognise(endpoint, headers, body) if isinstance(body, bytes) else None
    if plain is None:
        return None
    facts = _facts_of(endpoint)
    fits = facts.lists_on_thread if plain.name is None else plain.name in facts.called_on_thread
    return plain if fits else None


def answer_openly(plain: short.Plain, endpoint: Endpoint, request: HttpRequest) -> Reply | None:
    """Return the list of an endpoint that shows everybody the same, without asking who asks.

    None where that is not so, or where a credential or a session was sent, which may have to be refused.
    """
    if plain.name is not None or endpoint.definition.login_required or not _facts_of(endpoint).is_open:
        return None
    if not _SHOWN.isdisjoint(request.META):
        return None
    return Reply(
        status=200, body=frames_for(endpoint, plain.version).list_tools(plain.id, endpoint.tools.values())
    )


def answer_on_thread(
    plain: short.Plain, endpoint: Endpoint, request: HttpRequest, loop: asyncio.AbstractEventLoop
) -> Reply | None:
    """Return the answer, made on this very thread from the look-up of the user to the last byte.

    Args:
        plain: from `recognise_in_view`.
        endpoint: which is asked.
        request: Django's.
        loop: one of this process; nothing waits for it.

    Returns:
        None where the caller is not let in, or has a session to look at: the kernel's way finds out.
    """
    if is_in_transaction():
        # What a test or an admin action changed and may take back must be read, not remembered.
        return None
    runner = ThisThread(loop)
    principal = drive(admit(request, endpoint.definition, runner.sync))
    if not isinstance(principal, Principal):
        return None
    session_id = request.META.get(_SESSION)
    caller = enter(plain, endpoint, principal, session_id, Place(runner, loop))
    if caller is None:
        return None
    answered: Reply = drive(answer(plain, caller))
    return answered
