"""The way back from a program to the tools: each `codemode.x()` walks the same spine as a direct call (contract C07)."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic_core import from_json, to_json

from mcp_server.calls.caller import Caller
from mcp_server.calls.dispatcher import call_tool
from mcp_server.calls.results import Outcome
from mcp_server.codemode.catalog import Detail, declare
from mcp_server.codemode.finding import search_tools
from mcp_server.codemode.outcome import ToolFailure, ToolReply, ToolSuccess
from mcp_server.codemode.progress import RunChannel
from mcp_server.definitions.results import ContentItem, Text
from mcp_server.definitions.tool import ToolDefinition
from mcp_server.exceptions import UnknownTool

SEARCH = "$search"
DESCRIBE = "$describe"


class Callback:
    """Answers the calls of one run, and counts them by tool."""

    def __init__(
        self, caller: Caller, inside: Sequence[ToolDefinition], identifiers: Mapping[str, str]
    ) -> None:
        self._channel = RunChannel(caller.channel, caller.client.protocol)
        self.caller = caller.speaking_through(self._channel)
        self._inside = inside
        # Messages to the model name tools as its program does.
        self._identifiers = identifiers
        self._media: list[ContentItem] = []
        self.succeeded: Counter[str] = Counter()
        self.failed: Counter[str] = Counter()

    @property
    def calls(self) -> int:
        """Return how many calls have ended."""
        return self.succeeded.total() + self.failed.total()

    def identifier(self, name: str) -> str:
        """Return the name that a tool has in programs."""
        return self._identifiers.get(name, name)

    async def __call__(self, name: str, arguments: Any) -> ToolReply:
        """Return the reply to `codemode.<name>(arguments)`; what the program sent is hostile."""
        if name == SEARCH:
            return await self._search(arguments)
        if name == DESCRIBE:
            return self._describe(arguments)
        try:
            outcome = await call_tool(self.caller, name, arguments)
        except UnknownTool:
            # It was there when the run began: the user lost it meanwhile.
            self.failed[self.identifier(name)] += 1
            return ToolFailure(message=f"[404] Unknown tool: {name}", status=404)
        reply = self._reply(outcome)
        (self.failed if isinstance(reply, ToolFailure) else self.succeeded)[self.identifier(name)] += 1
        await self._channel.count(self.calls, name)
        return reply

    def _reply(self, outcome: Outcome) -> ToolReply:
        if outcome.guidance is not None:
            return ToolFailure(message=outcome.guidance)
        if outcome.failure is not None:
            failure = outcome.failure
            head = failure.message if failure.status is None else f"[{failure.status}] {failure.message}"
            return ToolFailure(message=head, status=failure.status, data=failure.data)
        if not outcome.content:
            return ToolSuccess(outcome.json)
        return ToolSuccess(to_json(self._handles(outcome)))

    def _handles(self, outcome: Outcome) -> Any:
        """Return content items as plain values: text as it is, media as a small handle that may be returned."""
        values = [item.text if isinstance(item, Text) else self._keep(item) for item in outcome.content]
        if outcome.structured is not None:
            structured = from_json(outcome.structured)
            media = [value for value in values if isinstance(value, dict)]
            return {"media": media, **structured} if media and isinstance(structured, dict) else structured
        return values[0] if len(values) == 1 else values

    def _keep(self, item: ContentItem) -> dict[str, Any]:
        self._media.append(item)
        kind = type(item).__name__
        handle = {"media": f"media:{len(self._media)}", "type": kind[:1].lower() + kind[1:]}
        mime_type = getattr(item, "mime_type", None)
        return {**handle, "mimeType": mime_type} if mime_type else handle

    def media_in(self, value: str | None) -> list[ContentItem]:
        """Return the media whose handles stand in the program's value."""
        return [
            item
            for number, item in enumerate(self._media, 1)
            if value is not None and f'"media:{number}"' in value
        ]

    async def _search(self, arguments: Any) -> ToolReply:
        wanted = arguments if isinstance(arguments, Mapping) else {"query": arguments}
        options = wanted.get("options")
        options = options if isinstance(options, Mapping) else wanted
        limit, tags, group = options.get("limit", 8), options.get("tags"), options.get("group")
        found = search_tools(
            self._inside,
            str(wanted.get("query") or ""),
            limit=limit if isinstance(limit, int) and 0 < limit <= 50 else 8,
            tags=[str(tag) for tag in tags] if isinstance(tags, list) else None,
            group=str(group) if group is not None else None,
        )
        return ToolSuccess(json.dumps(found).encode())

    def _describe(self, arguments: Any) -> ToolReply:
        wanted = arguments.get("name") if isinstance(arguments, Mapping) else arguments
        names = {str(item) for item in wanted} if isinstance(wanted, list) else {str(wanted)}
        chosen = [item for item in self._inside if item.name in names or self.identifier(item.name) in names]
        if not chosen:
            return ToolFailure(message=f"[404] Unknown tool: {', '.join(sorted(names))[:200]}", status=404)
        return ToolSuccess(json.dumps(declare(chosen, Detail.FULL, names=self._identifiers)).encode())
