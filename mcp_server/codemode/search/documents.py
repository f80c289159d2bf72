"""A tool as search sees it: weighted words from its name, title, texts, parameters, tags and group."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from mcp_server.codemode.described import DescribedTool
from mcp_server.codemode.search.words import canonical, terms


@dataclass(frozen=True, slots=True)
class Document:
    """The words of one tool.

    Args:
        weights: how much each stem counts, summed over the fields.
        concepts: the same by the word that stands for synonyms.
        name: the words of the name, as concepts.
        length: the sum of the weights.
    """

    weights: Mapping[str, float]
    concepts: Mapping[str, float]
    name: frozenset[str]
    length: float


_NAME, _TITLE, _TAG, _GROUP, _DESCRIPTION, _PARAMETER, _PARAMETER_TEXT = 4.0, 1.5, 1.5, 1.5, 1.5, 1.0, 0.5
# Words of one field beyond this many are no better description.
_LONGEST_FIELD = 200


def read(tool: DescribedTool) -> Document:
    """The document of a tool."""
    properties = tool.arguments.json_schema.get("properties", {})
    weights: defaultdict[str, float] = defaultdict(float)
    for weight, texts in (
        (_NAME, [tool.name]),
        (_TITLE, [tool.title]),
        (_TAG, tool.tags),
        (_GROUP, [tool.group]),
        (_DESCRIPTION, [tool.description]),
        (_PARAMETER, properties),
        (_PARAMETER_TEXT, _descriptions(properties)),
    ):
        _add(weights, weight, texts)
    concepts: defaultdict[str, float] = defaultdict(float)
    for term, weight in weights.items():
        concepts[canonical(term)] += weight
    return Document(weights, concepts, frozenset(map(canonical, terms(tool.name))), sum(weights.values()))


def _add(weights: defaultdict[str, float], weight: float, texts: Iterable[str]) -> None:
    found: list[str] = []
    for text in texts:
        found += terms(text)
        if len(found) > _LONGEST_FIELD:
            break
    for term, count in Counter(found[:_LONGEST_FIELD]).items():
        # A word said twice in one text says little more than once.
        weights[term] += weight * (1 + 0.25 * (min(count, 3) - 1))


def _descriptions(properties: Mapping[str, Any]) -> Iterable[str]:
    for schema in properties.values():
        if isinstance(schema, Mapping) and isinstance(schema.get("description"), str):
            yield schema["description"]
