"""One admitted HTTP request on its way through the protocol room."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest

from mcp_server.access.principal import Principal
from mcp_server.calls.running import Runner
from mcp_server.definitions.endpoint import Endpoint
from mcp_server.protocol.kernel import Connection
from mcp_server.protocol.replies import EVENT_STREAM
from mcp_server.protocol.sessions import Session


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """What a door hands to the engine.

    Args:
        request: Django's request, which guards and handlers see.
        headers: by lower-case name.
        body: as it came.
        principal: who calls.
        endpoint: which endpoint is called.
        runner: where sync code runs for this request.
        in_transaction: whether the thread that the request came in on is in a transaction.
    """

    request: HttpRequest
    headers: Mapping[str, str]
    body: bytes
    principal: Principal
    endpoint: Endpoint
    runner: Runner
    in_transaction: bool = False

    @property
    def takes_stream(self) -> bool:
        """Return whether the client said that it reads server-sent events."""
        accept = self.headers.get("accept", "")
        return EVENT_STREAM in accept or "text/*" in accept


@dataclass(frozen=True, slots=True, kw_only=True)
class Incoming:
    """One JSON-RPC request that passed the checks of its era and may be served."""

    exchange: Exchange
    id: int | str
    method: str
    params: dict[str, Any] | None
    version: str
    modern: bool
    connection: Connection
    session: Session | None = None
