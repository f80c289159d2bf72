"""One tool that runs JavaScript over the others.

`run` and `arun` are the door for tests, commands and projects (contract C20); `shutdown` ends this process's workers.
They load when first used: the worker imports this package too, and must not drag Django in.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mcp_server.codemode.door import arun, run
    from mcp_server.codemode.executor import shutdown

_HOMES = {"arun": "door", "run": "door", "shutdown": "executor"}

__all__ = ["arun", "run", "shutdown"]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"mcp_server.codemode.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'mcp_server.codemode' has no attribute {name!r}")
