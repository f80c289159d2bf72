"""Any value of a Django project as JSON, or a sentence that names what JSON cannot hold, and where (contract T08)."""

import math
from collections.abc import Iterable, Mapping
from typing import Any

from django.db.models import Model, QuerySet
from django.utils.functional import Promise
from pydantic_core import PydanticSerializationError, from_json, to_json

DEEPEST = 200


class Unserializable(ValueError):
    """A value that JSON cannot hold."""


def dump_plain(value: Any) -> bytes:
    """Return compact JSON: models, dataclasses, dates, Decimal, UUID, lazy texts, tuples and generators included.

    Raises:
        Unserializable: naming the path of NaN, a cycle, a model instance or an unknown object.
    """
    if isinstance(value, Iterable) and not isinstance(
        value, str | bytes | Mapping | list | tuple | set | QuerySet
    ):
        value = list(value) if hasattr(value, "__next__") else value  # a generator can be read only once
    try:
        data = to_json(value, fallback=_fall_back, inf_nan_mode="constants", bytes_mode="base64")
    except UnicodeEncodeError:
        return dump_plain(_repair(value))
    except (PydanticSerializationError, ValueError, RecursionError) as error:
        _find(value, "", [])
        raise Unserializable(_reason(error)) from error
    if b"NaN" in data or b"Infinity" in data:
        _find(from_json(data), "", [])
    return data


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


def _reason(error: BaseException) -> str:
    text = str(error)
    if "Circular reference" in text:
        return "The tool returned a value that JSON cannot hold: it holds itself."
    # pydantic wraps what the fallback says.
    said = text.removeprefix("Error calling function `_fall_back`: TypeError: ")
    return f"The tool returned a value that JSON cannot hold: {said if said != text else 'it is not JSON'}."


def _find(value: Any, path: str, above: list[int]) -> None:
    """Raise for the first thing in `value` that JSON cannot hold."""
    if isinstance(value, float) and not math.isfinite(value):
        raise Unserializable(
            f"The tool returned a value that JSON cannot hold: {value} at {path or 'the top'}."
        )
    if isinstance(value, str | int | float | bool | None):
        return
    if id(value) in above or len(above) > DEEPEST:
        reason = "it holds itself" if id(value) in above else f"more than {DEEPEST} levels"
        raise Unserializable(
            f"The tool returned a value that JSON cannot hold: {reason} at {path or 'the top'}."
        )
    if isinstance(value, Model):
        where = f" at {path}" if path else ""
        raise Unserializable(f"The tool returned a value that JSON cannot hold{where}: {_describe(value)}.")
    for name, item in _members(value):
        _find(
            item,
            f"{path}{name}" if name.startswith("[") or not path else f"{path}.{name}",
            [*above, id(value)],
        )


def _members(value: Any) -> Iterable[tuple[str, Any]]:
    if isinstance(value, Mapping):
        return [(str(key), item) for key, item in value.items()]
    if isinstance(value, list | tuple | set | frozenset | QuerySet):
        return [(f"[{number}]", item) for number, item in enumerate(value)]
    return []


def _repair(value: Any) -> Any:
    """Return the value with lone surrogates, which UTF-8 cannot hold, replaced (contract S08)."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, Mapping):
        return {_repair(key): _repair(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_repair(item) for item in value]
    return value
