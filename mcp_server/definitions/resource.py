"""`@resource`: data that clients may read (contract P03)."""

import functools
import mimetypes
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, overload

from mcp_server.definitions import naming
from mcp_server.definitions.definition import Function, TextDefinition
from mcp_server.definitions.files import FolderReader, read_file
from mcp_server.definitions.origin import Origin, find_caller
from mcp_server.definitions.registry import registry
from mcp_server.definitions.settings import refuse_unknown
from mcp_server.definitions.uris import URITemplate
from mcp_server.exceptions import ConfigurationError


@dataclass(frozen=True, kw_only=True, eq=False)
class ResourceDefinition(TextDefinition):
    """One resource, or one template of many."""

    kind = "resource"

    uri: URITemplate
    mime_type: str | None = None

    @classmethod
    def own_fields(cls, settings: Mapping[str, Any]) -> dict[str, Any]:
        uri, mime_type = URITemplate(settings["uri"]), settings.get("mime_type")
        return {**super().own_fields(settings), "uri": uri, "mime_type": mime_type}

    def verify(self) -> None:
        if set(self.parameters.names) != set(self.uri.names):
            raise ConfigurationError(
                f"its URI has the variables {', '.join(self.uri.names) or 'none'}, its function takes "
                f"{', '.join(self.parameters.names) or 'none'}.",
                "Name them alike.",
            )
        super().verify()


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
    settings = {**settings, "uri": uri}
    if file is None and root is None:
        return ResourceDefinition.decorate(None, settings)
    refuse_unknown("resource", settings)
    _register_files(file, root, find_caller(), settings)
    return None


def _register_files(
    file: str | Path | None, root: str | Path | None, origin: Origin, settings: Mapping[str, Any]
) -> None:
    path = Path(file or root or "")

    def build(style: str) -> ResourceDefinition:
        name = settings.get("name") or naming.derive_name(path.stem or "files", style)
        with origin.explaining(f"Resource {name!r}"):
            if file is not None and root is not None:
                raise ConfigurationError("file= and root= exclude each other.", "Give one of them.")
            handler, found = _open_file(path) if file is not None else _open_folder(path, settings["uri"])
            # What is read has no docstring of its own.
            given = {key: value for key, value in settings.items() if value is not None}
            return ResourceDefinition.build(handler, name, origin, {"description": "", **found, **given})

    registry.add("resource", build, origin)


Opened = tuple[Callable[..., Any], dict[str, Any]]
"""A handler, and the settings that follow from what it reads."""


def _open_file(path: Path) -> Opened:
    if not path.is_file():
        raise ConfigurationError(f"{path} is no file.", "Give the path of one.")
    return functools.partial(read_file, path), {"mime_type": mimetypes.guess_type(path.name)[0]}


def _open_folder(path: Path, uri: str) -> Opened:
    if not path.is_dir():
        raise ConfigurationError(f"{path} is no folder.", "Give the path of one.")
    if URITemplate(uri).names != ("path",):
        raise ConfigurationError("root= needs one variable in the URI.", 'Write "docs://{+path}".')
    folder = FolderReader(path)
    return folder.read, {"complete": {"path": folder.suggest}}
