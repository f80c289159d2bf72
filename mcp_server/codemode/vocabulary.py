"""What programs call a set of tools, and what the checks know of each: worked out once for each set that a user sees."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from mcp_server.codemode.identifiers import callables, identifiers
from mcp_server.codemode.source import ToolSummary, summarize
from mcp_server.definitions.tool import ToolDefinition


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The names of some tools.

    Args:
        identifiers: tool name -> the identifier that messages and declarations use.
        callables: every property of `codemode` that calls a tool -> the tool's name.
        summaries: for the same properties, what their arguments may be.
    """

    identifiers: Mapping[str, str]
    callables: Mapping[str, str]
    summaries: Mapping[str, ToolSummary]


@lru_cache(maxsize=64)
def read_vocabulary(inside: tuple[ToolDefinition, ...]) -> Vocabulary:
    """Return the names of the tools `inside`; for a hundred of them that takes as long as their program."""
    found = {item.name: item for item in inside}
    properties = callables(found)
    summaries = {
        text: summarize(name, found[name].arguments.json_schema) for text, name in properties.items()
    }
    return Vocabulary(identifiers(found), properties, summaries)
