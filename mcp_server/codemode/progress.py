"""The way back to the client while a program runs: one line of progress for all of its calls (contract C15, C17)."""

from collections.abc import Mapping
from typing import Any

from mcp_server.definitions.context import Channel, LogLevel
from mcp_server.exceptions import ToolError

FIRST_WITHOUT_QUESTIONS = "2026-07-28"
"""From this revision on a question ends the request, and the program would start anew with its answer."""


class RunChannel:
    """Counts finished calls as progress; a tool's own progress moves between two counts."""

    def __init__(self, channel: Channel, protocol: str) -> None:
        self._channel = channel
        self._protocol = protocol
        self._done = 0
        self._last = 0.0

    @property
    def waits(self) -> bool:
        """Return whether a question is answered within the call."""
        return self._channel.waits

    async def count(self, done: int, name: str) -> None:
        """Tell that `done` calls have ended, the last one of `name`."""
        self._done = max(self._done, done)
        await self._advance(float(done), f"{name} finished")

    async def progress(self, progress: float, total: float | None, message: str | None) -> None:
        """Tell how far one call is, as a part of the step that it is."""
        part = min(max(progress / total, 0.0), 0.99) if total else 0.0
        await self._advance(self._done + part, message)

    async def _advance(self, progress: float, message: str | None) -> None:
        if progress > self._last:
            self._last = progress
            await self._channel.progress(progress, None, message)

    async def log(self, level: LogLevel, data: Any, logger: str | None) -> None:
        """Pass a tool's message on."""
        await self._channel.log(level, data, logger)

    def can_ask(self, method: str) -> bool:
        """Return whether a tool's question can be passed on."""
        return self._protocol < FIRST_WITHOUT_QUESTIONS and self._channel.can_ask(method)

    async def ask(self, method: str, params: Mapping[str, Any], key: str | None) -> Mapping[str, Any]:
        """Pass a tool's question on.

        Raises:
            ToolError: where the revision has no question in the middle of a request.
        """
        if self._protocol >= FIRST_WITHOUT_QUESTIONS:
            raise ToolError(
                "A program cannot ask the user with this protocol revision. Ask in the conversation.", 400
            )
        return await self._channel.ask(method, params, key)
