"""Where a definition stands in the project's code, for messages to its author and for its group."""

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from django.apps import apps

from mcp_server.definitions.naming import derive_group
from mcp_server.exceptions import ConfigurationError


@dataclass(frozen=True, slots=True)
class Origin:
    """Module and line of a definition."""

    module: str
    line: int

    @property
    def where(self) -> str:
        """Return `shop.mcp_tools:12`."""
        return f"{self.module}:{self.line}"

    @property
    def group(self) -> str:
        """Return the group that follows from the module (contract T17)."""
        config = apps.get_containing_app_config(self.module) if apps.ready else None
        return derive_group(self.module, config.label if config else None)

    @contextmanager
    def explaining(self, subject: str) -> Iterator[None]:
        """Name the subject and this place in every configuration error that leaves the block."""
        try:
            yield
        except ConfigurationError as error:
            if error.where:
                raise
            raise ConfigurationError(f"{subject}: {error.message}", error.hint, self.where) from error


def find_origin(function: Callable[..., Any]) -> Origin:
    """Return where a function was written, seen through decorators that keep `__wrapped__`."""
    inner = inspect.unwrap(function)
    code = getattr(inner, "__code__", None)
    return Origin(getattr(inner, "__module__", None) or "?", code.co_firstlineno if code else 0)


def find_caller() -> Origin:
    """Return where the function that asks was called."""
    frame = inspect.currentframe()
    for _ in range(2):
        frame = frame.f_back if frame is not None else None
    return Origin("?", 0) if frame is None else Origin(frame.f_globals.get("__name__", "?"), frame.f_lineno)
