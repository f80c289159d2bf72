"""A client's wish for fewer tools: `?tools=`, `?permissions=` and `X-MCP-Tools` (contract R12). It can only narrow."""

import re
from dataclasses import dataclass

from django.http import HttpRequest

from mcp_server.definitions.tool import ToolDefinition

MOST_PATTERNS = 100
LONGEST_WISH = 8_192


@dataclass(frozen=True, slots=True)
class Narrowing:
    """Patterns that a tool must match: each entry of `tools` and `permissions` is one list; None means no wish."""

    tools: tuple[re.Pattern[str], ...] = ()
    permissions: re.Pattern[str] | None = None

    def allows(self, definition: ToolDefinition) -> bool:
        """Return whether the tool is in the wish, by its name or by the form that it has in code."""
        names = (definition.name, re.sub(r"\W", "_", definition.name))
        if not all(any(pattern.fullmatch(name) for name in names) for pattern in self.tools):
            return False
        if self.permissions is None:
            return True
        named = definition.guard.permissions() if definition.guard is not None else frozenset[str]()
        return any(self.permissions.fullmatch(permission) for permission in named)


EVERYTHING = Narrowing()


def read_narrowing(request: HttpRequest) -> Narrowing:
    """Return what the request asks for. Values are data: only `*` means something."""
    lists = [request.GET.get("tools"), request.headers.get("X-MCP-Tools")]
    permissions = request.GET.get("permissions")
    tools = tuple(_compile(item) for item in lists if item is not None)
    if not tools and permissions is None:
        return EVERYTHING
    return Narrowing(tools, None if permissions is None else _compile(permissions))


def _compile(wish: str) -> re.Pattern[str]:
    parts = [part.strip() for part in wish[:LONGEST_WISH].split(",")][:MOST_PATTERNS]
    # Neighbouring stars would make the match slow; one says the same.
    patterns = [re.escape(re.sub(r"\*+", "*", part)).replace(r"\*", ".*") for part in parts if part]
    return re.compile("|".join(patterns) or r"(?!)", re.DOTALL)
