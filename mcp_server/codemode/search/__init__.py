"""Finding tools by what they do (contract C14): ranked, tolerant of the words and spelling that a model chooses."""

from collections import OrderedDict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Generic, TypeVar

from mcp_server.codemode.described import DescribedTool
from mcp_server.codemode.search.index import Index

__all__ = ["SearchResult", "search"]

Tool = TypeVar("Tool", bound=DescribedTool)

_KEPT_INDEXES = 32
_indexes: OrderedDict[tuple[int, ...], Index] = OrderedDict()
_lock = Lock()


@dataclass(frozen=True, slots=True)
class SearchResult(Generic[Tool]):
    """What a search found.

    Args:
        found: how many tools fit.
        visible: how many tools were searched, before tags and group narrowed them.
        matches: the best of those that fit, best first.
    """

    found: int
    visible: int
    matches: tuple[Tool, ...]


def search(
    tools: Sequence[Tool],
    query: str,
    limit: int = 8,
    tags: Collection[str] | None = None,
    group: str | None = None,
) -> SearchResult[Tool]:
    """The tools that fit a query best; without a query the first ones, group by group.

    Args:
        tools: what the caller may see.
        query: words, in any order, form and spelling, or a name.
        limit: the most matches.
        tags: only tools with one of these.
        group: only tools of this group or a group below it.
    """
    if query.strip():
        ranked = [tools[place] for _, place in _index(tools).rank(query)]
    else:
        ranked = sorted(tools, key=lambda tool: (tool.group, tool.name))
    fitting = [tool for tool in ranked if _has_tag(tool, tags) and _is_in(tool, group)]
    return SearchResult(len(fitting), len(tools), tuple(fitting[: max(0, limit)]))


def _has_tag(tool: DescribedTool, tags: Collection[str] | None) -> bool:
    wanted = {tag.casefold() for tag in tags or ()}
    return not wanted or any(tag.casefold() in wanted for tag in tool.tags)


def _is_in(tool: DescribedTool, group: str | None) -> bool:
    if not group:
        return True
    wanted, own = group.casefold(), tool.group.casefold()
    return own == wanted or own.startswith(f"{wanted}/")


def _index(tools: Sequence[DescribedTool]) -> Index:
    # The index keeps its tools alive, so that their ids stay theirs as long as it is in the cache.
    key = tuple(map(id, tools))
    with _lock:
        index = _indexes.get(key)
        if index is not None:
            _indexes.move_to_end(key)
            return index
    index = Index(tools)
    with _lock:
        _indexes[key] = index
        while len(_indexes) > _KEPT_INDEXES:
            _indexes.popitem(last=False)
    return index
