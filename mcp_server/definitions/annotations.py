"""Hints on how a tool behaves (contract T12)."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from mcp_server.exceptions import ConfigurationError


@dataclass(frozen=True, slots=True, kw_only=True)
class Annotations:
    """The protocol's four hints; None was not said and is not sent."""

    read_only: bool | None = None
    destructive: bool | None = None
    idempotent: bool | None = None
    open_world: bool | None = None

    def hints(self) -> dict[str, bool]:
        """Return the hints under their names in the protocol."""
        return {wire: value for name, wire in _WIRE.items() if (value := getattr(self, name)) is not None}


_WIRE = {
    "read_only": "readOnlyHint",
    "destructive": "destructiveHint",
    "idempotent": "idempotentHint",
    "open_world": "openWorldHint",
}

_PATTERNS: Mapping[str, Mapping[str, bool]] = {
    "read": {"read_only": True, "destructive": False, "open_world": False},
    "create": {"read_only": False, "destructive": False, "idempotent": False, "open_world": False},
    "update": {"read_only": False, "destructive": False, "idempotent": True, "open_world": False},
    "delete": {"read_only": False, "destructive": True, "idempotent": True, "open_world": False},
}


def as_annotations(settings: Mapping[str, Any]) -> Annotations | None:
    """Return the hints that a decorator's settings mean, or None where nothing was said.

    Raises:
        ConfigurationError: when `annotations` or a hint cannot be read.
    """
    given = settings.get("annotations")
    hints: dict[str, bool | None] = {}
    if isinstance(given, str) and given in _PATTERNS:
        hints.update(_PATTERNS[given])
    elif isinstance(given, Mapping) and set(given) <= set(_WIRE.values()):
        hints.update({name: given[wire] for name, wire in _WIRE.items() if wire in given})
    elif isinstance(given, Annotations):
        hints.update({item.name: getattr(given, item.name) for item in fields(given)})
    elif given is not None:
        raise ConfigurationError(
            f"annotations={given!r} is unknown.",
            f"Write one of {', '.join(map(repr, _PATTERNS))}, or a dict of hints.",
        )
    hints.update({name: settings[name] for name in _WIRE if settings.get(name) is not None})
    if not all(value is None or isinstance(value, bool) for value in hints.values()):
        raise ConfigurationError("a hint is neither True nor False.", "Give booleans.")
    return Annotations(**hints) if any(value is not None for value in hints.values()) else None
