"""Who calls, where, and how code runs for them: all that a call needs beyond a name and arguments."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest

from mcp_server.access.narrowing import EVERYTHING, Narrowing
from mcp_server.access.principal import Principal, bind
from mcp_server.calls.middleware import run_middleware
from mcp_server.calls.running import PooledThreads, RequestThread, Runner
from mcp_server.definitions.context import Channel, ClientInfo, LogLevel
from mcp_server.definitions.endpoint import Endpoint
from mcp_server.definitions.registry import registry
from mcp_server.definitions.values import value
from mcp_server.exceptions import ToolError
from mcp_server.models.connections import is_in_transaction


class SilentChannel:
    """The way back to a client that listens to nothing."""

    waits = False

    async def progress(self, progress: float, total: float | None, message: str | None) -> None:
        """Drop it: nobody asked."""

    async def log(self, level: LogLevel, data: Any, logger: str | None) -> None:
        """Drop it: nobody listens."""

    def can_ask(self, method: str) -> bool:
        """Return that it cannot."""
        return False

    async def ask(self, method: str, params: Mapping[str, Any], key: str | None) -> Mapping[str, Any]:
        """Refuse.

        Raises:
            ToolError: always.
        """
        raise ToolError(
            "This client cannot ask its user a question. Ask the user in the conversation instead.", 400
        )


_SILENT = SilentChannel()
_UNKNOWN = ClientInfo()


@dataclass(slots=True)
class RunSpan:
    """The run of code that calls are made from: its id, and how many calls it has made."""

    id: str
    calls: int = 0

    def count(self) -> int:
        """Return the number of the next call, from 1."""
        self.calls += 1
        return self.calls


@value(kw_only=True)
class Caller:
    """A principal at an endpoint.

    Args:
        loop: where the channel and async handlers live.
        in_transaction: whether the entering thread is in a transaction: then no work of the call may leave it.
        in_atomic: whether a handler that calls this one is in a transaction of its own.
        run: the run that the call is made from.
        side: which tools are there: "all", on an endpoint with code mode those "inside" code for its programs, and
            those "beside" it for direct calls.
        session: id of the client's session, where it has one.
    """

    principal: Principal
    endpoint: Endpoint
    runner: Runner
    loop: asyncio.AbstractEventLoop
    in_transaction: bool = False
    in_atomic: bool = False
    channel: Channel = _SILENT
    client: ClientInfo = _UNKNOWN
    narrowing: Narrowing = EVERYTHING
    session: str | None = None
    run: RunSpan | None = None
    side: Literal["all", "inside", "beside"] = "all"

    def within(self, run: RunSpan) -> "Caller":
        """Return the same caller, whose calls are made by a run of code.

        They overlap on threads of our own, unless the entering thread is in a transaction: a test case or an admin
        action holds rows that no other connection sees, and locks that would keep another out.
        """
        runner = self.runner if self.in_transaction else PooledThreads(self.principal.request)
        return replace(self, run=run, runner=runner, side="inside")

    def runner_within(self, timeout: float | None) -> Runner:
        """Return what runs a sync handler that its author gave `timeout` seconds, or None.

        Nothing can take the request's own thread back from a handler that does not return: one with a deadline of its
        own runs on ours, where it is left behind.
        """
        if timeout is None or self.in_transaction or not isinstance(self.runner, RequestThread):
            return self.runner
        return PooledThreads(self.principal.request)

    def using(self, runner: Runner, *, in_atomic: bool = False) -> "Caller":
        """Return the same caller, whose code runs elsewhere; `in_atomic` within the transaction of another handler."""
        return replace(self, runner=runner, in_atomic=in_atomic)

    def speaking_through(self, channel: Channel) -> "Caller":
        """Return the same caller, with another way back to the client."""
        return replace(self, channel=channel)

    def on_side(self, side: Literal["all", "inside", "beside"]) -> "Caller":
        """Return the same caller, who sees another side of the endpoint's tools."""
        return replace(self, side=side)


async def enter_as(user: Any, endpoint_name: str) -> Caller:
    """Return the caller for a user that Python code names: commands, tests, a project's own code.

    Args:
        user: a Django user, or None for an anonymous one.
        endpoint_name: of the endpoint.

    Raises:
        UnknownEndpoint: when there is none of that name.
        PermissionDenied: when a middleware of the endpoint lets nobody through.
    """
    request = HttpRequest()
    request.method, request.path = "POST", f"/{endpoint_name}"
    host = next((item for item in settings.ALLOWED_HOSTS if not item.startswith(("*", "."))), "localhost")
    request.META.update({"SERVER_NAME": host, "SERVER_PORT": "80"})
    bind(request, user if user is not None else AnonymousUser(), None)
    runner = RequestThread()
    endpoint = registry.endpoint(endpoint_name)
    principal = Principal(request=request, credential="python")
    if await run_middleware(principal, endpoint.definition, runner.sync) is not None:
        raise PermissionDenied(f"A middleware of endpoint {endpoint_name!r} answers in place of its tools.")
    return Caller(
        principal=principal,
        endpoint=endpoint,
        runner=runner,
        loop=asyncio.get_running_loop(),
        in_transaction=await runner.sync(is_in_transaction),
    )
