"""The stream that a 2025 session may GET: changed lists, and updates of the resources that it subscribed to.

Only where an event loop serves: under WSGI each such stream, and every client of 2025 asks for one, would hold a thread.
"""

import asyncio
import json

import mcp_types
from django.core.cache import caches

from mcp_server import bus
from mcp_server.calls import documents
from mcp_server.calls.running import Runner
from mcp_server.conf import options
from mcp_server.protocol import callers, resources, resumption
from mcp_server.protocol.admission import no_such_method
from mcp_server.protocol.exchange import Exchange
from mcp_server.protocol.kernel import Connection, MCPError
from mcp_server.protocol.listening import MAX_AGE, Watch, counted
from mcp_server.protocol.outbound import Outbox
from mcp_server.protocol.reading import error_reply, find_session
from mcp_server.protocol.replies import INVALID_REQUEST, KEEP_ALIVE, Reply, event
from mcp_server.protocol.serving import Context, serving
from mcp_server.protocol.sessions import MAX_AGE as SESSION_AGE
from mcp_server.protocol.sessions import Session
from mcp_server.protocol.streams import Stream

MOST_URIS = 256
_EVERYTHING = mcp_types.SubscriptionFilter(
    tools_list_changed=True, prompts_list_changed=True, resources_list_changed=True
)


async def stand(exchange: Exchange, *, live: bool) -> Reply | Stream:
    """Return the session's stream, or what becomes of one that broke.

    Args:
        exchange: a GET.
        live: whether the door can send a response in pieces.
    """
    session = await find_session(exchange)
    if session is None:
        return error_reply(INVALID_REQUEST, "A stream belongs to a session; send its Mcp-Session-Id.")
    if isinstance(session, Reply):
        return session
    if (broken := exchange.headers.get(resumption.HEADER)) is not None:
        return resumption.resume(broken)
    if not live:
        return no_such_method("GET", takes_stream=True)
    outbox = Outbox(live=True)
    task = asyncio.create_task(_tell(exchange, session, outbox))
    return Stream(KEEP_ALIVE, outbox, task)


async def _tell(exchange: Exchange, session: Session, outbox: Outbox) -> bytes:
    """Send what changes until the client leaves or the stream is old; the last frame says nothing."""
    connection = Connection.from_envelope(session.version, session.client, session.capabilities)
    caller = callers.build(exchange, connection, session)
    try:
        with counted(caller):
            watch = await Watch.start(caller, _EVERYTHING)
            async with asyncio.timeout(MAX_AGE):
                while not watch.is_over:
                    watch.uris = frozenset(await subscribed(session, exchange.runner))
                    await _tell_of(watch, session, outbox)
    except (TimeoutError, MCPError):
        # Old, or one too many: the client may come again.
        pass
    return KEEP_ALIVE


async def _tell_of(watch: Watch, session: Session, outbox: Outbox) -> None:
    """Send what changes until the session subscribes to something else."""
    topics = [bus.LISTS, topic(session), *map(bus.resource_topic, sorted(watch.uris))]
    try:
        async with bus.subscribe(*topics) as subscription:
            while not watch.is_over:
                about, message = await subscription.get()
                if about == topic(session):
                    return
                for method, params in await watch.consider(about, message):
                    await outbox.put(event({"jsonrpc": "2.0", "method": method, "params": params}))
    except bus.Overflow:
        return


def topic(session: Session) -> str:
    """Return the topic on which a session's stream hears of its subscriptions."""
    return f"session {session.nonce}"


async def subscribed(session: Session, runner: Runner) -> list[str]:
    """Return the URIs that a session subscribed to. Kept in a cache: where they are lost, the client reads when it must."""
    # Not the cache's own `aget`, whose thread would be the stream's for as long as it stands.
    kept = await runner.sync(_recall, session)
    return json.loads(kept) if kept else []


def _recall(session: Session) -> str | None:
    found: str | None = caches[options().cache].get(_key(session))
    return found


def _store(session: Session, uris: list[str]) -> None:
    caches[options().cache].set(_key(session), json.dumps(uris), SESSION_AGE.total_seconds())


async def subscribe(context: Context, params: mcp_types.SubscribeRequestParams) -> mcp_types.EmptyResult:
    """Add a resource to what the session's stream tells of.

    Raises:
        MCPError: without a session, or when there is no such resource for this caller.
    """
    uri, session = str(params.uri), _session(context)
    caller = serving(context).caller
    if not await documents.may_read(caller, uri):
        raise resources.not_found(uri, modern=False)
    uris = await subscribed(session, caller.runner)
    if uri not in uris:
        await _keep(session, [*uris, uri][-MOST_URIS:], caller.runner)
    return mcp_types.EmptyResult()


async def unsubscribe(context: Context, params: mcp_types.UnsubscribeRequestParams) -> mcp_types.EmptyResult:
    """Take a resource off again.

    Raises:
        MCPError: without a session.
    """
    uri, session = str(params.uri), _session(context)
    runner = serving(context).caller.runner
    left = [item for item in await subscribed(session, runner) if item != uri]
    await _keep(session, left, runner)
    return mcp_types.EmptyResult()


def _session(context: Context) -> Session:
    session = serving(context).incoming.session
    if session is None:
        raise MCPError(INVALID_REQUEST, "Subscriptions need a session; send its Mcp-Session-Id.")
    return session


async def _keep(session: Session, uris: list[str], runner: Runner) -> None:
    await runner.sync(_store, session, uris)
    await bus.publish(topic(session), {})


def _key(session: Session) -> str:
    return f"mcp:subscriptions:{session.nonce}"
