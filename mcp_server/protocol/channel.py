"""A handler's way back to its client, in the protocol's words."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, cast, get_args

from django.core.cache import caches
from mcp_types import LOG_LEVEL_META_KEY

from mcp_server.conf import options
from mcp_server.definitions.context import LogLevel
from mcp_server.protocol.exchange import Incoming
from mcp_server.protocol.outbound import Outbound, Pace
from mcp_server.protocol.questions import Questions
from mcp_server.protocol.sessions import MAX_AGE, Session

LEVELS: tuple[LogLevel, ...] = get_args(LogLevel)
"""From the least to the most severe."""

FindLevel = Callable[[], Awaitable[LogLevel | None]]


class ClientChannel:
    """`definitions.context.Channel` over one request.

    Args:
        outbound: where notifications of this request go.
        questions: how the client is asked.
        find_level: finds the lowest log level that the client wants, None for no log at all; asked once, when needed.
    """

    def __init__(self, outbound: Outbound, questions: Questions, find_level: FindLevel) -> None:
        self._outbound = outbound
        self._questions = questions
        self._find_level = find_level
        self._wanted: tuple[LogLevel, ...] | None = None
        self._furthest: float | None = None
        self._pace = Pace()

    @property
    def waits(self) -> bool:
        """Return whether a question is answered within the call."""
        return self._questions.waits

    async def progress(self, progress: float, total: float | None, message: str | None) -> None:
        """Tell the client how far the work is; what does not increase, or comes too often, is dropped."""
        if self._furthest is not None and progress <= self._furthest:
            return
        if self._pace.allows() or progress == total:
            self._furthest = progress
            await self._outbound.progress(progress, total, message)

    async def log(self, level: LogLevel, data: Any, logger: str | None) -> None:
        """Send a log message, if the client wants this level."""
        if self._outbound.outbox is None:
            return
        if self._wanted is None:
            lowest = await self._find_level()
            self._wanted = LEVELS[LEVELS.index(lowest) :] if lowest is not None else ()
        if level in self._wanted:
            params = {"level": level, "data": data, **({"logger": logger} if logger else {})}
            await self._outbound.notify("notifications/message", params)

    def can_ask(self, method: str) -> bool:
        """Return whether this client answers requests of this method now."""
        return self._questions.can_ask(method)

    async def ask(self, method: str, params: Mapping[str, Any], key: str | None) -> Mapping[str, Any]:
        """Return the client's answer.

        Raises:
            ToolError: when it cannot be asked, or its answer is wrong.
        """
        return await self._questions.ask(method, params, key)


async def find_level(incoming: Incoming) -> LogLevel | None:
    """Return the lowest log level that the client wants.

    Since 2026-07-28 each request says so itself, and silence means no log. Before, `logging/setLevel` says it for a
    session; without one a client gets all from `info` up.
    """
    if incoming.modern:
        meta = (incoming.params or {}).get("_meta") or {}
        asked = meta.get(LOG_LEVEL_META_KEY)
        return asked if asked in LEVELS else None
    if incoming.session is None:
        return "info"
    kept = await caches[options().cache].aget(_level_key(incoming.session))
    return cast("LogLevel", kept) if kept in LEVELS else "info"


async def keep_level(session: Session, level: LogLevel) -> None:
    """Remember the level of a session. In a cache: where it is lost, the client gets all from `info` up again."""
    await caches[options().cache].aset(_level_key(session), level, MAX_AGE.total_seconds())


def _level_key(session: Session) -> str:
    return f"mcp:log-level:{session.nonce}"
