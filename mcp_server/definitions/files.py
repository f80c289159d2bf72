"""Files as resources; a path that a client sends cannot leave its folder (contract P03)."""

import mimetypes
import os
from collections.abc import Iterator
from pathlib import Path

from mcp_server.definitions.results import EmbeddedResource
from mcp_server.exceptions import ToolError

LARGEST = 8 * 1024 * 1024
MOST_SEEN = 10_000
"""So many entries of a folder are looked at for suggestions."""


def read_file(path: Path) -> bytes:
    """Return a file's content.

    Raises:
        ToolError: when it is gone (404) or too large (413).
    """
    try:
        if path.stat().st_size > LARGEST:
            raise ToolError(f"The file is larger than {LARGEST} bytes.", 413)
        return path.read_bytes()
    except OSError as error:
        raise ToolError("There is no such file.", 404) from error


class FolderReader:
    """The files below one folder, seen by relative paths. Hidden ones, and those behind links out of it, are not there."""

    def __init__(self, root: Path) -> None:
        self._root = root.resolve()

    def read(self, path: str) -> EmbeddedResource:
        """Return the file at a relative path, with the type that its name says.

        Raises:
            ToolError: with status 404 for every path that is no file in here, whatever else it is.
        """
        found = self._find(path)
        if found is None:
            raise ToolError("There is no such file.", 404)
        mime_type = mimetypes.guess_type(found.name)[0] or "application/octet-stream"
        return EmbeddedResource(uri="", blob=read_file(found), mime_type=mime_type)

    def _find(self, path: str) -> Path | None:
        parts = path.split("/")
        if "\\" in path or any(part in {"", ".", ".."} or part.startswith(".") for part in parts):
            return None
        try:
            # Resolved, so that a link that points out of the folder is seen for what it is.
            found = self._root.joinpath(*parts).resolve(strict=True)
        except (OSError, ValueError):
            return None
        return found if found.is_relative_to(self._root) and found.is_file() else None

    def suggest(self, typed: str) -> Iterator[str]:
        """Yield relative paths of files that begin with what was typed."""
        return (path for path in self._paths() if path.startswith(typed))

    def _paths(self) -> Iterator[str]:
        seen = 0
        for folder, folders, files in os.walk(self._root):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            for name in sorted(files):
                seen += 1
                if seen > MOST_SEEN:
                    return
                path = Path(folder, name).relative_to(self._root).as_posix()
                if self._find(path) is not None:
                    yield path
