"""pydantic's JSON Schema as MCP clients and models want it: no needless titles, an object at the root."""

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaWarningKind

Mode = Literal["validation", "serialization"]


class _Generator(GenerateJsonSchema):
    # A default that JSON cannot hold is the author's own business: the schema just does not show it.
    ignored_warning_kinds: set[JsonSchemaWarningKind] = {"skipped-choice", "non-serializable-default"}

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


def read_schema(adapter: TypeAdapter[Any], mode: Mode) -> dict[str, Any]:
    """Return the JSON Schema of a type, with titles only where the author gave them."""
    schema = adapter.json_schema(by_alias=True, mode=mode, schema_generator=_Generator)
    return tidy(schema)


def tidy(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema with its root inlined and without titles that only repeat a class name."""
    definitions: dict[str, Any] = schema.get("$defs", {})
    for name, definition in definitions.items():
        if isinstance(definition, dict) and definition.get("title") == name.split("__")[-1]:
            del definition["title"]
    root = _inline_root(schema, definitions)
    if isinstance(root.get("title"), str) and root.get("title", "").isidentifier():
        root.pop("title")
    return root


def _inline_root(schema: dict[str, Any], definitions: Mapping[str, Any]) -> dict[str, Any]:
    reference = schema.get("$ref")
    if not isinstance(reference, str) or not reference.startswith("#/$defs/"):
        return schema
    # Model APIs refuse a reference at the root (contract R10); a recursive type keeps its definition beside it.
    return {**definitions[reference.removeprefix("#/$defs/")], "$defs": dict(definitions)}
