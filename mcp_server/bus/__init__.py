"""The only room that knows the channel layer: publish, subscribe, and what changed."""

from mcp_server.bus.channel import Message, Overflow, Subscription, is_shared, publish, subscribe
from mcp_server.bus.delivery import acknowledge, deliver
from mcp_server.bus.events import LISTS, announce, announce_rights, notify_resource_updated, resource_topic

__all__ = [
    "LISTS",
    "Message",
    "Overflow",
    "Subscription",
    "acknowledge",
    "announce",
    "announce_rights",
    "deliver",
    "is_shared",
    "notify_resource_updated",
    "publish",
    "resource_topic",
    "subscribe",
]
