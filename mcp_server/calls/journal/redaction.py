"""Secrets kept out of the log: in arguments, and wherever the same text turns up again (contract A07)."""

import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from mcp_server.calls.journal.secrecy import (
    REDACTED,
    Marks,
    expanded,
    is_guarded,
    is_secret_name,
    marks_in,
    words_of,
)
from mcp_server.calls.journal.text import capped_text
from mcp_server.conf import options

_MAX_DEPTH = 64
_SHORTEST_SECRET = 4
"""Shorter values are too common to be masked in other texts; the argument itself is redacted all the same."""

_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=str).encode

_marks: dict[int, tuple[Mapping[str, Any], Marks]] = {}


@dataclass(slots=True)
class Redactor:
    """Copies a value without its secrets and remembers them."""

    names: tuple[str, ...]
    secrets: set[str] = field(default_factory=set)

    def redact(self, value: Any, marks: Marks, depth: int = _MAX_DEPTH) -> Any:
        """Return the value with its secrets replaced; what cannot be matched with its marks counts as secret."""
        if marks:
            marks = expanded(marks)
            if any(mark.secret for mark in marks):
                return self._hide(value)
        if isinstance(value, dict):
            return self._mapping(value, marks, depth) if depth else "…"
        if isinstance(value, (list, tuple)):
            items = tuple(mark.items for mark in marks if mark.items is not None)
            return [self.redact(item, items, depth - 1) for item in value] if depth else "…"
        # A text where an object with secrets belongs: a client that encodes its arguments twice.
        return self._hide(value) if marks and isinstance(value, str) and is_guarded(marks) else value

    def _mapping(self, value: dict[Any, Any], marks: Marks, depth: int) -> dict[str, Any]:
        # Beside secret fields, a name that the schema does not know may be a secret's name with a typing error.
        strict = bool(marks) and any(is_guarded(mark.properties.values()) for mark in marks)
        found: dict[str, Any] = {}
        for key, item in value.items():
            name = str(key)
            below = _named(marks, name) if marks else ()
            if is_secret_name(name, self.names) or (strict and not below):
                found[name] = self._hide(item)
            else:
                found[name] = self.redact(item, below, depth - 1)
        return found

    def _hide(self, value: Any) -> Any:
        self._remember(value, _MAX_DEPTH)
        return REDACTED

    def _remember(self, value: Any, depth: int) -> None:
        if isinstance(value, dict):
            value = list(value.values())
        if isinstance(value, (list, tuple)) and depth:
            for item in value:
                self._remember(item, depth - 1)
        elif isinstance(value, (str, int, float)) and not isinstance(value, bool):
            self.secrets.add(str(value))


def _named(marks: Marks, name: str) -> Marks:
    found = (mark.properties.get(name, mark.others) for mark in marks)
    return tuple(mark for mark in found if mark is not None)


def recorded_arguments(arguments: Any, schema: Mapping[str, Any] | None = None) -> tuple[str, frozenset[str]]:
    """Return the arguments as JSON text, redacted and capped, and the secrets that were taken out.

    Args:
        arguments: what the client sent, valid or not.
        schema: the tool's input schema, the same object at each call; its marks are read once.
    """
    log = options().log
    redactor = Redactor(log.redact)
    values = dict(arguments) if isinstance(arguments, Mapping) else arguments
    redacted = redactor.redact(values, _marks_of(schema))
    try:
        text = _encode(redacted)
    except (ValueError, TypeError):
        # Whole numbers of more digits than Python is willing to write.
        text = '"[not recordable]"'
    return capped_text(text, log.max_bytes), frozenset(redactor.secrets)


def _marks_of(schema: Mapping[str, Any] | None) -> Marks:
    if schema is None:
        return ()
    known = _marks.get(id(schema))
    if known is None:
        if len(_marks) > 10_000:
            _marks.clear()
        # The schema is kept beside its marks, so that its id cannot come to mean another one.
        known = _marks[id(schema)] = (schema, marks_in(schema))
    return known[1]


def masked(text: str, secrets: Collection[str]) -> str:
    """Return the text with each secret of at least four characters replaced, written plainly or as JSON."""
    for secret in sorted(secrets, key=len, reverse=True):
        if len(secret) >= _SHORTEST_SECRET:
            text = text.replace(secret, REDACTED).replace(json.dumps(secret)[1:-1], REDACTED)
    return text


def masked_value(value: Any, secrets: Collection[str]) -> Any:
    """Return a JSON value with each secret in its texts replaced."""
    if isinstance(value, str):
        return masked(value, secrets)
    if isinstance(value, dict):
        return {key: masked_value(item, secrets) for key, item in value.items()}
    if isinstance(value, list):
        return [masked_value(item, secrets) for item in value]
    return value


def masked_source(text: str, secrets: Collection[str]) -> str:
    """Return a program or its output with secrets masked, those too that it gives to a secret name; lines stay lines."""
    return _literals(options().log.redact).sub(_hide_literal, masked(text, secrets))


@lru_cache(maxsize=8)
def _literals(names: tuple[str, ...]) -> re.Pattern[str]:
    spelled = "|".join(r"[_-]?".join(map(re.escape, words_of(name))) for name in names if words_of(name))
    return re.compile(
        rf"""((?:{spelled or "(?!)"})s?["'`]?\]?\s{{0,9}}(?::\s{{0,9}}string\s{{0,9}}=|[:=])\s{{0,9}})"""
        r"""(?:"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|`(?:\\.|[^`\\])*`|-?\d+(?:\.\d+)?)""",
        re.IGNORECASE | re.DOTALL,
    )


def _hide_literal(match: re.Match[str]) -> str:
    lines = "\n" * match[0][len(match[1]) :].count("\n")
    return f'{match[1]}"{REDACTED}"{lines}'
