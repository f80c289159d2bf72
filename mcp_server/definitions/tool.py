"""`@tool`: a function becomes a definition, and stays the function that it was (contract T22)."""

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar, overload

from mcp_server.definitions import naming
from mcp_server.definitions.annotations import Annotations, as_annotations
from mcp_server.definitions.caching import CacheOptions, as_cache_options
from mcp_server.definitions.context import Context
from mcp_server.definitions.guards import Guard, as_guard
from mcp_server.definitions.origin import Origin, find_origin
from mcp_server.definitions.registry import registry
from mcp_server.definitions.results import CONTENT_TYPES, ToolResult
from mcp_server.definitions.settings import check_settings, refuse_unknown
from mcp_server.exceptions import ConfigurationError
from mcp_server.schema.docstrings import Documentation, read_docstring
from mcp_server.schema.output import Output, read_output
from mcp_server.schema.signature import Arguments, read_arguments

Function = TypeVar("Function", bound=Callable[..., Any])
ResultFormat = Literal["text", "json"]


@dataclass(frozen=True, kw_only=True, eq=False)
class ToolDefinition:
    """One tool as its author wrote it. Schemas are made when first asked for, so that defining costs nothing."""

    name: str
    title: str
    handler: Callable[..., Any] = field(repr=False)
    origin: Origin
    given_description: str | None = None
    guard: Guard | None = None
    annotations: Annotations | None = None
    given_group: str | None = None
    tags: tuple[str, ...] = ()
    input_schema: Any = field(default=None, repr=False)
    output_schema: Any = field(default=None, repr=False)
    input_examples: tuple[Mapping[str, Any], ...] = ()
    cache: CacheOptions | None = None
    result_format: ResultFormat | None = None
    code_mode: bool = True
    endpoints: tuple[str, ...] | None = None
    timeout: float | None = None
    atomic: bool | None = None
    extra: Literal["forbid", "ignore"] = "forbid"
    override: bool = False
    meta: Mapping[str, Any] = field(default_factory=dict)
    icons: tuple[Any, ...] = ()
    recorded: bool = True

    @functools.cached_property
    def is_async(self) -> bool:
        """Return whether the handler is a coroutine function."""
        called = self.handler if inspect.isroutine(self.handler) else type(self.handler).__call__
        return inspect.iscoroutinefunction(self.handler) or inspect.iscoroutinefunction(called)

    @functools.cached_property
    def documentation(self) -> Documentation:
        """Return what the docstring says."""
        return read_docstring(inspect.getdoc(self.handler))

    @property
    def description(self) -> str:
        """Return the given description, else the docstring's."""
        return self.documentation.description if self.given_description is None else self.given_description

    @functools.cached_property
    def arguments(self) -> Arguments:
        """Return what the tool takes.

        Raises:
            ConfigurationError: when the signature cannot be a schema.
        """
        with self.origin.explaining(f"Tool {self.name!r}"):
            return read_arguments(
                self.handler,
                input_schema=self.input_schema,
                descriptions=self.documentation.parameters,
                extra=self.extra,
                context_type=Context,
            )

    @functools.cached_property
    def output(self) -> Output | None:
        """Return what the tool gives back, where its author said so.

        Raises:
            ConfigurationError: when `output_schema` cannot be used.
        """
        with self.origin.explaining(f"Tool {self.name!r}"):
            return read_output(self.handler, self.output_schema, (*CONTENT_TYPES, ToolResult))

    @functools.cached_property
    def group(self) -> str:
        """Return the group: given, or from where the function stands (contract T17)."""
        return self.given_group if self.given_group is not None else self.origin.group

    @property
    def where(self) -> str:
        """Return module and line, for messages to the author."""
        return self.origin.where


