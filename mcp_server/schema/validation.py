"""Validation that says what is wrong in words that a model can act on."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial
from typing import Any

from pydantic import ValidationError
from pydantic_core import PydanticCustomError

_SCALARS = frozenset({"int", "float", "bool"})
_NOT_SCHEMAS = frozenset(
    # Keys of a JSON object are text, whatever type the author gives them.
    {"metadata", "config", "default", "serialization", "expected", "members", "cls", "ref", "keys_schema"}
)


@dataclass(frozen=True, slots=True)
class Problem:
    """One wrong field: where it is, in the client's names, and why."""

    field: str
    message: str


class InvalidArguments(ValueError):
    """Arguments that do not fit the schema.

    Args:
        problems: every wrong field.
        known: the names that the tool takes.
    """

    def __init__(self, problems: Sequence[Problem], known: Sequence[str]) -> None:
        super().__init__("; ".join(f"{item.field}: {item.message}" for item in problems))
        self.problems = problems
        self.known = known


def tighten(schema: Any) -> Any:
    """Return a copy of a pydantic core schema that takes what its JSON Schema takes: text is no number, 1 is not True.

    Dates, UUIDs, Decimals and enums still come as text, and 5.0 is a whole number, as in JSON. Where the author said
    `strict=...` that stands (contract T06).
    """
    if isinstance(schema, list | tuple):
        return type(schema)(tighten(item) for item in schema)
    if not isinstance(schema, dict) or _author_chose(schema):
        return schema
    result: dict[str, Any] = {}
    for key, value in schema.items():
        if key in {"fields", "choices"} and isinstance(value, dict):
            result[key] = {name: tighten(item) for name, item in value.items()}
        else:
            result[key] = value if key in _NOT_SCHEMAS else tighten(value)
    return _tighten_one(result)


def _tighten_one(schema: dict[str, Any]) -> dict[str, Any]:
    kind = schema.get("type")
    if not isinstance(kind, str) or "strict" in schema:
        return schema
    if kind in _SCALARS:
        schema["strict"] = True
    before = _BEFORE.get(kind)
    if kind == "enum":
        before = partial(_take_kind, kinds={_kind(item.value) for item in schema["members"]})
    if before is None:
        return schema
    outer: dict[str, Any] = {"type": "function-before", "function": {"type": "no-info", "function": before}}
    if "ref" in schema:
        outer["ref"] = schema.pop("ref")
    return {**outer, "schema": schema}


def _take_whole(value: Any) -> Any:
    return int(value) if type(value) is float and value.is_integer() else value


def _take_text(value: Any) -> Any:
    if isinstance(value, int | float):
        raise PydanticCustomError("text_only", "Input should be a text in ISO 8601 format")
    return value


def _take_kind(value: Any, kinds: set[str]) -> Any:
    if _kind(value) not in kinds:
        raise PydanticCustomError("enum", "Input should be one of the listed values")
    return value


def _kind(value: Any) -> str:
    """Return what JSON calls a value: to Python, True is 1, and pydantic takes "1" for 1."""
    if isinstance(value, bool):
        return "boolean"
    return "number" if isinstance(value, int | float) else type(value).__name__


_BEFORE: Mapping[str, Callable[[Any], Any]] = {
    "int": _take_whole,
    "date": _take_text,
    "datetime": _take_text,
    "time": _take_text,
    "timedelta": _take_text,
}


def _author_chose(schema: dict[str, Any]) -> bool:
    config = schema.get("config")
    return isinstance(config, dict) and "strict" in config


def read_problems(error: ValidationError, known: Sequence[str]) -> list[Problem]:
    """Return the wrong fields of a pydantic error; inputs are left out, they may be secret.

    Args:
        error: what pydantic raised.
        known: valid names at the top level, for suggestions.
    """
    found = []
    for item in error.errors(include_url=False, include_context=False, include_input=False):
        location = item["loc"]
        if item["type"] == "extra_forbidden":
            # Valid names are known for the top level only; a nested object's are in the schema that the model has.
            message = unknown_name(str(location[-1]), known if len(location) == 1 else ())
        elif item["type"] == "missing":
            message = "is required"
        else:
            message = item["msg"].removeprefix("Value error, ")
        found.append(Problem(_path(location), message))
    return found


def unknown_name(name: str, known: Iterable[str]) -> str:
    """Return the sentence for an argument that a tool does not take, with the closest valid name."""
    names = list(known)
    folded = {_fold(item): item for item in names}
    close = folded.get(_fold(name)) or next(iter(get_close_matches(name, names, n=1, cutoff=0.6)), None)
    return f'is not an argument; did you mean "{close}"?' if close else "is not an argument"


def _fold(name: str) -> str:
    return name.replace("_", "").replace("-", "").lower()


def _path(location: Sequence[int | str]) -> str:
    text = ""
    for part in location:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else str(part)
    return text or "arguments"


class JSONSchemaValidator:
    """Enforces a JSON Schema 2020-12 that an author wrote by hand (contract T07); references never leave it."""

    def __init__(self, schema: Mapping[str, Any]) -> None:
        from jsonschema import Draft202012Validator
        from referencing import Registry

        Draft202012Validator.check_schema(schema)
        # jsonschema's own registry would fetch what a `$ref` names elsewhere; an empty one knows this schema alone.
        resolution = {"registry": Registry()}
        self._validator = Draft202012Validator(schema, **resolution)

    def problems(self, value: Any) -> list[Problem]:
        """Return what is wrong with the value, first by place."""
        from jsonschema.exceptions import best_match

        errors = sorted(
            self._validator.iter_errors(value), key=lambda error: [str(part) for part in error.absolute_path]
        )
        # The deepest cause of an `anyOf` says more than "is not valid under any of the given schemas".
        causes = [best_match([error]) or error for error in errors]
        return [Problem(_path(tuple(cause.absolute_path)), _shorten(cause.message)) for cause in causes[:20]]


def _shorten(message: str) -> str:
    return message if len(message) <= 300 else f"{message[:297]}..."
