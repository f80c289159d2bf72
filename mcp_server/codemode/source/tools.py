"""What the checks need to know about each tool."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class ToolSummary:
    """One tool as the checks see it.

    Args:
        name: its name in MCP; `codemode["get-user"]` works beside the identifier.
        parameters: the names its arguments may have, in the schema's order.
        required: those that must be there.
        closed: whether any other name is refused.
    """

    name: str
    parameters: tuple[str, ...]
    required: tuple[str, ...]
    closed: bool


# With one of these at the root, the properties beside them are not all there is.
_OPENING = frozenset({"$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "if", "patternProperties"})


def summarize(name: str, json_schema: Mapping[str, Any]) -> ToolSummary:
    """The summary of a tool, from the JSON Schema of its arguments."""
    parameters = tuple(json_schema.get("properties", ()))
    required = tuple(json_schema.get("required", ()))
    closed = json_schema.get("additionalProperties") is False and _OPENING.isdisjoint(json_schema)
    return ToolSummary(name, parameters, required, closed)
