"""What changed, for clients that subscribed: resources, and what a user may see."""

import logging
from typing import Any

from asgiref.sync import async_to_sync
from django.db import transaction

from mcp_server.bus.channel import has_listeners, publish

logger = logging.getLogger("mcp_server.bus")

LISTS = "lists"
"""The topic of changed rights. A message's `user` is a primary key as text, or "" where many users may be concerned."""


def resource_topic(uri: str) -> str:
    """Return the topic of updates of one resource."""
    return f"resource {uri}"


def notify_resource_updated(uri: str) -> None:
    """Tell subscribers that a resource changed, once the transaction commits."""
    announce(resource_topic(uri), {"uri": uri})


def announce_rights(user_id: Any = "") -> None:
    """Tell open streams that a user, or everybody, may see other things than before, once the transaction commits."""
    announce(LISTS, {"user": str(user_id)})


def announce(topic: str, message: dict[str, str]) -> None:
    """Publish from sync code, once the transaction commits. News that cannot be sent is logged and fails nobody."""
    transaction.on_commit(lambda: _publish(topic, message), robust=True)


def _publish(topic: str, message: dict[str, str]) -> None:
    if not has_listeners(topic):
        return
    try:
        async_to_sync(publish)(topic, message)
    except Exception:
        logger.exception("Subscribers were not told of %s", topic)
