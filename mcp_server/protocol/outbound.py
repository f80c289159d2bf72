"""What a request may send back while it runs: notifications now, the answer last."""

import asyncio
import json
import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import anyio

from mcp_server import bus
from mcp_server.protocol.kernel import (
    CallOptions,
    MCPError,
    NoBackChannelError,
    ServerMessageMetadata,
    TransportContext,
)
from mcp_server.protocol.replies import event
from mcp_server.protocol.sessions import Session

BURST = 20
PER_SECOND = 10.0
BACKLOG = 64
"""How many frames may wait for a client that reads slowly; then the handler waits too."""


class Pace:
    """Lets a burst pass, then so many a second (the specification asks for a rate limit on progress)."""

    def __init__(self) -> None:
        self._allowance = float(BURST)
        self._checked = time.monotonic()

    def allows(self) -> bool:
        """Return whether one more may be sent now."""
        now = time.monotonic()
        self._allowance = min(BURST, self._allowance + (now - self._checked) * PER_SECOND)
        self._checked = now
        if self._allowance < 1:
            return False
        self._allowance -= 1
        return True


class Outbox:
    """Frames on their way to one client, oldest first."""

    def __init__(self, *, live: bool) -> None:
        # Nobody reads a collecting outbox before the end, so it must never make a handler wait.
        self._queue: asyncio.Queue[bytes] = asyncio.Queue(BACKLOG if live else 0)

    async def put(self, frame: bytes) -> None:
        """Add a frame; waits while a live client is too far behind."""
        await self._queue.put(frame)

    async def get(self) -> bytes:
        """Return the next frame, when there is one."""
        return await self._queue.get()

    def take(self) -> bytes | None:
        """Return the next frame if it is there already."""
        return None if self._queue.empty() else self._queue.get_nowait()

    def collected(self) -> list[bytes]:
        """Return and remove all frames that are there."""
        return [self._queue.get_nowait() for _ in range(self._queue.qsize())]


@dataclass(kw_only=True)
class Outbound:
    """The kernel's view of one HTTP request: the SDK's `DispatchContext`.

    `outbox` is None where the client takes no stream: what is not the answer is then dropped. `session` is there for
    2025 clients that keep one; only they can be asked, and only while the answer is still open (`can_send_request`).
    """

    transport: TransportContext
    request_id: int | str
    message_metadata: ServerMessageMetadata
    progress_token: int | str | None = None
    outbox: Outbox | None = None
    session: Session | None = None
    live: bool = False
    cancel_requested: anyio.Event = field(default_factory=anyio.Event)
    can_send_request: bool = False

    async def send_raw_request(
        self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None
    ) -> dict[str, Any]:
        """Return the client's answer to a request on this stream; any process may receive it.

        Raises:
            NoBackChannelError: when there is no session, or no open stream.
            MCPError: when the client answers with an error.
        """
        if self.session is None or self.outbox is None or not self.can_send_request:
            raise NoBackChannelError(method)
        request_id = secrets.token_urlsafe(16)
        async with bus.subscribe(reply_topic(self.session, request_id)) as subscription:
            await self.outbox.put(
                event({"jsonrpc": "2.0", "id": request_id, "method": method, "params": params or {}})
            )
            _, message = await subscription.get()
            await bus.acknowledge(message)
        reply = json.loads(message["reply"])
        if "error" in reply:
            error = reply["error"]
            raise MCPError(error["code"], error["message"], error.get("data"))
        result: dict[str, Any] = reply["result"]
        return result

    async def notify(
        self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None
    ) -> None:
        """Send a notification on this request's stream."""
        if self.outbox is None:
            return
        message: dict[str, Any] = {"jsonrpc": "2.0", "method": method}
        if params is not None:
            message["params"] = params
        await self.outbox.put(event(message))

    async def progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        """Report progress, if the client gave a token for it."""
        if self.progress_token is None:
            return
        params = {
            "progressToken": self.progress_token,
            "progress": progress,
            "total": total,
            "message": message,
        }
        await self.notify(
            "notifications/progress", {key: value for key, value in params.items() if value is not None}
        )


def reply_topic(session: Session, request_id: str) -> str:
    """Return the topic on which the reply to one of our requests travels; the session's nonce is no one else's."""
    return f"reply {session.nonce} {request_id}"
