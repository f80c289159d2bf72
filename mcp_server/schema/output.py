"""A function's return annotation as a JSON Schema, and the conversion that goes with it."""

import dataclasses
import inspect
import types
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel, PydanticUserError, TypeAdapter
from typing_extensions import is_typeddict

from mcp_server.exceptions import ConfigurationError
from mcp_server.schema.json_schema import read_schema
from mcp_server.schema.signature import read_hints
from mcp_server.schema.validation import JSONSchemaValidator


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """What a tool gives back.

    `json_schema` describes the plain value, `is_list` whether that is a list, `admits_none` whether it may be null,
    `declared` whether clients are told: the author gave a schema, or annotated a model, a TypedDict, a dataclass or a
    list of them (contract T11). `dump` gives the value as JSON bytes and raises ValueError where it does not fit.
    """

    json_schema: Mapping[str, Any]
    is_list: bool
    admits_none: bool
    declared: bool
    dump: Callable[[Any], bytes] = field(repr=False)

    @property
    def is_object(self) -> bool:
        """Return whether the value is always an object, as `structuredContent` must be."""
        return self.json_schema.get("type") == "object"

    @property
    def wrapped_schema(self) -> Mapping[str, Any]:
        """Return the schema of `structuredContent`: lists under `results`, scalars under `result` (contract R03)."""
        if self.is_object:
            return self.json_schema
        inner = {key: value for key, value in self.json_schema.items() if key != "$defs"}
        key = "results" if self.is_list else "result"
        wrapped: dict[str, Any] = {"type": "object", "properties": {key: inner}, "required": [key]}
        if "$defs" in self.json_schema:
            wrapped["$defs"] = self.json_schema["$defs"]
        return wrapped


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
    except (PydanticUserError, TypeError, ValueError):
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
    adapter: TypeAdapter[Any] = annotation if isinstance(annotation, TypeAdapter) else TypeAdapter(annotation)
    schema = read_schema(adapter, "serialization")
    is_list = schema.get("type") == "array"
    fields = _attribute_fields(annotation)

    def dump(value: Any) -> bytes:
        plain = _read_attributes(value, fields, is_list=is_list)
        checked = adapter.validate_python(plain, from_attributes=True)
        return adapter.dump_json(checked, by_alias=True)

    return Output(
        json_schema=schema, is_list=is_list, admits_none=_admits_none(schema), declared=declared, dump=dump
    )


def _admits_none(schema: Mapping[str, Any]) -> bool:
    kind = schema.get("type")
    if kind == "null" or (isinstance(kind, list) and "null" in kind):
        return True
    return any(_admits_none(item) for item in schema.get("anyOf", ()) if isinstance(item, Mapping))


def _attribute_fields(annotation: Any) -> Sequence[str]:
    """Return the fields to read from a model instance where pydantic cannot do so itself: TypedDicts, dataclasses."""
    arguments = typing.get_args(annotation)
    if arguments and typing.get_origin(annotation) is not None:
        return next((found for item in arguments if (found := _attribute_fields(item))), ())
    if isinstance(annotation, type) and (is_typeddict(annotation) or dataclasses.is_dataclass(annotation)):
        return tuple(typing.get_type_hints(annotation))
    return ()


def _read_attributes(value: Any, fields: Sequence[str], *, is_list: bool) -> Any:
    if (
        is_list
        and not isinstance(value, list | tuple | str | bytes | Mapping)
        and isinstance(value, Iterable)
    ):
        value = list(value)  # a QuerySet or a generator
    if not fields:
        return value
    if is_list and isinstance(value, list | tuple):
        return [_read_instance(item, fields) for item in value]
    return _read_instance(value, fields)


def _read_instance(value: Any, fields: Sequence[str]) -> Any:
    from django.db.models import Model

    return {name: getattr(value, name) for name in fields} if isinstance(value, Model) else value


def _from_json_schema(schema: Mapping[str, Any]) -> Output:
    from jsonschema.exceptions import SchemaError
    from pydantic_core import from_json, to_json

    try:
        validator = JSONSchemaValidator(schema)
    except SchemaError as error:
        raise ConfigurationError(
            f"output_schema is not a JSON Schema: {error.message}", "Mend the schema."
        ) from error

    def dump(value: Any) -> bytes:
        data = to_json(value)
        if problems := validator.problems(from_json(data)):
            raise ValueError("; ".join(f"{item.field}: {item.message}" for item in problems))
        return data

    return Output(
        json_schema=schema,
        is_list=schema.get("type") == "array",
        admits_none=_admits_none(schema),
        declared=True,
        dump=dump,
    )
