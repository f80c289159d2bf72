"""MCP endpoints for Django projects, with Code Mode.

The public names below are loaded when first used, so that a settings module may import this package and starting a
project costs nothing (contract Q08).
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mcp_server.definitions.caching import CacheOptions
    from mcp_server.definitions.context import Context
    from mcp_server.definitions.endpoint import endpoint
    from mcp_server.definitions.guards import (
        has_perm,
        has_scope,
        in_group,
        is_authenticated,
        is_staff,
        is_superuser,
    )
    from mcp_server.definitions.model_tools import model_tools
    from mcp_server.definitions.prompt import prompt
    from mcp_server.definitions.resource import resource
    from mcp_server.definitions.results import Audio, EmbeddedResource, Image, ResourceLink, ToolResult
    from mcp_server.definitions.tool import tool
    from mcp_server.exceptions import Guidance, ToolError
    from mcp_server.urls import mcp_urls

_HOMES = {
    "Audio": "definitions.results",
    "CacheOptions": "definitions.caching",
    "Context": "definitions.context",
    "EmbeddedResource": "definitions.results",
    "Guidance": "exceptions",
    "Image": "definitions.results",
    "ResourceLink": "definitions.results",
    "ToolError": "exceptions",
    "ToolResult": "definitions.results",
    "endpoint": "definitions.endpoint",
    "has_perm": "definitions.guards",
    "has_scope": "definitions.guards",
    "in_group": "definitions.guards",
    "is_authenticated": "definitions.guards",
    "is_staff": "definitions.guards",
    "is_superuser": "definitions.guards",
    "mcp_urls": "urls",
    "model_tools": "definitions.model_tools",
    "prompt": "definitions.prompt",
    "resource": "definitions.resource",
    "tool": "definitions.tool",
}

__all__ = [
    "Audio",
    "CacheOptions",
    "Context",
    "EmbeddedResource",
    "Guidance",
    "Image",
    "ResourceLink",
    "ToolError",
    "ToolResult",
    "endpoint",
    "has_perm",
    "has_scope",
    "in_group",
    "is_authenticated",
    "is_staff",
    "is_superuser",
    "mcp_urls",
    "model_tools",
    "prompt",
    "resource",
    "tool",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        value = getattr(import_module(f"mcp_server.{_HOMES[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'mcp_server' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
