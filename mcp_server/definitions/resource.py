"""`@resource`: data that clients may read (contract P03)."""

from dataclasses import dataclass, field
from typing import Any

from mcp_server.definitions.guards import Guard
from mcp_server.definitions.origin import Origin


@dataclass(frozen=True, kw_only=True, eq=False)
class ResourceDefinition:
    """One resource, or one template of many."""

    name: str
    title: str
    uri: str
    handler: Any = field(repr=False)
    origin: Origin
    description: str = ""
    mime_type: str | None = None
    guard: Guard | None = None
    group: str = ""
    tags: tuple[str, ...] = ()
    endpoints: tuple[str, ...] | None = None
    override: bool = False
