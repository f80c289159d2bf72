"""A function's return annotation as a JSON Schema, and the conversion that goes with it."""

import dataclasses
import inspect
import json
import types
import typing
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from pydantic import BaseModel, PydanticUserError, TypeAdapter
from typing_extensions import is_typeddict

from mcp_server.exceptions import ConfigurationError
from mcp_server.schema.instances import plan_for, read_instances
from mcp_server.schema.json_schema import read_schema
from mcp_server.schema.plain import dump_checked, dump_plain
from mcp_server.schema.signature import read_hints
from mcp_server.schema.validation import JSONSchemaValidator

_READ_ONCE = frozenset({Iterable, Iterator, Generator})
_DEEPEST = 20  # references to references; more is a circle


@dataclass(frozen=True, kw_only=True)
class Output:
    """What a tool gives back.

    `json_schema` describes the plain value, `declared` whether clients are told: the author gave a schema, or annotated
    a model, a TypedDict, a dataclass or a list of them (contract T11). `dump` gives the value as JSON bytes and raises
    ValueError where it does not fit.
    """

    json_schema: Mapping[str, Any]
    declared: bool
    dump: Callable[[Any], bytes] = field(repr=False)

    @property
    def is_list(self) -> bool:
        """Return whether the value is a list."""
        return bool(self.json_schema.get("type") == "array")

    @cached_property
    def admits_none(self) -> bool:
        """Return whether the value may be null."""
        return _admits_none(self.json_schema)

    @cached_property
    def is_object(self) -> bool:
        """Return whether the value is always an object, as `structuredContent` must be."""
        return _is_object(self.json_schema, self.json_schema.get("$defs", {}))

    @property
    def wrapped_schema(self) -> Mapping[str, Any]:
        """Return the schema of `structuredContent`: lists under `results`, scalars under `result` (contract R03)."""
        if self.is_object:
            # Unchanged where the author wrote it so; a union of objects has no type of its own, which clients expect.
            return self.json_schema if "type" in self.json_schema else {"type": "object", **self.json_schema}
        inner = {key: value for key, value in self.json_schema.items() if key != "$defs"}
        wrapped: dict[str, Any] = {
            "type": "object",
            "properties": {self._key: inner},
            "required": [self._key],
        }
        if "$defs" in self.json_schema:
            wrapped["$defs"] = self.json_schema["$defs"]
        return wrapped

    def wrap(self, value: Any) -> Any:
        """Return what `wrapped_schema` describes, for a plain value."""
        return value if self.is_object else {self._key: value}

    @property
    def _key(self) -> str:
        return "results" if self.is_list else "result"


def _is_object(schema: Any, definitions: Mapping[str, Any], depth: int = 0) -> bool:
    if not isinstance(schema, Mapping) or depth > _DEEPEST:
        return False
    if "type" in schema:
        return bool(schema["type"] == "object")
    reference = str(schema.get("$ref", "")).removeprefix("#/$defs/")
    if reference in definitions:
        return _is_object(definitions[reference], definitions, depth + 1)
    choices = schema.get("anyOf") or schema.get("oneOf") or ()
    return bool(choices) and all(_is_object(item, definitions, depth + 1) for item in choices)


def read_output(
    function: Callable[..., Any], output_schema: Any = None, ignored: tuple[type, ...] = ()
) -> Output | None:
    """Return what a function gives back, or None where its annotation says nothing that JSON can hold.

    Args:
        function: the handler.
        output_schema: instead of the annotation: a model, a type, or a JSON Schema written by hand (contract T07).
        ignored: result classes that are no values, such as `ToolResult`.

    Raises:
        ConfigurationError: when `output_schema` cannot be used.
    """
    if isinstance(output_schema, Mapping):
        return _from_json_schema(output_schema)
    if output_schema is not None:
        try:
            return _from_type(output_schema, declared=True)
        except (PydanticUserError, TypeError) as error:
            raise ConfigurationError(
                f"output_schema has no JSON Schema: {error}", "Give a model or a JSON Schema."
            ) from error
    annotation = read_hints(function).get("return", inspect.Signature.empty)
    if annotation in {inspect.Signature.empty, Any, object} or _names_any(annotation, ignored):
        return None
    try:
        return _from_type(annotation, declared=_is_structured(annotation))
    except (PydanticUserError, TypeError, ValueError) as error:
        if getattr(error, "code", None) == "typed-dict-version":
            raise ConfigurationError(
                "its return annotation is a TypedDict that pydantic cannot read before Python 3.12.",
                "Import TypedDict from typing_extensions.",
            ) from error
        # `-> QuerySet[Order]` is good Python and no JSON Schema; what comes back decides when it comes.
        return None


def _names_any(annotation: Any, kinds: tuple[type, ...]) -> bool:
    choices = typing.get_args(annotation) if _is_union(annotation) else (annotation,)
    return any(isinstance(item, type) and issubclass(item, kinds) for item in choices)


def _is_union(annotation: Any) -> bool:
    return typing.get_origin(annotation) in {typing.Union, types.UnionType}


def _is_structured(annotation: Any) -> bool:
    """Whether this is a model, a TypedDict, a dataclass, a list of them, or a union of such without None."""
    origin = typing.get_origin(annotation)
    arguments = typing.get_args(annotation)
    if origin is typing.Annotated:
        return _is_structured(arguments[0])
    if _is_union(annotation):
        return all(_is_structured(item) for item in arguments if item is not type(None))
    if origin in {list, tuple, set, frozenset} or (isinstance(origin, type) and issubclass(origin, Iterable)):
        return not issubclass(origin, Mapping) and bool(arguments) and _is_structured(arguments[0])
    target = origin or annotation
    if not isinstance(target, type):
        return False
    return is_typeddict(target) or dataclasses.is_dataclass(target) or issubclass(target, BaseModel)


def _from_type(annotation: Any, *, declared: bool) -> Output:
    if typing.get_origin(annotation) in _READ_ONCE:
        annotation = list[typing.get_args(annotation)[0]]  # type: ignore[misc]  # known at run time only
    given = isinstance(annotation, TypeAdapter)
    adapter: TypeAdapter[Any] = annotation if given else TypeAdapter(annotation)
    schema = read_schema(adapter, "serialization")
    plan = plan_for(adapter._type if given else annotation)
    has_floats = '"number"' in json.dumps(schema)

    def dump(value: Any) -> bytes:
        checked = adapter.validate_python(read_instances(value, plan), from_attributes=True)
        return dump_checked(adapter, checked, has_floats=has_floats)

    return Output(json_schema=schema, declared=declared, dump=dump)


def _admits_none(schema: Mapping[str, Any]) -> bool:
    kind = schema.get("type")
    if kind == "null" or (isinstance(kind, list) and "null" in kind):
        return True
    return any(_admits_none(item) for item in schema.get("anyOf", ()) if isinstance(item, Mapping))


def _from_json_schema(schema: Mapping[str, Any]) -> Output:
    from jsonschema.exceptions import SchemaError
    from pydantic_core import from_json

    try:
        validator = JSONSchemaValidator(schema)
    except SchemaError as error:
        raise ConfigurationError(
            f"output_schema is not a JSON Schema: {error.message}", "Mend the schema."
        ) from error

    def dump(value: Any) -> bytes:
        data = dump_plain(value)
        if problems := validator.problems(from_json(data)):
            raise ValueError("; ".join(f"{item.field}: {item.message}" for item in problems))
        return data

    return Output(json_schema=schema, declared=True, dump=dump)
