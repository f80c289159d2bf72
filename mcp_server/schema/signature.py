"""A function's signature as a JSON Schema for its arguments, and the validation that goes with it."""

import dataclasses
import inspect
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

from django.http import HttpRequest
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PydanticUserError,
    TypeAdapter,
    ValidationError,
    create_model,
)
from pydantic.fields import FieldInfo
from pydantic_core import SchemaValidator

from mcp_server.exceptions import ConfigurationError
from mcp_server.schema.json_schema import read_schema
from mcp_server.schema.validation import (
    InvalidArguments,
    JSONSchemaValidator,
    Problem,
    read_problems,
    tighten,
    unknown_name,
)

EMPTY_OBJECT = {"type": "object", "properties": {}, "additionalProperties": False}


@dataclass(frozen=True, slots=True, kw_only=True)
class Arguments:
    """What a tool takes: the schema that clients see, and how their arguments become the function's.

    `json_schema` is an object schema, `names` are the clients' names, `context` and `request` the parameters to inject.
    """

    json_schema: Mapping[str, Any]
    names: tuple[str, ...]
    context: tuple[str, ...] = ()
    request: tuple[str, ...] = ()
    convert: Callable[[Mapping[str, Any]], dict[str, Any]] = field(repr=False)

    def validate(self, arguments: Mapping[str, Any] | None) -> dict[str, Any]:
        """Return keyword arguments for the function.

        Raises:
            InvalidArguments: naming each wrong field and why (contract T06).
        """
        return self.convert({} if arguments is None else arguments)


@dataclass(frozen=True, slots=True)
class _Parameter:
    name: str
    annotation: Any
    default: Any


def read_arguments(
    function: Callable[..., Any],
    *,
    input_schema: Any = None,
    descriptions: Mapping[str, str] | None = None,
    extra: str = "forbid",
    context_type: type = object,
) -> Arguments:
    """Return the arguments of a function.

    Args:
        function: any callable with keyword parameters.
        input_schema: instead of the signature: a model, a type, or a JSON Schema written by hand (contract T07).
        descriptions: sentences for parameters, from the docstring.
        extra: "forbid" refuses unknown arguments, "ignore" drops them.
        context_type: parameters annotated with it are injected.

    Raises:
        ConfigurationError: when the signature cannot be a schema.
    """
    hints = read_hints(function)
    parameters = inspect.signature(function).parameters.values()
    context = tuple(item.name for item in parameters if _injects(hints.get(item.name), context_type))
    request = tuple(item.name for item in parameters if _injects(hints.get(item.name), HttpRequest))
    own = [item for item in parameters if item.name not in {*context, *request}]
    injected = {"context": context, "request": request}
    if isinstance(input_schema, Mapping):
        return _from_json_schema(input_schema, own, injected)
    if input_schema is not None:
        return _from_type(input_schema, own, injected, extra)
    return _from_signature(own, hints, descriptions or {}, extra, injected)


def read_hints(function: Callable[..., Any]) -> dict[str, Any]:
    """Return the type hints of a callable.

    Raises:
        ConfigurationError: when a name in them cannot be resolved.
    """
    target = function if inspect.isroutine(function) else type(function).__call__
    try:
        return typing.get_type_hints(target, include_extras=True)
    except Exception as error:
        raise ConfigurationError(
            f"its annotations cannot be read: {error}",
            "Import the types that it names outside `if TYPE_CHECKING:`.",
        ) from error


def _injects(annotation: Any, kind: type) -> bool:
    if kind is object:
        return False
    choices = typing.get_args(annotation) or (annotation,)
    return any(isinstance(item, type) and issubclass(item, kind) for item in choices)


def _from_signature(
    own: list[inspect.Parameter],
    hints: Mapping[str, Any],
    descriptions: Mapping[str, str],
    extra: str,
    injected: dict[str, tuple[str, ...]],
) -> Arguments:
    fields: dict[str, Any] = {}
    python_names: dict[str, str] = {}
    for position, item in enumerate(own):
        if item.kind in {item.VAR_POSITIONAL, item.POSITIONAL_ONLY, item.VAR_KEYWORD}:
            raise ConfigurationError(
                f"its parameter {item} has no name that a client could send.",
                "Give each parameter a name and a type.",
            )
        # pydantic keeps some names for itself (`copy`, `schema`, `_x`), so fields get neutral names and an alias.
        fields[f"p{position}"] = _field(item, hints.get(item.name, Any), descriptions.get(item.name))
        python_names[f"p{position}"] = item.name
    config = ConfigDict(extra="ignore" if extra == "ignore" else "forbid", arbitrary_types_allowed=False)
    try:
        model = create_model("Arguments", __config__=config, **fields)
        schema = read_schema(TypeAdapter(model), "validation")
    except (PydanticUserError, TypeError, NameError, ValueError) as error:
        raise ConfigurationError(
            f"its parameters have no JSON Schema: {_first_line(error)}",
            "Use types that JSON can hold: str, int, list, Literal, a pydantic model, a dataclass, a TypedDict.",
        ) from error
    names = tuple(str(item.validation_alias) for item in model.model_fields.values())
    if len(set(names)) != len(names):
        raise ConfigurationError("two of its parameters have the same alias.", "Give each its own.")
    validator = SchemaValidator(tighten(model.__pydantic_core_schema__), _use_prebuilt=False)

    def convert(arguments: Mapping[str, Any]) -> dict[str, Any]:
        value = _validate(validator, arguments, names)
        return {python: getattr(value, name) for name, python in python_names.items()}

    schema = schema if names else {**EMPTY_OBJECT, "additionalProperties": extra == "ignore"}
    schema.setdefault("properties", {})
    return Arguments(json_schema=schema, names=names, convert=convert, **injected)


