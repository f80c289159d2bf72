"""`@prompt`: messages that a person may start from (contract P03)."""

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar, overload

from mcp_server.definitions import naming
from mcp_server.definitions.completion import Completions, as_completions
from mcp_server.definitions.context import Context
from mcp_server.definitions.guards import Guard, as_guard
from mcp_server.definitions.origin import Origin, find_origin
from mcp_server.definitions.registry import registry
from mcp_server.exceptions import ConfigurationError
from mcp_server.schema.docstrings import Documentation, read_docstring
from mcp_server.schema.strings import TextParameters, read_texts

Function = TypeVar("Function", bound=Callable[..., Any])


@dataclass(frozen=True, kw_only=True, eq=False)
class PromptDefinition:
    """One prompt. Its handler gives a text, a content item, a message `{"role": ..., "content": ...}`, or a list."""

    name: str
    title: str
    handler: Callable[..., Any] = field(repr=False)
    origin: Origin
    given_description: str | None = None
    guard: Guard | None = None
    given_group: str | None = None
    tags: tuple[str, ...] = ()
    complete: Any = field(default=None, repr=False)
    endpoints: tuple[str, ...] | None = None
    meta: Mapping[str, Any] = field(default_factory=dict)
    icons: tuple[Any, ...] = ()
    override: bool = False

    @functools.cached_property
    def is_async(self) -> bool:
        """Return whether the handler is a coroutine function."""
        return inspect.iscoroutinefunction(self.handler)

    @functools.cached_property
    def documentation(self) -> Documentation:
        """Return what the docstring says."""
        return read_docstring(inspect.getdoc(self.handler))

    @property
    def description(self) -> str:
        """Return the given description, else the docstring's."""
        return self.documentation.description if self.given_description is None else self.given_description

    @functools.cached_property
    def parameters(self) -> TextParameters:
        """Return what the prompt takes; the protocol sends all arguments as texts."""
        with self.origin.explaining(f"Prompt {self.name!r}"):
            return read_texts(self.handler, self.documentation.parameters, Context)

    @functools.cached_property
    def completions(self) -> Completions:
        """Return what its arguments may be."""
        with self.origin.explaining(f"Prompt {self.name!r}"):
            return as_completions(self.complete, self.parameters.names)

    @functools.cached_property
    def group(self) -> str:
        """Return the group: given, or from where the function stands (contract T17)."""
        return self.given_group if self.given_group is not None else self.origin.group

    @property
    def where(self) -> str:
        """Return module and line, for messages to the author."""
        return self.origin.where


@overload
def prompt(function: Function, /) -> Function: ...
@overload
def prompt(
    *,
    name: str | None = None,
    title: str | None = None,
    description: str | None = None,
    enabled: Any = None,
    complete: Any = None,
    group: str | None = None,
    tags: Sequence[str] = (),
    endpoints: Sequence[str] | None = None,
    meta: Mapping[str, Any] | None = None,
    icons: Sequence[Any] = (),
    override: bool = False,
) -> Callable[[Function], Function]: ...
def prompt(function: Any = None, /, **settings: Any) -> Any:
    """Return the function unchanged, and register it as a prompt of this project.

    Args:
        name: by default the function's name in kebab-case (`TOOL_NAMES`).
        title: by default the name in Title Case.
        description: by default the docstring; its parameter sections describe the arguments.
        enabled: who may see and use it, as for tools.
        complete: for each argument a list of values, a queryset of one column, or a function of the typed text.
        group, tags: for filtering; the group is by default the module's or the app's.
        endpoints: names of the endpoints that have it.
        meta: additional `_meta`.
        icons: as the protocol describes them.
        override: True replaces an earlier app's prompt of the same name.
    """
    if function is not None:
        return _register(function, settings)
    return functools.partial(_register, settings=settings)


def _register(function: Function, settings: Mapping[str, Any]) -> Function:
    origin = find_origin(function)
    own_name = getattr(function, "__name__", "prompt")

    def build(style: str) -> PromptDefinition:
        name = settings.get("name") or naming.derive_name(own_name, style)
        with origin.explaining(f"Prompt {name!r}"):
            return _define(function, name, origin, settings)

    registry.add("prompt", build, origin)
    return function


def _define(
    function: Callable[..., Any], name: str, origin: Origin, settings: Mapping[str, Any]
) -> PromptDefinition:
    endpoints = settings.get("endpoints")
    if isinstance(endpoints, str):
        raise ConfigurationError("endpoints= is a text.", f"Write endpoints=[{endpoints!r}].")
    enabled = settings.get("enabled")
    found = PromptDefinition(
        name=name,
        title=settings.get("title") or naming.derive_title(name),
        handler=function,
        origin=origin,
        given_description=settings.get("description"),
        guard=None if enabled is None else as_guard(enabled),
        given_group=settings.get("group"),
        tags=tuple(settings.get("tags", ())),
        complete=settings.get("complete"),
        endpoints=None if endpoints is None else tuple(endpoints),
        meta=dict(settings.get("meta") or {}),
        icons=tuple(settings.get("icons", ())),
        override=settings.get("override", False),
    )
    _ = found.parameters, found.completions
    return found
