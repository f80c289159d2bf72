"""`@resource`: data that clients may read (contract P03)."""

import functools
import inspect
import mimetypes
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar, overload

from mcp_server.definitions import naming
from mcp_server.definitions.completion import Completions, as_completions
from mcp_server.definitions.context import Context
from mcp_server.definitions.files import FolderReader, read_file
from mcp_server.definitions.guards import Guard, as_guard
from mcp_server.definitions.origin import Origin, find_origin
from mcp_server.definitions.registry import registry
from mcp_server.definitions.uris import URITemplate
from mcp_server.exceptions import ConfigurationError
from mcp_server.schema.docstrings import read_docstring
from mcp_server.schema.strings import TextParameters, read_texts

Function = TypeVar("Function", bound=Callable[..., Any])


@dataclass(frozen=True, kw_only=True, eq=False)
class ResourceDefinition:
    """One resource, or one template of many."""

    name: str
    title: str
    uri: URITemplate
    handler: Callable[..., Any] = field(repr=False)
    origin: Origin
    description: str = ""
    mime_type: str | None = None
    guard: Guard | None = None
    given_group: str | None = None
    tags: tuple[str, ...] = ()
    completions: Completions = field(default_factory=dict, repr=False)
    endpoints: tuple[str, ...] | None = None
    meta: Mapping[str, Any] = field(default_factory=dict)
    icons: tuple[Any, ...] = ()
    override: bool = False

    @functools.cached_property
    def is_async(self) -> bool:
        """Return whether the handler is a coroutine function."""
        return inspect.iscoroutinefunction(self.handler)

    @functools.cached_property
    def parameters(self) -> TextParameters:
        """Return what the handler takes from the URI."""
        with self.origin.explaining(f"Resource {self.name!r}"):
            return read_texts(self.handler, read_docstring(inspect.getdoc(self.handler)).parameters, Context)

    @functools.cached_property
    def group(self) -> str:
        """Return the group: given, or from where the function stands (contract T17)."""
        return self.given_group if self.given_group is not None else self.origin.group

    @property
    def where(self) -> str:
        """Return module and line, for messages to the author."""
        return self.origin.where


@overload
def resource(
    uri: str,
    *,
    name: str | None = None,
    title: str | None = None,
    description: str | None = None,
    enabled: Any = None,
    mime_type: str | None = None,
    complete: Any = None,
    group: str | None = None,
    tags: Sequence[str] = (),
    endpoints: Sequence[str] | None = None,
    meta: Mapping[str, Any] | None = None,
    icons: Sequence[Any] = (),
    override: bool = False,
) -> Callable[[Function], Function]: ...
@overload
def resource(uri: str, *, file: str | Path, **settings: Any) -> None: ...
@overload
def resource(uri: str, *, root: str | Path, **settings: Any) -> None: ...
def resource(uri: str, *, file: Any = None, root: Any = None, **settings: Any) -> Any:
    """Register a resource: as a decorator of the function that reads it, or by itself for files.

        @resource("order://{id}", complete={"id": Order.objects.values_list("pk", flat=True)})
        def order(id: int) -> OrderModel: ...

        resource("docs://guide", file=BASE_DIR / "guide.md")
        resource("docs://{+path}", root=BASE_DIR / "docs")

    Args:
        uri: of the resource, or of a template of many, whose variables are the function's parameters.
        file: a file to send.
        root: a folder whose files are sent; the URI has one variable `{+path}`, which cannot leave it.
        name: by default the function's or the file's name.
        title: by default the name in Title Case.
        description: by default the docstring.
        enabled: who may see and read it, as for tools.
        mime_type: by default from the file's name, or from what the function returns.
        complete: for each variable a list of values, a queryset of one column, or a function of the typed text.
        group, tags: for filtering; the group is by default the module's or the app's.
        endpoints: names of the endpoints that have it.
        meta: additional `_meta`.
        icons: as the protocol describes them.
        override: True replaces an earlier app's resource of the same URI.
    """
    if file is None and root is None:
        return functools.partial(_register, uri, settings)
    _register_files(uri, file, root, settings)
    return None


def _register(uri: str, settings: Mapping[str, Any], function: Function) -> Function:
    origin = find_origin(function)
    own_name = getattr(function, "__name__", "resource")

    def build(style: str) -> ResourceDefinition:
        name = settings.get("name") or naming.derive_name(own_name, style)
        with origin.explaining(f"Resource {name!r}"):
            documented = read_docstring(inspect.getdoc(function)).description
            return _define(uri, function, name, origin, {**settings, "documented": documented})

    registry.add("resource", build, origin)
    return function


def _register_files(
    uri: str, file: str | Path | None, root: str | Path | None, settings: Mapping[str, Any]
) -> None:
    frame = inspect.currentframe()
    caller = frame.f_back.f_back if frame is not None and frame.f_back is not None else None
    origin = Origin(caller.f_globals.get("__name__", "?"), caller.f_lineno) if caller else Origin("?", 0)
    path = Path(file or root or "")

    def build(style: str) -> ResourceDefinition:
        name = settings.get("name") or naming.derive_name(path.stem or "files", style)
        with origin.explaining(f"Resource {name!r}"):
            if file is not None and root is not None:
                raise ConfigurationError("file= and root= exclude each other.", "Give one of them.")
            if root is not None:
                return _define_folder(uri, path, name, origin, settings)
            if not path.is_file():
                raise ConfigurationError(f"{path} is no file.", "Give the path of one.")
            given = {**settings, "mime_type": settings.get("mime_type") or mimetypes.guess_type(path.name)[0]}
            return _define(uri, functools.partial(read_file, path), name, origin, given)

    registry.add("resource", build, origin)


def _define_folder(
    uri: str, path: Path, name: str, origin: Origin, settings: Mapping[str, Any]
) -> ResourceDefinition:
    if not path.is_dir():
        raise ConfigurationError(f"{path} is no folder.", "Give the path of one.")
    if URITemplate(uri).names != ("path",):
        raise ConfigurationError("root= needs one variable in the URI.", 'Write "docs://{+path}".')
    folder = FolderReader(path)
    complete = settings.get("complete") or {"path": folder.suggest}
    return _define(uri, folder.read, name, origin, {**settings, "complete": complete})


def _define(
    uri: str, handler: Callable[..., Any], name: str, origin: Origin, settings: Mapping[str, Any]
) -> ResourceDefinition:
    template = URITemplate(uri)
    endpoints = settings.get("endpoints")
    enabled = settings.get("enabled")
    if isinstance(endpoints, str):
        raise ConfigurationError("endpoints= is a text.", f"Write endpoints=[{endpoints!r}].")
    found = ResourceDefinition(
        name=name,
        title=settings.get("title") or naming.derive_title(name),
        uri=template,
        handler=handler,
        origin=origin,
        description=settings.get("description") or settings.get("documented") or "",
        mime_type=settings.get("mime_type"),
        guard=None if enabled is None else as_guard(enabled),
        given_group=settings.get("group"),
        tags=tuple(settings.get("tags", ())),
        completions=as_completions(settings.get("complete"), template.names),
        endpoints=None if endpoints is None else tuple(endpoints),
        meta=dict(settings.get("meta") or {}),
        icons=tuple(settings.get("icons", ())),
        override=settings.get("override", False),
    )
    if set(found.parameters.names) != set(template.names):
        raise ConfigurationError(
            f"its URI has the variables {', '.join(template.names) or 'none'}, its function takes "
            f"{', '.join(found.parameters.names) or 'none'}.",
            "Name them alike.",
        )
    return found
