"""Search over the tools that a caller's programs may call: signatures ready to use (contract C14)."""

from collections.abc import Sequence
from typing import Any

from mcp_server.calls.caller import Caller
from mcp_server.calls.dispatcher import visible_tools
from mcp_server.codemode.catalog import Detail, declare
from mcp_server.codemode.identifiers import identifiers
from mcp_server.codemode.search import search
from mcp_server.codemode.tokens import estimate_tokens
from mcp_server.definitions.tool import ToolDefinition

BUDGET = 2_000
"""Tokens that an answer keeps within; the last matches are left out first."""


async def find_tools(
    caller: Caller, query: str, *, limit: int = 8, tags: list[str] | None = None, group: str | None = None
) -> str:
    """Return the signatures of the tools that fit a query, best first, under a line that counts them."""
    inside = await visible_tools(caller.on_side("inside"))
    return search_tools(inside, query, limit=limit, tags=tags, group=group)


def search_tools(
    inside: Sequence[ToolDefinition],
    query: str,
    *,
    limit: int = 8,
    tags: list[str] | None = None,
    group: str | None = None,
) -> str:
    """Return what `find_tools` does, over tools that are known already."""
    found = search(inside, query, limit=max(1, min(limit, 50)), tags=tags, group=group)
    matches: list[Any] = list(found.matches)
    # Names are those among all that the caller sees, not among the matches.
    names = identifiers(item.name for item in inside)
    text = declare(matches, Detail.FULL, names=names)
    while len(matches) > 1 and estimate_tokens(text) > BUDGET:
        matches.pop()
        text = declare(matches, Detail.FULL, names=names)
    header = f"Found {found.found} of {found.visible} tools for {query[:200]!r}; showing {len(matches)}."
    return f"{header}\n{text}" if matches else f"{header} Try other words, or fewer."
