"""`subscriptions/listen`: a stream of what changed for one caller (contract P06)."""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import mcp_types

from mcp_server import bus
from mcp_server.calls import documents
from mcp_server.calls.caller import Caller
from mcp_server.calls.transactions import release_connections
from mcp_server.codemode import offering
from mcp_server.protocol import lending
from mcp_server.protocol.kernel import SUBSCRIPTION_ID_META_KEY, MCPError
from mcp_server.protocol.replies import INTERNAL_ERROR
from mcp_server.protocol.serving import Context, serving

MAX_AGE = 3600.0
"""Seconds after which a stream ends by itself; clients listen again, and a restarting server is not held up for ever."""
MOST_PER_CALLER = 16
MOST = 1024
MOST_URIS = 256

_open: Counter[str] = Counter()

LIST_CHANGED = {
    "tools": "notifications/tools/list_changed",
    "prompts": "notifications/prompts/list_changed",
    "resources": "notifications/resources/list_changed",
}


async def listen(
    context: Context, params: mcp_types.SubscriptionsListenRequestParams
) -> mcp_types.SubscriptionsListenResult:
    """Send what changes until the client leaves, loses its rights, or the stream is old; then return.

    Raises:
        MCPError: when the caller, or this process, has too many streams already.
    """
    found = serving(context)
    outbound = found.outbound
    meta = {SUBSCRIPTION_ID_META_KEY: context.request_id}
    with counted(found.caller):
        watch = await Watch.start(found.caller, params.notifications)
        async with bus.subscribe(bus.LISTS, *map(bus.resource_topic, sorted(watch.uris))) as subscription:
            # First of all, says the specification; and only now, so that nothing is missed after it.
            honored = {"notifications": watch.honored(), "_meta": meta}
            await outbound.notify("notifications/subscriptions/acknowledged", honored)
            deadline = asyncio.get_running_loop().time() + MAX_AGE
            try:
                async with asyncio.timeout_at(deadline):
                    while True:
                        topic, message = await subscription.get()
                        for method, about in await watch.consider(topic, message):
                            await outbound.notify(method, {**about, "_meta": meta})
                        if watch.is_over:
                            break
            except (TimeoutError, bus.Overflow):
                # Old, or missed something: the client listens again and reads afresh.
                pass
    return mcp_types.SubscriptionsListenResult.model_validate({"_meta": meta})


@contextmanager
def counted(caller: Caller) -> Iterator[None]:
    """Count a stream within the block.

    Raises:
        MCPError: when the caller, or this process, has too many already.
    """
    principal = caller.principal
    identity = principal.identity
    if not principal.user.is_authenticated:
        # People who are not signed in are told apart by their address.
        identity = f"{identity} {principal.request.META.get('REMOTE_ADDR', '')}"
    if _open[identity] >= MOST_PER_CALLER or _open.total() >= MOST:
        raise MCPError(INTERNAL_ERROR, "Too many open streams. Close one, or try again later.")
    _open[identity] += 1
    try:
        yield
    finally:
        _open[identity] -= 1
        if not _open[identity]:
            del _open[identity]


class Watch:
    """What one stream was told, to tell it only of differences."""

    def __init__(self, caller: Caller, wanted: mcp_types.SubscriptionFilter) -> None:
        self._caller = caller
        self._identity = caller.principal.identity
        self._user = str(caller.principal.user_id or "")
        flags = {
            "tools": wanted.tools_list_changed,
            "prompts": wanted.prompts_list_changed,
            "resources": wanted.resources_list_changed,
        }
        self._kinds = [kind for kind, flag in flags.items() if flag]
        self._seen: dict[str, Any] = {}
        self.uris: frozenset[str] = frozenset()
        self.is_over = False

    @classmethod
    async def start(cls, caller: Caller, wanted: mcp_types.SubscriptionFilter) -> "Watch":
        """Return a watch that knows what the caller sees now; resources that are not theirs are left out."""
        watch = cls(caller, wanted)
        uris = [str(uri) for uri in (wanted.resource_subscriptions or [])][:MOST_URIS]
        watch.uris = frozenset([uri for uri in uris if await documents.may_read(caller, uri)])
        watch._seen = await watch._look()
        await watch._rest()
        return watch

    def honored(self) -> dict[str, Any]:
        """Return the part of the wishes that is fulfilled."""
        found: dict[str, Any] = {f"{kind}ListChanged": True for kind in self._kinds}
        if self.uris:
            found["resourceSubscriptions"] = sorted(self.uris)
        return found

    async def consider(self, topic: str, message: bus.Message) -> list[tuple[str, dict[str, Any]]]:
        """Return the notifications that a message calls for: method and params."""
        if topic == bus.LISTS:
            return await self._compare() if message["user"] in {"", self._user} else []
        readable = await documents.may_read(self._caller, message["uri"])
        await self._rest()
        return [("notifications/resources/updated", {"uri": message["uri"]})] if readable else []

    async def _compare(self) -> list[tuple[str, dict[str, Any]]]:
        # What was read a moment ago is what has just been changed.
        self._caller.principal.read_at = float("-inf")
        await self._caller.runner.sync(self._caller.principal.refresh)
        self.is_over = self._caller.principal.identity != self._identity
        before, self._seen = self._seen, await self._look()
        await self._rest()
        changed = [kind for kind in self._kinds if before[kind] != self._seen[kind]]
        return [(LIST_CHANGED[kind], {}) for kind in changed]

    async def _look(self) -> dict[str, Any]:
        looks: dict[str, Callable[[], Any]] = {
            "tools": self._look_at_tools,
            "prompts": self._look_at_prompts,
            "resources": self._look_at_resources,
        }
        return {kind: await looks[kind]() for kind in self._kinds}

    async def _look_at_tools(self) -> list[tuple[str, str]]:
        # With code mode the list stays and a description changes.
        return [(item.name, item.description) for item in await offering.offered_tools(self._caller)]

    async def _look_at_prompts(self) -> list[str]:
        return [item.name for item in await documents.visible_prompts(self._caller)]

    async def _look_at_resources(self) -> list[str]:
        found = [
            *await documents.visible_resources(self._caller, templates=False),
            *await documents.visible_resources(self._caller, templates=True),
        ]
        return [item.uri.text for item in found]

    async def _rest(self) -> None:
        """Hold no connection while nothing happens, and no thread but one that middleware prepared."""
        if self._caller.in_transaction:
            return
        await self._caller.runner.sync(release_connections)
        await lending.rest()
