"""The spine: find, permitted, validate, run, shape, record. Direct calls and calls from code walk it alike (design 5.1)."""

import asyncio
from collections.abc import Mapping
from functools import partial
from typing import Any

from mcp_server.access.permission import apermits, choose_permitted, needs_await, needs_thread, permits
from mcp_server.access.rates import count_call
from mcp_server.calls import background, tracing
from mcp_server.calls.abandonment import Work, abandoned
from mcp_server.calls.caching import KeptAnswer, place_answer
from mcp_server.calls.caller import Caller
from mcp_server.calls.context import CallContext
from mcp_server.calls.failures import Ending, explain, telling_apart
from mcp_server.calls.recording import RecordedCall
from mcp_server.calls.results import Outcome, shape
from mcp_server.calls.transactions import atomic_aliases, atomic_on
from mcp_server.definitions.guards import refuse
from mcp_server.definitions.settings import LONGEST_TIMEOUT
from mcp_server.definitions.tool import ToolDefinition
from mcp_server.exceptions import ToolError, UnknownTool
from mcp_server.policy.rates import may_be_limited
from mcp_server.schema.instances import holds_instances

DEFAULT_TIMEOUT = 60.0


async def visible_tools(caller: Caller) -> list[ToolDefinition]:
    """Return the tools that the caller may see and call, sorted by name."""
    wanted = [item for item in caller.endpoint.tools.values() if _is_offered(item, caller)]
    return await choose_permitted(wanted, caller.endpoint.definition, caller.principal, caller.runner)


async def call_tool(
    caller: Caller,
    name: str,
    arguments: Mapping[str, Any] | None,
    *,
    definition: ToolDefinition | None = None,
) -> Outcome:
    """Return how the call ends; whatever goes wrong within the tool is in the outcome.

    Args:
        caller: who calls, and how code runs for them.
        name: of the tool.
        arguments: as the client sent them; hostile.
        definition: a tool that stands on no list, such as `code` itself; it is called like any other.

    Raises:
        UnknownTool: when there is no such tool for this caller (contract G02).
    """
    call = _Call(caller, name, arguments)
    with tracing.call_span(caller.endpoint.name, name, caller.run.id if caller.run is not None else None):
        return await _carry_out(call, definition)


async def _carry_out(call: "_Call", definition: ToolDefinition | None) -> Outcome:
    try:
        found = definition or _find(call.caller, call.name)
        ending = await call.perform(found)
    except UnknownTool:
        await call.record(Ending(Outcome(), "denied"))
        raise
    except asyncio.CancelledError:
        call.leave()
        if not call.caller.in_transaction:
            await call.record(Ending(Outcome(), "cancelled"))
        raise
    await call.record(ending)
    return ending.outcome


def _is_offered(definition: ToolDefinition, caller: Caller) -> bool:
    if caller.side != "all" and _is_in_code(definition, caller) != (caller.side == "inside"):
        return False
    return caller.narrowing.allows(definition)


def _is_in_code(definition: ToolDefinition, caller: Caller) -> bool:
    """Return whether programs call the tool, rather than clients beside code (contract C01)."""
    destructive = definition.annotations is not None and definition.annotations.destructive
    outside = caller.endpoint.definition.code_destructive == "outside" and destructive
    return definition.code_mode and not outside


def _find(caller: Caller, name: str) -> ToolDefinition:
    definition = caller.endpoint.tools.get(name)
    if definition is None or not _is_offered(definition, caller):
        raise UnknownTool(name)
    return definition


