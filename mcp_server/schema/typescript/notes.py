"""What a type cannot say about a value, as a comment of a few words: `rows to return; 1..100; = 50`."""

import math
from collections.abc import Iterator
from enum import IntEnum
from typing import Any

from mcp_server.schema.typescript.text import comment, literal, shorten

LONGEST_DESCRIPTION = 120
LONGEST_VALUE = 40


class Notes(IntEnum):
    """How much is said in comments."""

    NONE = 0
    FACTS = 1
    ALL = 2


FORMATS = {
    "date-time": "datetime",
    "date": "date",
    "time": "time",
    "duration": "duration",
    "uuid": "uuid",
    "email": "email",
    "uri": "url",
    "url": "url",
}
"""Formats that have a type name of their own: it says more than `string` at the same price."""


def note(schema: Any, notes: Notes, *, name: str = "") -> str:
    """Return the comment for one value, "" when there is nothing to say.

    `name` is the key it stands under; a description that only repeats it is left out.
    """
    if notes is Notes.NONE or not isinstance(schema, dict):
        return ""
    parts = list(_facts(schema))
    if notes is Notes.ALL:
        parts[:0] = _description(schema, name)
    return "; ".join([*parts, *_values(schema, examples=notes is Notes.ALL)])


def repeats(text: str, name: str) -> bool:
    """Return whether `text` has no word that `name` does not have already."""
    fillers = {"a", "an", "the", "of", "for", "by", "to", "with", "all", "one", "this"}
    known = set(_words(name))
    return all(word in fillers or word in known or word.rstrip("s") in known for word in _words(text))


def _words(text: str) -> list[str]:
    return "".join(character if character.isalnum() else " " for character in text).casefold().split()


def _description(schema: dict[str, Any], name: str) -> list[str]:
    for text in (schema.get("description"), schema.get("title")):
        if isinstance(text, str) and (clean := comment(text)):
            return [] if repeats(clean, name) else [shorten(clean, LONGEST_DESCRIPTION).rstrip(".")]
    return []


def _values(schema: dict[str, Any], *, examples: bool) -> Iterator[str]:
    default = schema.get("default")
    if default is not None and (text := _short(default)):
        yield f"= {text}"
    elif examples and (text := _short(_example(schema))):
        yield f"e.g. {text}"


def _example(schema: dict[str, Any]) -> Any:
    listed = schema.get("examples")
    return listed[0] if isinstance(listed, list) and listed else schema.get("example")


def _short(value: Any) -> str:
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return ""
    try:
        text = comment(literal(value))
    except (TypeError, ValueError, RecursionError):
        return ""
    return text if len(text) <= LONGEST_VALUE else ""


def _facts(schema: dict[str, Any], depth: int = 0) -> Iterator[str]:
    yield from _range(schema)
    yield from _count(schema, "Length", "chars")
    if not _is_row(schema):
        yield from _count(schema, "Items", "items")
    yield from _count(schema, "Properties", "keys")
    yield from _marks(schema)
    if depth < 3:
        yield from _inner_facts(schema, depth + 1)


def _inner_facts(schema: dict[str, Any], depth: int) -> Iterator[str]:
    for keyword in ("anyOf", "oneOf", "allOf"):
        branches = schema.get(keyword)
        real = (
            [branch for branch in branches if _says_something(branch)] if isinstance(branches, list) else []
        )
        if len(real) == 1 or (keyword == "allOf" and len(real) < 4):
            for branch in real:
                yield from _facts(branch, depth)
    items = schema.get("items")
    if isinstance(items, dict):
        yield from (f"each {fact}" for fact in _facts(items, depth))


def _is_row(schema: dict[str, Any]) -> bool:
    """Return whether the type names each item, and so says how many there are."""
    return "prefixItems" in schema or isinstance(schema.get("items"), list)


def _says_something(branch: Any) -> bool:
    return isinstance(branch, dict) and branch.get("type") != "null"


def _range(schema: dict[str, Any]) -> Iterator[str]:
    low, high = _number(schema, "minimum"), _number(schema, "maximum")
    if low and high:
        yield f"{low}..{high}"
    elif low or high:
        yield f">={low}" if low else f"<={high}"
    above, below = _number(schema, "exclusiveMinimum"), _number(schema, "exclusiveMaximum")
    if above:
        yield f">{above}"
    if below:
        yield f"<{below}"
    if step := _number(schema, "multipleOf"):
        yield f"step {step}"


def _count(schema: dict[str, Any], what: str, unit: str) -> Iterator[str]:
    low, high = _number(schema, f"min{what}"), _number(schema, f"max{what}")
    if low == "0":
        low = ""
    if low and high:
        yield f"{low} {unit}" if low == high else f"{low}-{high} {unit}"
    elif low or high:
        yield f"{low}+ {unit}" if low else f"<={high} {unit}"


def _number(schema: dict[str, Any], keyword: str) -> str:
    value = schema.get(keyword)
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return ""
    return str(int(value) if value == int(value) and abs(value) < 2**53 else value)[:24]


def _marks(schema: dict[str, Any]) -> Iterator[str]:
    for keyword in ("format", "contentEncoding", "contentMediaType"):
        text = schema.get(keyword)
        if isinstance(text, str) and text not in FORMATS and (clean := comment(text)):
            yield shorten(clean, LONGEST_VALUE)
    pattern = schema.get("pattern")
    if isinstance(pattern, str) and len(pattern) <= LONGEST_VALUE and not pattern.startswith("^(?!"):
        yield comment(f"/{pattern}/")
    if schema.get("uniqueItems") is True:
        yield "unique"
    if schema.get("deprecated") is True:
        yield "deprecated"
