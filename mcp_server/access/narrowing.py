"""A client's wish for fewer tools: `?tools=`, `?permissions=` and `X-MCP-Tools` (contract R12). It can only narrow."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from django.http import HttpRequest

from mcp_server.definitions.tool import ToolDefinition

MOST_PATTERNS = 100
LONGEST_WISH = 8_192
Wish = tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Narrowing:
    """What a request asks for. A wish is a list of patterns, each split at its stars; None means no wish."""

    tools: tuple[Wish, ...] = ()
    permissions: Wish | None = None

    def allows(self, definition: ToolDefinition) -> bool:
        """Return whether the tool is in every wish, by its name or by the form that it has in code."""
        if self is EVERYTHING:
            return True
        names = {definition.name, re.sub(r"\W", "_", definition.name)}
        if not all(_fits(wish, names) for wish in self.tools):
            return False
        if self.permissions is None:
            return True
        return definition.guard is not None and _fits(self.permissions, definition.guard.permissions())


EVERYTHING = Narrowing()


def read_narrowing(request: HttpRequest) -> Narrowing:
    """Return what the request asks for. Values are data: only `*` means something."""
    lists = [request.GET.get("tools"), request.headers.get("X-MCP-Tools")]
    permissions = request.GET.get("permissions")
    tools = tuple(_read(item) for item in lists if item is not None)
    if not tools and permissions is None:
        return EVERYTHING
    return Narrowing(tools, None if permissions is None else _read(permissions))


def _read(text: str) -> Wish:
    parts = [part.strip() for part in text[:LONGEST_WISH].split(",")][:MOST_PATTERNS]
    return tuple(tuple(part.split("*")) for part in parts if part)


def _fits(wish: Wish, names: Iterable[str]) -> bool:
    return any(_matches(pieces, name) for name in names for pieces in wish)


def _matches(pieces: tuple[str, ...], name: str) -> bool:
    """Return whether a name has the pieces in order, the first at its start and the last at its end.

    Done by hand since a regular expression with many stars takes exponential time on a hostile wish.
    """
    first, *middle = pieces
    if not middle:
        return name == first
    last = middle.pop()
    if not name.startswith(first) or not name.endswith(last) or len(name) < len(first) + len(last):
        return False
    position, end = len(first), len(name) - len(last)
    for piece in middle:
        position = name.find(piece, position, end)
        if position < 0:
            return False
        position += len(piece)
    return True
