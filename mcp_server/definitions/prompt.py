"""`@prompt`: messages that a person may start from (contract P03)."""

from dataclasses import dataclass, field
from typing import Any

from mcp_server.definitions.guards import Guard
from mcp_server.definitions.origin import Origin


@dataclass(frozen=True, kw_only=True, eq=False)
class PromptDefinition:
    """One prompt."""

    name: str
    title: str
    handler: Any = field(repr=False)
    origin: Origin
    description: str = ""
    guard: Guard | None = None
    group: str = ""
    tags: tuple[str, ...] = ()
    endpoints: tuple[str, ...] | None = None
    override: bool = False

    @property
    def where(self) -> str:
        """Return module and line, for messages to the author."""
        return self.origin.where
