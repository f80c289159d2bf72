"""Any argument of a tool as JSON in one form, such that different values never look alike (contract T16)."""

import dataclasses
import datetime as dt
import enum
import ipaddress
import json
import pathlib
import uuid
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from pydantic import BaseModel, SecretBytes, SecretStr

_PLAIN = (str, int, float, bool, type(None))
_TEXTUAL = (
    dt.date, dt.time, dt.timedelta, Decimal, uuid.UUID, pathlib.PurePath, bytes, complex,
    ipaddress.IPv4Address, ipaddress.IPv6Address, ipaddress.IPv4Network, ipaddress.IPv6Network,
)  # fmt: skip


class Indistinct(TypeError):
    """A value whose type says nothing that would tell it from another."""


def canonical(value: Any) -> Any:
    """Return the value in plain lists, texts and numbers, each part with its type where JSON has none for it.

    Serializers are not asked: they may mask a secret or leave a field out.

    Raises:
        Indistinct: for a type that is not known here.
    """
    if type(value) in _PLAIN:
        return value
    kind = f"{type(value).__module__}.{type(value).__qualname__}"
    if isinstance(value, Mapping | list | tuple | set | frozenset):
        return _collection(value)
    if isinstance(value, enum.Enum):
        return [kind, value.name]
    if isinstance(value, _TEXTUAL):
        return [kind, repr(value)]
    return [kind, canonical(_members(value, kind))]


def _collection(value: Any) -> list[Any]:
    if isinstance(value, Mapping):
        return ["{}", *sorted(([canonical(key), canonical(item)] for key, item in value.items()), key=_order)]
    if isinstance(value, list | tuple):
        return ["[]", *map(canonical, value)]
    return ["set", *sorted(map(canonical, value), key=_order)]


def _members(value: Any, kind: str) -> dict[str, Any]:
    if isinstance(value, SecretStr | SecretBytes):
        return {"secret": value.get_secret_value()}
    if isinstance(value, BaseModel):
        return {**value.__dict__, **(value.__pydantic_extra__ or {})}
    if dataclasses.is_dataclass(value):
        return {item.name: getattr(value, item.name) for item in dataclasses.fields(value)}
    raise Indistinct(kind)


def _order(item: Any) -> str:
    return json.dumps(item, sort_keys=True)
