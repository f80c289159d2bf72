"""Parameters that arrive as texts: parts of a resource's URI, and arguments of a prompt."""

import enum
import inspect
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.http import HttpRequest
from pydantic import PydanticUserError, TypeAdapter, ValidationError
from pydantic.fields import FieldInfo

from mcp_server.exceptions import ConfigurationError
from mcp_server.schema.signature import read_hints
from mcp_server.schema.validation import InvalidArguments, Problem


@dataclass(frozen=True, slots=True, kw_only=True)
class TextParameter:
    """One parameter; `choices` are those that its type names, as texts."""

    name: str
    description: str
    required: bool
    choices: tuple[str, ...]
    adapter: TypeAdapter[Any] = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class TextParameters:
    """What a function takes from texts; `context` and `request` are the parameters to inject."""

    parameters: tuple[TextParameter, ...]
    context: tuple[str, ...] = ()
    request: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of the parameters."""
        return tuple(item.name for item in self.parameters)

    def convert(self, texts: Mapping[str, str]) -> dict[str, Any]:
        """Return keyword arguments for the function: "5" for an `int` is 5.

        Raises:
            InvalidArguments: naming each text that is missing, unknown, or no value of its type.
        """
        problems = [Problem(name, "there is no such argument") for name in texts if name not in self.names]
        values: dict[str, Any] = {}
        for item in self.parameters:
            if item.name in texts:
                try:
                    values[item.name] = item.adapter.validate_strings(texts[item.name])
                except ValidationError as error:
                    problems.append(
                        Problem(item.name, error.errors(include_url=False, include_input=False)[0]["msg"])
                    )
            elif item.required:
                problems.append(Problem(item.name, "is missing"))
        if problems:
            raise InvalidArguments(problems, self.names)
        return values


def read_texts(
    function: Callable[..., Any], descriptions: Mapping[str, str], context_type: type
) -> TextParameters:
    """Return what a function takes from texts.

    Args:
        function: any callable with keyword parameters.
        descriptions: sentences for parameters, from the docstring.
        context_type: parameters annotated with it are injected, as are those annotated `HttpRequest`.

    Raises:
        ConfigurationError: when a parameter cannot be read from a text.
    """
    hints = read_hints(function)
    found: list[TextParameter] = []
    injected: dict[str, list[str]] = {"context": [], "request": []}
    for item in inspect.signature(function).parameters.values():
        annotation = hints.get(item.name, str)
        if _names(annotation, context_type):
            injected["context"].append(item.name)
        elif _names(annotation, HttpRequest):
            injected["request"].append(item.name)
        else:
            found.append(_read(item, annotation, descriptions.get(item.name, "")))
    return TextParameters(
        parameters=tuple(found), context=tuple(injected["context"]), request=tuple(injected["request"])
    )


def _names(annotation: Any, kind: type) -> bool:
    choices = typing.get_args(annotation) or (annotation,)
    return any(isinstance(item, type) and issubclass(item, kind) for item in choices)


def _read(item: inspect.Parameter, annotation: Any, description: str) -> TextParameter:
    if item.kind in {item.VAR_POSITIONAL, item.VAR_KEYWORD, item.POSITIONAL_ONLY}:
        raise ConfigurationError(f"its parameter {item} has no name.", "Give each parameter a name.")
    try:
        adapter: TypeAdapter[Any] = TypeAdapter(annotation)
    except (PydanticUserError, TypeError, NameError) as error:
        raise ConfigurationError(
            f"its parameter {item.name} cannot be read from a text.",
            "Annotate it str, int, date, an Enum or a Literal.",
        ) from error
    info = next((part for part in typing.get_args(annotation)[1:] if isinstance(part, FieldInfo)), None)
    return TextParameter(
        name=item.name,
        description=(info.description if info is not None else None) or description,
        required=item.default is inspect.Parameter.empty,
        choices=_choices(annotation),
        adapter=adapter,
    )


def _choices(annotation: Any) -> tuple[str, ...]:
    if typing.get_origin(annotation) is typing.Annotated:
        return _choices(typing.get_args(annotation)[0])
    members: Sequence[Any] = ()
    if typing.get_origin(annotation) is typing.Literal:
        members = typing.get_args(annotation)
    elif isinstance(annotation, type) and issubclass(annotation, enum.Enum):
        members = [item.value for item in annotation]
    return tuple(str(item) for item in members)
