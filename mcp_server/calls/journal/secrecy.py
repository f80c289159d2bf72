"""Which values of a call are secret, by the mark of their field and by their name (contract A07)."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

REDACTED = "[redacted]"

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_A-Za-z]+")
_COMBINED = ("anyOf", "oneOf", "allOf")


@dataclass(slots=True, eq=False)
class Mark:
    """What a JSON Schema says of the secrecy of a value and of what lies in it.

    `parts` are further schemas of the same value (`$ref`, `anyOf` and the like); a recursive schema gives a recursive mark.
    """

    secret: bool = False
    properties: dict[str, "Mark"] = field(default_factory=dict)
    others: "Mark | None" = None
    items: "Mark | None" = None
    parts: list["Mark"] = field(default_factory=list)

    def below(self) -> Iterator["Mark"]:
        """Yield the marks of what lies in the value."""
        yield from self.properties.values()
        yield from (mark for mark in (self.others, self.items) if mark is not None)


Marks = tuple[Mark, ...]
"""All that is said of one value; it is secret when one of them says so."""


def marks_in(schema: Mapping[str, Any]) -> Marks:
    """Return the marks of a JSON Schema, or () when it marks nothing: `writeOnly`, or `format` "password"."""
    root = _Reader(schema.get("$defs", {})).read(schema)
    return (root,) if is_guarded((root,)) else ()


def expanded(marks: Iterable[Mark]) -> Marks:
    """Return the marks with all their parts."""
    return _reachable(marks, lambda mark: mark.parts)


def is_guarded(marks: Iterable[Mark]) -> bool:
    """Return whether anything at or below these marks is secret."""
    return any(mark.secret for mark in _reachable(marks, lambda mark: [*mark.parts, *mark.below()]))


def _reachable(marks: Iterable[Mark], following: Callable[[Mark], Iterable[Mark]]) -> Marks:
    found: dict[int, Mark] = {}
    waiting = list(marks)
    while waiting:
        mark = waiting.pop()
        if id(mark) not in found:
            found[id(mark)] = mark
            waiting.extend(following(mark))
    return tuple(found.values())


class _Reader:
    """Reads one schema."""

    def __init__(self, definitions: Mapping[str, Any]) -> None:
        self.definitions = definitions
        self.known: dict[str, Mark] = {}

    def read(self, schema: Any) -> Mark:
        if not isinstance(schema, Mapping):
            return Mark()
        return Mark(
            secret=schema.get("writeOnly") is True or schema.get("format") == "password",
            properties={name: self.read(item) for name, item in schema.get("properties", {}).items()},
            others=self._optional(schema.get("additionalProperties")),
            items=self._optional(schema.get("items")),
            parts=list(self._parts(schema)),
        )

    def _optional(self, schema: Any) -> Mark | None:
        return self.read(schema) if isinstance(schema, Mapping) else None

    def _parts(self, schema: Mapping[str, Any]) -> Iterator[Mark]:
        for key in _COMBINED:
            yield from (self.read(part) for part in schema.get(key, ()))
        for item in schema.get("prefixItems", ()):
            yield Mark(items=self.read(item))
        if "$ref" in schema:
            yield self._referred(schema["$ref"].rpartition("/")[2])

    def _referred(self, name: str) -> Mark:
        if name not in self.known:
            mark = self.known[name] = Mark()
            mark.parts.append(self.read(self.definitions.get(name)))
        return self.known[name]


@lru_cache(maxsize=4096)
def words_of(name: str) -> tuple[str, ...]:
    """Return a name's words in lower case without a plural: `accessTokens` and `access_token` are the same."""
    return tuple(word.lower().removesuffix("s") for word in _WORD.findall(name))


@lru_cache(maxsize=4096)
def is_secret_name(name: str, secret_names: tuple[str, ...]) -> bool:
    """Return whether a name holds the words of one of `secret_names` in a row, however it is written."""
    words = words_of(name)
    return any(_holds(words, words_of(secret)) for secret in secret_names)


def _holds(words: tuple[str, ...], wanted: tuple[str, ...]) -> bool:
    width = len(wanted)
    return bool(width) and any(
        words[start : start + width] == wanted for start in range(len(words) - width + 1)
    )
