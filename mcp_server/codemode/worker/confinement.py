"""What the worker takes away from itself, as far as the system allows, and what it then finds it still can do."""

import resource
from typing import Any

from mcp_server.codemode.worker.realm import Realm


def before_v8() -> dict[str, Any]:
    """Lower what can be lowered before V8 starts; return a report."""
    for name in ("CORE", "FSIZE"):
        resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (0, 0))
    return {}


def after_v8(realm: Realm, memory: int, *, jitless: bool) -> dict[str, Any]:
    """Close the rest once V8 has its threads and memory; return a report."""
    return {}
