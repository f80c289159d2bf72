"""Messages between the processes of a site: over the project's channel layer, or within this process where there is none.

A layer delivers at most once and keeps nothing, so only news travels here; what must not be lost is in the database.
"""

import asyncio
import hashlib
import logging
import threading
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any
from weakref import WeakKeyDictionary

from channels.layers import InMemoryChannelLayer, channel_layers
from django.conf import settings

from mcp_server.conf import options

logger = logging.getLogger("mcp_server.bus")

BACKLOG = 1024
"""How many messages may wait for one subscriber; one that is further behind has missed something."""
_TYPE = "mcp.message"

Message = Mapping[str, Any]


class Overflow(Exception):
    """The subscriber did not keep up, and messages were dropped."""


class Subscription:
    """Messages on some topics, oldest first. Made by `subscribe`, used on its event loop."""

    def __init__(self, topics: tuple[str, ...]) -> None:
        self.topics = topics
        self._loop = asyncio.get_running_loop()
        self._queue: asyncio.Queue[tuple[str, Message]] = asyncio.Queue(BACKLOG)
        self._missed = False

    async def get(self) -> tuple[str, Message]:
        """Return the next topic and message.

        Raises:
            Overflow: when messages had to be dropped.
        """
        if self._missed:
            raise Overflow
        return await self._queue.get()

    def offer(self, topic: str, message: Message) -> None:
        """Add a message, from any thread."""
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._put, topic, message)

    def _put(self, topic: str, message: Message) -> None:
        try:
            self._queue.put_nowait((topic, message))
        except asyncio.QueueFull:
            self._missed = True


class _Hub:
    """The subscribers of this process, on all of its event loops."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._subscribers: dict[str, set[Subscription]] = {}

    def add(self, subscription: Subscription) -> None:
        with self._lock:
            for topic in subscription.topics:
                self._subscribers.setdefault(topic, set()).add(subscription)

    def remove(self, subscription: Subscription) -> None:
        with self._lock:
            for topic in subscription.topics:
                waiting = self._subscribers.get(topic, set())
                waiting.discard(subscription)
                if not waiting:
                    self._subscribers.pop(topic, None)

    def subscribers(self, topic: str) -> list[Subscription]:
        with self._lock:
            return list(self._subscribers.get(topic, ()))


_hub = _Hub()


class _Relay:
    """Carries what the layer brings to the subscribers on one event loop: one channel and one task for all of them."""

    def __init__(self, layer: Any) -> None:
        self._layer = layer
        self._topics: Counter[str] = Counter()
        self._lock = asyncio.Lock()
        self._name: str | None = None
        self._task: asyncio.Task[None] | None = None

    async def join(self, topics: tuple[str, ...]) -> None:
        async with self._lock:
            if self._name is None or self._task is None or self._task.done():
                self._name = await self._layer.new_channel("mcp")
                self._task = asyncio.create_task(self._run(self._name))
                for topic in self._topics:
                    await self._layer.group_add(_group(topic), self._name)
            for topic in topics:
                self._topics[topic] += 1
                if self._topics[topic] == 1:
                    await self._layer.group_add(_group(topic), self._name)

    async def leave(self, topics: tuple[str, ...]) -> None:
        async with self._lock:
            for topic in topics:
                self._topics[topic] -= 1
                if self._topics[topic] <= 0:
                    del self._topics[topic]
                    if self._name is not None:
                        await self._layer.group_discard(_group(topic), self._name)

    async def _rejoin(self, name: str) -> None:
        async with self._lock:
            for topic in self._topics:
                await self._layer.group_add(_group(topic), name)

    async def _run(self, name: str) -> None:
        loop = asyncio.get_running_loop()
        interrupted = False
        while True:
            try:
                if interrupted:
                    # A server that was restarted may have forgotten who wanted to hear what.
                    await self._rejoin(name)
                    interrupted = False
                received = await self._layer.receive(name)
            except Exception:
                # The layer's server is away: subscribers hear nothing until it is back, and the log says so.
                logger.exception("The channel layer cannot be read; trying again")
                interrupted = True
                await asyncio.sleep(1)
                continue
            for subscription in _hub.subscribers(received["topic"]):
                if subscription._loop is loop:
                    subscription._put(received["topic"], received["message"])


_relays: WeakKeyDictionary[asyncio.AbstractEventLoop, _Relay] = WeakKeyDictionary()


def _layer() -> Any:
    """Return the layer that other processes hear too, or None."""
    alias = options().channel_layer
    if alias not in getattr(settings, "CHANNEL_LAYERS", {}):
        return None
    layer = channel_layers[alias]
    # Its queues belong to one event loop, ours reach all of them.
    return None if isinstance(layer, InMemoryChannelLayer) else layer


def is_shared() -> bool:
    """Return whether other processes of the site receive what this one publishes."""
    return _layer() is not None


def has_listeners(topic: str) -> bool:
    """Return whether somebody may hear a message on the topic: a subscriber here, or another process."""
    return is_shared() or bool(_hub.subscribers(topic))


def _group(topic: str) -> str:
    # Layers allow few characters and a hundred of them.
    return f"mcp.{hashlib.sha256(topic.encode()).hexdigest()[:40]}"


async def publish(topic: str, message: Message) -> int | None:
    """Send a message to all subscribers of a topic, in all processes.

    Args:
        topic: any text.
        message: plain values that the layer can carry; nothing secret.

    Returns:
        How many subscribers of this process there were, or None where a layer carries it to others.
    """
    layer = _layer()
    if layer is not None:
        await layer.group_send(_group(topic), {"type": _TYPE, "topic": topic, "message": dict(message)})
        return None
    return publish_here(topic, message)


def publish_here(topic: str, message: Message) -> int:
    """Send a message to the subscribers of this process alone, and return how many there were."""
    found = _hub.subscribers(topic)
    for subscription in found:
        subscription.offer(topic, message)
    return len(found)


@asynccontextmanager
async def subscribe(*topics: str) -> AsyncIterator[Subscription]:
    """Receive the messages on some topics within the block; those published before it are not seen."""
    subscription = Subscription(topics)
    layer = _layer()
    relay = None
    if layer is not None:
        loop = asyncio.get_running_loop()
        relay = _relays.get(loop) or _relays.setdefault(loop, _Relay(layer))
    _hub.add(subscription)
    try:
        if relay is not None:
            await relay.join(topics)
        try:
            yield subscription
        finally:
            if relay is not None:
                await asyncio.shield(relay.leave(topics))
    finally:
        _hub.remove(subscription)
