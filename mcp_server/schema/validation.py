"""Validation that says what is wrong in words that a model can act on."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from pydantic import ValidationError

_SCALARS = frozenset({"int", "float", "bool"})
_NOT_SCHEMAS = frozenset(
    {"metadata", "config", "default", "serialization", "expected", "members", "cls", "ref"}
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
    """Return a copy of a pydantic core schema in which text is no number and no boolean.

    Dates, UUIDs, Decimals and enums still come as text. Where the author said `strict=...` that stands (contract T06).
    """
    if isinstance(schema, list | tuple):
        return type(schema)(tighten(item) for item in schema)
    if not isinstance(schema, dict):
        return schema
    if _author_chose(schema):
        return schema
    result: dict[str, Any] = {}
    for key, value in schema.items():
        if key in {"fields", "choices"} and isinstance(value, dict):
            result[key] = {name: tighten(item) for name, item in value.items()}
        else:
            result[key] = value if key in _NOT_SCHEMAS else tighten(value)
    kind = schema.get("type")
    if isinstance(kind, str) and kind in _SCALARS:
        result.setdefault("strict", True)
    return result


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
        self._validator = Draft202012Validator(schema, registry=Registry())

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
