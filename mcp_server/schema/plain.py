"""Any value of a Django project as JSON, or a sentence that names what JSON cannot hold, and where (contract T08)."""

import dataclasses
import json
import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from django.db.models import Model, QuerySet
from django.utils.functional import Promise
from pydantic import BaseModel, TypeAdapter
from pydantic_core import PydanticSerializationError, from_json, to_json, to_jsonable_python

from mcp_server.schema.instances import SCALARS

DEEPEST = 200


class Unserializable(ValueError):
    """A value that JSON cannot hold."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"The tool returned a value that JSON cannot hold: {reason}.")


def dump_plain(value: Any) -> bytes:
    """Return compact JSON: models, dataclasses, dates, Decimal, UUID, lazy texts, tuples and generators included.

    Raises:
        Unserializable: naming the path of NaN, a cycle, a model instance or an unknown object.
    """
    if type(value) not in SCALARS and isinstance(value, Iterator):
        value = list(value)  # it can be read only once
    try:
        data = to_json(value, fallback=_fall_back, inf_nan_mode="constants", bytes_mode="base64")
    except PydanticSerializationError as error:
        if _SURROGATES in str(error):
            return dump_plain(_repair(to_jsonable_python(value, fallback=_fall_back, bytes_mode="base64")))
        _find(value)
        raise Unserializable("it is not JSON") from error
    except (ValueError, RecursionError) as error:
        _find(value)
        raise Unserializable("it is not JSON") from error
    if b"NaN" in data or b"Infinity" in data:
        _find(from_json(data))
    if b"null" in data and _is_made_of_models(value):
        _refuse_nan(to_jsonable_python(value, fallback=_fall_back, bytes_mode="base64"))
    return data


def dump_checked(adapter: TypeAdapter[Any], value: Any, *, has_floats: bool = True) -> bytes:
    """Return compact JSON for a value of the adapter's type, as that type wants it to be written.

    Args:
        adapter: of the type.
        value: validated by it.
        has_floats: whether the type has any, so that NaN must be looked for.

    Raises:
        Unserializable: naming the path of NaN.
    """
    try:
        data = adapter.dump_json(value, by_alias=True)
    except PydanticSerializationError as error:
        if _SURROGATES not in str(error):
            raise
        return dump_plain(_repair(adapter.dump_python(value, by_alias=True, mode="json")))
    if has_floats and b"null" in data:
        _refuse_nan(adapter.dump_python(value, by_alias=True, mode="json"))
    return data


def _is_made_of_models(value: Any) -> bool:
    if isinstance(value, Mapping):
        value = list(value.values())
    return isinstance(value[0] if isinstance(value, list | tuple) and value else value, BaseModel)


def _refuse_nan(plain: Any) -> None:
    """Raise for NaN in a plain value: models write it as null, which their schema does not promise."""
    try:
        json.dumps(plain, allow_nan=False)  # in C, far quicker than to look for it
    except ValueError:
        _find(plain)


_SURROGATES = "surrogates not allowed"


def _fall_back(value: Any) -> Any:
    if isinstance(value, Promise):
        return str(value)
    if isinstance(value, QuerySet):
        return list(value)
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(_describe(value))


def _describe(value: Any) -> str:
    name = type(value).__name__
    if isinstance(value, Model):
        return (
            f"a {name} instance; say which fields to send: annotate what the tool returns with a pydantic model, "
            "a TypedDict or a dataclass that has their names"
        )
    return f"a {name} object"


def _find(value: Any, path: str = "", above: tuple[int, ...] = ()) -> None:
    """Raise for the first thing in `value` that JSON cannot hold."""
    where = path or "the top"
    if isinstance(value, float) and not math.isfinite(value):
        raise Unserializable(f"{value} at {where}")
    if value is None or isinstance(value, str | int | float | bool):
        return
    if id(value) in above or len(above) > DEEPEST:
        raise Unserializable(
            f"{'it holds itself' if id(value) in above else f'more than {DEEPEST} levels'} at {where}"
        )
    if isinstance(value, Model):
        raise Unserializable(f"{_describe(value)}; it is at {where}")
    members = _members(value)
    if members is None:
        _try(value, where)
    for name, item in members or ():
        inner = f"{path}{name}" if name.startswith("[") or not path else f"{path}.{name}"
        _find(item, inner, (*above, id(value)))


def _try(value: Any, where: str) -> None:
    try:
        to_json(value, fallback=_fall_back)
    except (PydanticSerializationError, ValueError) as error:
        raise Unserializable(f"{_describe(value)} at {where}") from error


def _members(value: Any) -> Iterable[tuple[str, Any]] | None:
    if isinstance(value, Mapping):
        return [(str(key), item) for key, item in value.items()]
    if isinstance(value, list | tuple | set | frozenset | QuerySet):
        return [(f"[{number}]", item) for number, item in enumerate(value)]
    if isinstance(value, BaseModel) or (dataclasses.is_dataclass(value) and not isinstance(value, type)):
        return vars(value).items() if hasattr(value, "__dict__") else _fields(value)
    return None


def _fields(value: Any) -> list[tuple[str, Any]]:
    return [(item.name, getattr(value, item.name)) for item in dataclasses.fields(value)]


def _repair(value: Any) -> Any:
    """Return a plain value with lone surrogates, which UTF-8 cannot hold, replaced (contract S08)."""
    if isinstance(value, str):
        # By way of UTF-16 a pair of surrogates becomes the character that it stands for.
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, Mapping):
        return {_repair(key): _repair(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_repair(item) for item in value]
    return value
