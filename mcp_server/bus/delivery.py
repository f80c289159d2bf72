"""Messages for the one who waits for them, in whichever process; the sender learns whether they arrived."""

import asyncio
import logging
import secrets

from mcp_server.bus.channel import Message, is_shared, publish, publish_here, subscribe

logger = logging.getLogger("mcp_server.bus")

PATIENCE = 2.0
"""Seconds that a sender waits for the receipt. A message that arrives later counts all the same; a dead process is silent."""


async def deliver(topic: str, message: Message) -> bool:
    """Send a message to the one subscriber of a topic, and return whether it arrived.

    A layer does not tell who listens, and may keep the address of a process long after its end. So the one who waits
    sends a receipt, with `acknowledge`.
    """
    if publish_here(topic, message):
        return True
    if not is_shared():
        return False
    receipt = f"receipt {secrets.token_urlsafe(16)}"
    async with subscribe(receipt) as subscription:
        await publish(topic, {**message, "receipt": receipt})
        try:
            async with asyncio.timeout(PATIENCE):
                await subscription.get()
        except TimeoutError:
            return False
    return True


async def acknowledge(message: Message) -> None:
    """Tell the sender of a delivered message that it arrived. Where that fails, the message counts all the same."""
    receipt = message.get("receipt")
    if receipt is None:
        return
    try:
        await publish(receipt, {})
    except Exception:
        logger.exception("The sender of a message was not told that it arrived")