@overload
def tool(function: Function, /) -> Function: ...
@overload
def tool(
    *,
    name: str | None = None,
    title: str | None = None,
    description: str | None = None,
    enabled: Any = None,
    input_schema: Any = None,
    output_schema: Any = None,
    annotations: Any = None,
    read_only: bool | None = None,
    destructive: bool | None = None,
    idempotent: bool | None = None,
    open_world: bool | None = None,
    input_examples: Sequence[Mapping[str, Any]] = (),
    group: str | None = None,
    tags: Sequence[str] = (),
    cache: Any = None,
    result_format: ResultFormat | None = None,
    code_mode: bool = True,
    endpoints: Sequence[str] | None = None,
    timeout: float | None = None,
    atomic: bool | None = None,
    extra: Literal["forbid", "ignore"] = "forbid",
    override: bool = False,
    meta: Mapping[str, Any] | None = None,
    icons: Sequence[Any] = (),
) -> Callable[[Function], Function]: ...
def tool(function: Any = None, /, **settings: Any) -> Any:
    """Return the function unchanged, and register it as a tool of this project.

    Args:
        name: by default the function's name in kebab-case (`TOOL_NAMES`).
        title: by default the name in Title Case.
        description: by default the docstring; its parameter sections describe the fields.
        enabled: who may see and call it: a permission string, a list of them, a guard, or a function of the request.
        input_schema: instead of the signature: a model, a type, or a JSON Schema 2020-12 written by hand.
        output_schema: instead of the return annotation, likewise.
        annotations: "read", "create", "update", "delete", or a dict of the protocol's hints.
        read_only, destructive, idempotent, open_world: single hints; they override `annotations`.
        input_examples: argument objects that show how to call it; checked against the schema.
        group, tags: for search and filtering; the group is by default the module's or the app's.
        cache: how long an answer is kept: "5m", a timedelta, seconds, or `CacheOptions`.
        result_format: "text" or "json"; by default the endpoint's.
        code_mode: False keeps the tool out of code.
        endpoints: names of the endpoints that have it; by default those that name it, or the default one's rules.
        timeout: seconds after which a call ends with status 504.
        atomic: True wraps a sync handler in a transaction; None follows ATOMIC_REQUESTS.
        extra: "ignore" drops unknown arguments instead of refusing them.
        override: True replaces an earlier app's tool of the same name.
        meta: additional `_meta` of the tool.
        icons: icons of the tool, as the protocol describes them.
    """
    refuse_unknown(settings)
    if function is not None:
        return _register(function, settings)
    return functools.partial(_register, settings=settings)


def _register(function: Function, settings: dict[str, Any]) -> Function:
    if not callable(function):
        raise TypeError(f"@tool decorates functions, not {function!r}; write @tool(name=...) to give a name.")
    origin = find_origin(function)
    style_name = getattr(function, "__name__", type(function).__name__)

    def build(style: str) -> ToolDefinition:
        name = settings.get("name") or naming.derive_name(style_name, style)
        return build_tool(function, name, origin, settings)

    registry.add("tool", build, origin)
    return function


def build_tool(
    function: Callable[..., Any], name: str, origin: Origin, settings: Mapping[str, Any]
) -> ToolDefinition:
    """Return the definition that a function and the settings of `@tool` make.

    Raises:
        ConfigurationError: naming the tool, its place and the first setting that is wrong.
    """
    with origin.explaining(f"Tool {name!r}"):
        check_settings(settings)
        return _define(function, name, origin, settings)


_TAKEN_AS_THEY_ARE = (
    "input_schema", "output_schema", "result_format", "code_mode", "timeout", "atomic", "extra", "override",
)  # fmt: skip


def _define(
    function: Callable[..., Any], name: str, origin: Origin, settings: Mapping[str, Any]
) -> ToolDefinition:
    enabled = settings.get("enabled")
    endpoints = settings.get("endpoints")
    if not naming.PROTOCOL_NAME.fullmatch(name):
        raise ConfigurationError(
            "its name cannot be sent.", "Use letters, digits, `-` and `_`, at most 128 of them."
        )
    return ToolDefinition(
        name=name,
        title=settings.get("title") or naming.derive_title(name),
        handler=function,
        origin=origin,
        given_description=settings.get("description"),
        guard=None if enabled is None else as_guard(enabled),
        annotations=as_annotations(settings),
        given_group=settings.get("group"),
        tags=tuple(settings.get("tags") or ()),
        input_examples=tuple(settings.get("input_examples") or ()),
        cache=as_cache_options(settings.get("cache")),
        endpoints=None if endpoints is None else tuple(endpoints),
        meta=dict(settings.get("meta") or {}),
        icons=tuple(settings.get("icons") or ()),
        **{key: settings[key] for key in _TAKEN_AS_THEY_ARE if settings.get(key) is not None},
    )
