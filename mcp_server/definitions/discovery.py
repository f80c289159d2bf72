"""Imports every app's `mcp_tools`, module or package (contract T01, T20)."""

import logging
import pkgutil
import traceback
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType

from django.apps import apps

from mcp_server.conf import options
from mcp_server.definitions.registry import registry
from mcp_server.exceptions import ConfigurationError

MODULE = "mcp_tools"
logger = logging.getLogger("mcp_server")


def discover() -> None:
    """Import the definitions of all installed apps; what cannot be imported is collected, never skipped."""
    chosen = options().autodiscover
    for config in apps.get_app_configs():
        if chosen is False or (
            isinstance(chosen, tuple) and config.name not in chosen and config.label not in chosen
        ):
            continue
        name = f"{config.name}.{MODULE}"
        if find_spec(name) is not None:
            _import_tree(name)


def _import_tree(name: str) -> None:
    module = _import(name)
    if module is not None:
        for child in _children(module):
            _import_tree(child)


def _children(module: ModuleType) -> Iterator[str]:
    paths = getattr(module, "__path__", None)
    if paths is not None:
        for item in pkgutil.iter_modules(paths):
            yield f"{module.__name__}.{item.name}"


def _import(name: str) -> ModuleType | None:
    try:
        return import_module(name)
    except Exception as error:
        logger.exception("Cannot import %s", name)
        registry.add_broken(_explain(name, error))
        return None


def _explain(name: str, error: Exception) -> ConfigurationError:
    if isinstance(error, SyntaxError):
        place = f"{error.filename}:{error.lineno}"
    else:
        spec = find_spec(name)
        own = spec.origin if spec is not None else None
        frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == own]
        place = f"{frames[-1].filename}:{frames[-1].lineno}" if frames else str(own)
    reason = error.message if isinstance(error, ConfigurationError) else f"{type(error).__name__}: {error}"
    return ConfigurationError(
        f"{name} cannot be imported. {reason}", "Mend the module; until then no endpoint is served.", place
    )