def _field(item: inspect.Parameter, annotation: Any, description: str | None) -> tuple[Any, Any]:
    default = item.default
    if isinstance(default, FieldInfo):
        annotation, default = Annotated[annotation, default], default.default
    infos = [part for part in typing.get_args(annotation)[1:] if isinstance(part, FieldInfo)]
    aliases = [info.validation_alias or info.alias for info in infos]
    settings: dict[str, Any] = {}
    # The last one counts, as pydantic has it where annotations are nested.
    settings["alias"] = next((alias for alias in reversed(aliases) if isinstance(alias, str)), item.name)
    if description and not any(info.description for info in infos):
        settings["description"] = description
    if default is not inspect.Parameter.empty and not _is_undefined(default):
        settings["default"] = default
    return annotation, Field(**settings)


def _is_undefined(value: Any) -> bool:
    from pydantic_core import PydanticUndefined

    return value is PydanticUndefined or value is Ellipsis


def _validate(validator: SchemaValidator, arguments: Any, names: tuple[str, ...]) -> Any:
    try:
        return validator.validate_python(arguments)
    except ValidationError as error:
        raise InvalidArguments(read_problems(error, names), names) from None


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__


def _from_type(
    declared: Any, own: list[inspect.Parameter], injected: dict[str, tuple[str, ...]], extra: str
) -> Arguments:
    try:
        adapter: TypeAdapter[Any] = declared if isinstance(declared, TypeAdapter) else TypeAdapter(declared)
        schema = read_schema(adapter, "validation")
    except (PydanticUserError, TypeError) as error:
        raise ConfigurationError(
            f"input_schema has no JSON Schema: {_first_line(error)}", "Give a model."
        ) from error
    if schema.get("type") != "object":
        raise ConfigurationError(
            "input_schema is not an object.", "Give a model, a TypedDict or a dataclass."
        )
    names = tuple(schema.get("properties", {}))
    validator = SchemaValidator(tighten(adapter.core_schema), _use_prebuilt=False)
    spread = _spreads(own, names)
    # Where the type says nothing of unknown fields, pydantic drops them; a model that misspells one should hear of it.
    strange_are_refused = extra == "forbid" and "additionalProperties" not in schema
    if strange_are_refused:
        schema["additionalProperties"] = False

    def convert(arguments: Mapping[str, Any]) -> dict[str, Any]:
        if strange_are_refused and (strange := [name for name in arguments if name not in names]):
            raise InvalidArguments([Problem(name, unknown_name(name, names)) for name in strange], names)
        value = _validate(validator, arguments, names)
        return _members(value) if spread else {own[0].name: value}

    return Arguments(json_schema=schema, names=names, convert=convert, **injected)


def _spreads(own: list[inspect.Parameter], names: tuple[str, ...]) -> bool:
    """Whether the function takes the fields one by one; a single parameter of another name takes the whole object."""
    return not (
        len(own) == 1 and own[0].name not in names and own[0].kind is not inspect.Parameter.VAR_KEYWORD
    )


def _members(value: Any) -> dict[str, Any]:
    if isinstance(value, BaseModel):
        return {name: getattr(value, name) for name in type(value).model_fields}
    if isinstance(value, Mapping):
        return dict(value)
    return {item.name: getattr(value, item.name) for item in dataclasses.fields(value)}


def _from_json_schema(
    schema: Mapping[str, Any], own: list[inspect.Parameter], injected: dict[str, tuple[str, ...]]
) -> Arguments:
    from jsonschema.exceptions import SchemaError

    if schema.get("type") != "object":
        raise ConfigurationError(
            "input_schema is not an object schema.", 'Write {"type": "object", "properties": ...}.'
        )
    try:
        validator = JSONSchemaValidator(schema)
    except SchemaError as error:
        raise ConfigurationError(
            f"input_schema is not a JSON Schema: {error.message}", "Mend the schema."
        ) from error
    properties = schema.get("properties")
    names = tuple(properties) if isinstance(properties, Mapping) else ()
    takes_rest = any(item.kind is item.VAR_KEYWORD for item in own)
    accepted = {item.name for item in own}
    spread = _spreads(own, names) or not own

    def convert(arguments: Mapping[str, Any]) -> dict[str, Any]:
        problems = validator.problems(dict(arguments))
        if problems:
            raise InvalidArguments(_name_unknown(problems, arguments, schema, names), names)
        if not spread:
            return {own[0].name: dict(arguments)}
        return {name: value for name, value in arguments.items() if takes_rest or name in accepted}

    return Arguments(json_schema=schema, names=names, convert=convert, **injected)


def _name_unknown(
    problems: list[Problem], arguments: Mapping[str, Any], schema: Mapping[str, Any], names: tuple[str, ...]
) -> list[Problem]:
    """Return the problems with one sentence for each unknown argument instead of the validator's single one."""
    unknown = [name for name in arguments if name not in names]
    if schema.get("additionalProperties") is not False or not unknown:
        return problems
    rest = [item for item in problems if "Additional properties" not in item.message]
    return [Problem(name, unknown_name(name, names)) for name in unknown] + rest