class _Call(RecordedCall):
    """One call on its way."""

    def __init__(
        self, caller: Caller, name: str, arguments: Mapping[str, Any] | None, *, renewing: bool = False
    ) -> None:
        super().__init__(caller, name, arguments)
        self._work = Work()
        self._renewing = renewing
        self._kept: KeptAnswer | None = None

    async def perform(self, definition: ToolDefinition) -> Ending:
        """Return how the call ends."""
        self.definition = definition
        caller = self.caller
        endpoint = caller.endpoint.definition
        awaited = needs_await(definition, endpoint)
        if awaited and not await apermits(definition, endpoint, caller.principal, caller.runner):
            raise UnknownTool(self.name)
        timeout = min(definition.timeout or DEFAULT_TIMEOUT, LONGEST_TIMEOUT)
        try:
            if definition.is_async:
                outcome = await self._run_async(definition, timeout, permitted=awaited)
            else:
                abandoned.check()
                runner = caller.runner_within(definition.timeout)
                outcome = await runner.sync(self._run_sync, definition, awaited, timeout=timeout)
        except UnknownTool:
            raise
        except Exception as error:  # noqa: BLE001 - a handler is the author's code; `explain` logs what is unexpected
            if isinstance(error, TimeoutError):
                self.leave()
            return explain(error, definition.name)
        return Ending(outcome, "tool_error" if outcome.is_error else "ok")

    def leave(self) -> None:
        """Stop waiting for a sync handler: its late result is dropped and its transaction rolled back."""
        self._work.leave()

    def _admit(self, definition: ToolDefinition, *, permitted: bool, limited: bool) -> dict[str, Any]:
        """Return the handler's arguments once the caller may call and what they sent is valid."""
        caller = self.caller
        if not permitted and not permits(definition, caller.endpoint.definition, caller.principal):
            raise UnknownTool(self.name)
        if caller.principal.objection is not None:
            raise caller.principal.objection.with_traceback(None)
        refuse(definition.guard, caller.principal.request)
        if limited and not self._renewing:
            count_call(caller.principal, caller.endpoint.name, definition.name)
        arguments = self.arguments
        if not (type(arguments) is dict or arguments is None or isinstance(arguments, Mapping)):
            raise ToolError("Arguments must be an object.", 400)
        return definition.arguments.validate(arguments)

    def _may_be_limited(self) -> bool:
        # What a test has changed within its transaction is read afresh.
        return self.caller.in_transaction or may_be_limited(self.caller.endpoint.name)

    def _recall(self, definition: ToolDefinition, arguments: Mapping[str, Any]) -> Outcome | None:
        """Return the answer that an earlier call left in the cache."""
        refresh = None if self._renewing else self._renew
        self._kept = place_answer(definition, arguments, self.arguments, self.caller.principal, refresh)
        return self._kept.find() if self._kept is not None else None

    def _renew(self, kept: KeptAnswer) -> None:
        definition = self.definition
        assert definition is not None  # noqa: S101 - set before anything is recalled

        async def work(caller: Caller) -> None:
            try:
                await _Call(caller, self.name, self.arguments, renewing=True).perform(definition)
            finally:
                await caller.runner.sync(kept.release)

        background.start(self.caller, work)

    def _keep(self, outcome: Outcome) -> None:
        if self._kept is not None and not self._work.left:
            self._kept.keep(outcome)

    def _complete(
        self, definition: ToolDefinition, arguments: dict[str, Any], *, in_atomic: bool
    ) -> dict[str, Any]:
        wanted = definition.arguments
        if wanted.context:
            context = CallContext(self.caller, in_atomic=in_atomic)
            arguments.update(dict.fromkeys(wanted.context, context))
        if wanted.request:
            arguments.update(dict.fromkeys(wanted.request, self.caller.principal.request))
        return arguments

    def _enter(
        self, definition: ToolDefinition, *, permitted: bool, limited: bool
    ) -> tuple[dict[str, Any], Outcome | None]:
        """Return what a call begins with: the handler's arguments, and the answer that makes it needless."""
        arguments = self._admit(definition, permitted=permitted, limited=limited)
        return arguments, None if definition.cache is None else self._recall(definition, arguments)

    def _run_sync(self, definition: ToolDefinition, permitted: bool) -> Outcome:
        """Do the whole call on one thread: one hop, and a QuerySet is read by the thread that made it."""
        with self._work:
            arguments, recalled = self._enter(definition, permitted=permitted, limited=self._may_be_limited())
            if recalled is not None:
                return recalled
            aliases = atomic_aliases(definition.atomic)
            arguments = self._complete(definition, arguments, in_atomic=bool(aliases))
            with atomic_on(aliases) as roll_back:
                with telling_apart:
                    value = definition.handler(**arguments)
                outcome = shape(value, definition)
                if self._work.left or outcome.is_error:
                    roll_back()
            self._keep(outcome)
            return outcome

    async def _run_async(self, definition: ToolDefinition, timeout: float, *, permitted: bool) -> Outcome:
        runner = self.caller.runner
        limited = self._may_be_limited()
        enter = partial(self._enter, definition, permitted=permitted, limited=limited)
        needs_thread = limited or self._needs_thread(definition)
        arguments, recalled = await runner.sync(enter) if needs_thread else enter()
        if recalled is not None:
            return recalled
        arguments = self._complete(definition, arguments, in_atomic=False)
        value = await runner.coroutine(_handle(definition, arguments), timeout=timeout)
        if holds_instances(value):
            # Rows, or fields not loaded yet: they are read on a thread that may ask the database.
            outcome: Outcome = await runner.sync(shape, value, definition)
        else:
            outcome = shape(value, definition)
        if self._kept is not None:
            await runner.sync(self._keep, outcome)
        return outcome

    def _needs_thread(self, definition: ToolDefinition) -> bool:
        """Return whether what comes before an async handler may touch a database or a cache; rates set aside."""
        caller = self.caller
        return definition.cache is not None or needs_thread(
            definition, caller.endpoint.definition, caller.principal
        )


async def _handle(definition: ToolDefinition, arguments: Mapping[str, Any]) -> Any:
    with telling_apart:
        return await definition.handler(**arguments)
