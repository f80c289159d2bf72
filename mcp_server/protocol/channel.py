"""A handler's way back to its client, in the protocol's words."""

from collections.abc import Mapping
from typing import Any, get_args

from mcp_types import LOG_LEVEL_META_KEY
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from mcp_server.definitions.context import Answer, LogLevel
from mcp_server.exceptions import ToolError
from mcp_server.protocol.outbound import Outbound, Pace

LEVELS: tuple[LogLevel, ...] = get_args(LogLevel)
"""From the least to the most severe."""


class ClientChannel:
    """`definitions.context.Channel` over one request.

    Args:
        outbound: where notifications of this request go.
        lowest: the lowest log level that the client wants, None for no log at all.
    """

    def __init__(self, outbound: Outbound, lowest: LogLevel | None) -> None:
        self._outbound = outbound
        self._wanted = LEVELS[LEVELS.index(lowest) :] if lowest is not None else ()
        self._furthest: float | None = None
        self._pace = Pace()

    async def progress(self, progress: float, total: float | None, message: str | None) -> None:
        """Tell the client how far the work is; what does not increase, or comes too often, is dropped."""
        if self._furthest is not None and progress <= self._furthest:
            return
        if self._pace.allows() or progress == total:
            self._furthest = progress
            await self._outbound.progress(progress, total, message)

    async def log(self, level: LogLevel, data: Any, logger: str | None) -> None:
        """Send a log message, if the client wants this level."""
        if level in self._wanted:
            params = {"level": level, "data": data, **({"logger": logger} if logger else {})}
            await self._outbound.notify("notifications/message", params)

    async def elicit(self, message: str, schema: Mapping[str, Any]) -> Answer:
        """Return the person's answer.

        Raises:
            ToolError: always; questions need a session.
        """
        raise ToolError("This connection cannot ask its user a question.", 501)


def lowest_level(version: str, params: Mapping[str, Any] | None) -> LogLevel | None:
    """Return the lowest log level that a request asks for.

    Since 2026-07-28 each request says so itself, and silence means no log; before, a client gets all from `info` up.
    """
    if version not in MODERN_PROTOCOL_VERSIONS:
        return "info"
    meta = (params or {}).get("_meta")
    asked = meta.get(LOG_LEVEL_META_KEY) if isinstance(meta, Mapping) else None
    return asked if asked in LEVELS else None
