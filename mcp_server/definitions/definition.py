"""What tools, prompts and resources have in common: fields, and the one way from a decorator to a definition."""

import functools
import inspect
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self, TypeVar

from mcp_server.definitions import naming
from mcp_server.definitions.completion import Completions, as_completions
from mcp_server.definitions.context import Context
from mcp_server.definitions.guards import Guard, as_guard
from mcp_server.definitions.origin import Origin, find_origin
from mcp_server.definitions.registry import Kind, registry
from mcp_server.definitions.settings import check_settings, refuse_unknown
from mcp_server.schema.docstrings import Documentation, read_docstring
from mcp_server.schema.strings import TextParameters, read_texts

Function = TypeVar("Function", bound=Callable[..., Any])


@dataclass(frozen=True, kw_only=True, eq=False)
class Definition:
    """One function as its author offers it to clients; its docstring and signature are read when first asked for."""

    kind: ClassVar[Kind]

    name: str
    title: str
    handler: Callable[..., Any] = field(repr=False)
    origin: Origin
    given_description: str | None = None
    guard: Guard | None = None
    given_group: str | None = None
    tags: tuple[str, ...] = ()
    endpoints: tuple[str, ...] | None = None
    override: bool = False
    meta: Mapping[str, Any] = field(default_factory=dict)
    icons: tuple[Any, ...] = ()

    @classmethod
    def decorate(cls, function: Any, settings: Mapping[str, Any]) -> Any:
        """Return the function unchanged and registered; without one, the decorator that does it.

        Raises:
            TypeError: for a setting that the decorator does not have, and for what is no function.
        """
        refuse_unknown(cls.kind, settings)
        if function is None:
            return functools.partial(cls._register, settings=settings)
        return cls._register(function, settings)

    @classmethod
    def _register(cls, function: Function, settings: Mapping[str, Any]) -> Function:
        if not callable(function):
            raise TypeError(
                f"@{cls.kind} decorates functions, not {function!r}; write @{cls.kind}(name=...) to give a name."
            )
        origin = find_origin(function)
        own_name = getattr(function, "__name__", type(function).__name__)

        def build(style: str) -> Definition:
            name = settings.get("name") or naming.derive_name(own_name, style)
            return cls.build(function, name, origin, settings)

        registry.add(cls.kind, build, origin)
        return function

    @classmethod
    def build(
        cls, handler: Callable[..., Any], name: str, origin: Origin, settings: Mapping[str, Any]
    ) -> Self:
        """Return the definition that a handler and settings make.

        Raises:
            ConfigurationError: naming the definition, its place and the first setting that is wrong.
        """
        with origin.explaining(f"{cls.kind.title()} {name!r}"):
            check_settings(cls.kind, settings)
            enabled, endpoints = settings.get("enabled"), settings.get("endpoints")
            found = cls(
                name=name,
                title=settings.get("title") or naming.derive_title(name),
                handler=handler,
                origin=origin,
                given_description=settings.get("description"),
                guard=None if enabled is None else as_guard(enabled),
                given_group=settings.get("group"),
                tags=tuple(settings.get("tags") or ()),
                endpoints=None if endpoints is None else tuple(endpoints),
                override=bool(settings.get("override")),
                meta=dict(settings.get("meta") or {}),
                icons=tuple(settings.get("icons") or ()),
                **cls.own_fields(settings),
            )
            found.verify()
            return found

    @classmethod
    def own_fields(cls, settings: Mapping[str, Any]) -> dict[str, Any]:
        """Return the fields that only this kind of definition has."""
        return {}

    def verify(self) -> None:
        """Raise a `ConfigurationError` for what would be wrong with it in any project."""

    @property
    def label(self) -> str:
        """Return what messages to its author call it."""
        return f"{self.kind.title()} {self.name!r}"

    def explaining(self) -> AbstractContextManager[None]:
        """Name the definition and its place in every configuration error that leaves the block."""
        return self.origin.explaining(self.label)

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
    def group(self) -> str:
        """Return the group: given, or from where the function stands (contract T17)."""
        return self.given_group if self.given_group is not None else self.origin.group

    @property
    def where(self) -> str:
        """Return module and line, for messages to the author."""
        return self.origin.where


@dataclass(frozen=True, kw_only=True, eq=False)
class TextDefinition(Definition):
    """A prompt or a resource: all that its handler takes arrives as texts, which a person may have completed."""

    complete: Any = field(default=None, repr=False)

    @classmethod
    def own_fields(cls, settings: Mapping[str, Any]) -> dict[str, Any]:
        return {"complete": settings.get("complete")}

    def verify(self) -> None:
        _ = self.parameters, self.completions

    @functools.cached_property
    def parameters(self) -> TextParameters:
        """Return what the handler takes."""
        with self.explaining():
            return read_texts(self.handler, self.documentation.parameters, Context)

    @functools.cached_property
    def completions(self) -> Completions:
        """Return what its parameters may be."""
        with self.explaining():
            return as_completions(self.complete, self.parameters.names)
