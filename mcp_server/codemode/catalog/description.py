"""The description of `code`: how to write a program, and the tools in as much detail as a token budget allows (C02, C03)."""

import re
import threading
from collections import OrderedDict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass

from mcp_server.codemode.catalog.declarations import Detail, declare
from mcp_server.codemode.described import DescribedTool
from mcp_server.codemode.tokens import estimate_tokens

BUDGET = 4_000
"""Tokens that `auto` keeps the description within."""

AUTO = "auto"

HOW_TO_WRITE = """\
Run JavaScript (or TypeScript) that calls tools as `await codemode.name({...})`. Write the body of an async function and \
`return` the answer: only that and `console` output come back. Do the whole task in one program: loop, filter, \
`await Promise.all([...])` for independent calls. A failed call throws an Error with `message`, `status`, `data`. \
No imports, network or files; nothing is kept between runs."""

WITH_TYPES = f"""{HOW_TO_WRITE}

Tools ({{{{count}}}}):
{{{{types}}}}"""

WITHOUT_TYPES = f"""{HOW_TO_WRITE}

Tools: {{{{count}}}}. Find them first with the `search` tool, or in the program: `await codemode.$search('words')`, \
`await codemode.$describe('name')`."""

SEARCH = """\
Find tools for `code` among {{count}}. Give words for what you want to do; the answer has signatures ready to use."""

_PLACEHOLDER = re.compile(r"\{\{(types|count)\}\}")


@dataclass(frozen=True, slots=True)
class Description:
    """The text of a description, the detail it has, its estimated tokens, and how many tools it stands for."""

    text: str
    detail: Detail
    tokens: int
    count: int


def describe(
    endpoint_name: str,
    tools: Iterable[DescribedTool],
    *,
    detail: str = AUTO,
    template: str | None = None,
    budget: int = BUDGET,
) -> Description:
    """Return the description of `code` for someone who sees `tools`.

    Built once for each endpoint and set of tools, and kept for the sets that were asked for last.

    Args:
        endpoint_name: where the tools are served.
        tools: the definitions that this user may call from code.
        detail: a `Detail`, or "auto" for the richest one within `budget`.
        template: the author's own text with `{{types}}` and `{{count}}`, instead of ours.
        budget: tokens that "auto" keeps within; the last step, `progressive`, is taken whatever it costs.

    Raises:
        ValueError: when `detail` is none of these.
    """
    visible = tuple(sorted(tools, key=lambda tool: tool.name))
    key = (endpoint_name, detail, template, budget, *map(id, visible))
    found = _kept.get(key)
    if found is None:
        found = _build(visible, detail, template, budget)
        _kept.put(key, found, visible)
    return found


def describe_search(count: int) -> str:
    """Return the description of `search` for someone who sees `count` tools."""
    return fill(SEARCH, types="", count=count)


def fill(template: str, *, types: str, count: int) -> str:
    """Return the template with every `{{types}}` and `{{count}}` filled in one pass, literally."""
    values = {"types": types, "count": str(count)}
    return _PLACEHOLDER.sub(lambda match: values[match[1]], template)


def _build(tools: Sequence[DescribedTool], detail: str, template: str | None, budget: int) -> Description:
    if detail != AUTO:
        return _at(tools, Detail(detail), template)
    types = _at(tools, Detail.TYPES, template)
    # Comments only add to the types, so that one look tells which half of the steps can fit.
    steps = (Detail.FULL, Detail.BRIEF) if types.tokens <= budget else (Detail.NAMES,)
    for step in steps:
        built = _at(tools, step, template)
        if built.tokens <= budget:
            return built
    return types if types.tokens <= budget else _at(tools, Detail.PROGRESSIVE, template)


def _at(tools: Sequence[DescribedTool], detail: Detail, template: str | None) -> Description:
    ours = WITHOUT_TYPES if detail is Detail.PROGRESSIVE else WITH_TYPES
    text = fill(template or ours, types=declare(tools, detail), count=len(tools))
    return Description(text, detail, estimate_tokens(text), len(tools))


class _Kept:
    """The descriptions asked for last, with their tools: while an entry is kept, the ids in its key stay theirs."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._lock = threading.Lock()
        self._entries: OrderedDict[Hashable, tuple[Description, tuple[DescribedTool, ...]]] = OrderedDict()

    def get(self, key: Hashable) -> Description | None:
        with self._lock:
            if key not in self._entries:
                return None
            self._entries.move_to_end(key)
            return self._entries[key][0]

    def put(self, key: Hashable, description: Description, tools: tuple[DescribedTool, ...]) -> None:
        with self._lock:
            self._entries[key] = description, tools
            while len(self._entries) > self._size:
                self._entries.popitem(last=False)


_kept = _Kept(64)
