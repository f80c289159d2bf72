"""The spine: find, permitted, validate, run, shape, record. Direct calls and calls from code walk it alike (design 5.1)."""

import asyncio
from collections.abc import Mapping
from functools import partial
from time import perf_counter
from typing import Any

from django.core.exceptions import SynchronousOnlyOperation

from mcp_server.access.permission import apermits, choose_permitted, needs_await, needs_thread, permits
from mcp_server.calls import journal
from mcp_server.calls.abandonment import Work, abandoned
from mcp_server.calls.caller import Caller
from mcp_server.calls.context import CallContext
from mcp_server.calls.failures import Ending, explain
from mcp_server.calls.results import Outcome, shape
from mcp_server.calls.transactions import atomic_aliases, atomic_on
from mcp_server.definitions.guards import refuse
from mcp_server.definitions.tool import ToolDefinition
from mcp_server.exceptions import ToolError, UnknownTool

DEFAULT_TIMEOUT = 60.0
LONGEST_TIMEOUT = 240.0


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
    try:
        found = definition or _find(caller, name)
        ending = await call.perform(found)
    except UnknownTool:
        await call.record(Ending(Outcome(), "denied"))
        raise
    except asyncio.CancelledError:
        call.leave()
        if not caller.in_transaction:
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


class _Call:
    """One call on its way."""

    def __init__(self, caller: Caller, name: str, arguments: Mapping[str, Any] | None) -> None:
        self.caller = caller
        self.name = name
        self.arguments = arguments
        self.definition: ToolDefinition | None = None
        self.sequence = caller.run.count() if caller.run is not None else None
        self._started = perf_counter()
        self._work = Work()

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
                outcome = await caller.runner.sync(self._run_sync, definition, awaited, timeout=timeout)
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

    def _admit(self, definition: ToolDefinition, *, permitted: bool) -> dict[str, Any]:
        """Return the handler's arguments once the caller may call and what they sent is valid."""
        caller = self.caller
        if not permitted and not permits(definition, caller.endpoint.definition, caller.principal):
            raise UnknownTool(self.name)
        refuse(definition.guard, caller.principal.request)
        if self.arguments is not None and not isinstance(self.arguments, Mapping):
            raise ToolError("Arguments must be an object.", 400)
        return definition.arguments.validate(self.arguments)

    def _complete(
        self, definition: ToolDefinition, arguments: dict[str, Any], *, in_atomic: bool
    ) -> dict[str, Any]:
        wanted = definition.arguments
        context = CallContext(self.caller, in_atomic=in_atomic)
        arguments.update(dict.fromkeys(wanted.context, context))
        arguments.update(dict.fromkeys(wanted.request, self.caller.principal.request))
        return arguments

    def _run_sync(self, definition: ToolDefinition, permitted: bool) -> Outcome:
        """Do the whole call on one thread: one hop, and a QuerySet is read by the thread that made it."""
        with self._work:
            arguments = self._admit(definition, permitted=permitted)
            aliases = atomic_aliases(definition.atomic)
            arguments = self._complete(definition, arguments, in_atomic=bool(aliases))
            with atomic_on(aliases) as roll_back:
                outcome = shape(definition.handler(**arguments), definition)
                if self._work.left or outcome.is_error:
                    roll_back()
            return outcome

    async def _run_async(self, definition: ToolDefinition, timeout: float, *, permitted: bool) -> Outcome:
        caller, runner = self.caller, self.caller.runner
        admit = partial(self._admit, definition, permitted=permitted)
        if permitted or not needs_thread(definition, caller.endpoint.definition, caller.principal):
            arguments = admit()
        else:
            arguments = await runner.sync(admit)
        arguments = self._complete(definition, arguments, in_atomic=False)
        value = await runner.coroutine(definition.handler(**arguments), timeout=timeout)
        try:
            return shape(value, definition)
        except SynchronousOnlyOperation:
            # A QuerySet, or something that holds one: it is read on a thread that may.
            outcome: Outcome = await runner.sync(shape, value, definition)
            return outcome

    async def record(self, ending: Ending) -> None:
        """Log the call; on the entering thread where that is in a transaction, so that a test sees its rows."""
        if self.definition is not None and not self.definition.recorded:
            return
        if self.caller.in_transaction:
            await self.caller.runner.sync(self._record, ending)
        else:
            self._record(ending)

    def _record(self, ending: Ending) -> None:
        caller, outcome = self.caller, ending.outcome
        schema = self.definition.arguments.json_schema if self.definition is not None else None
        arguments, secrets = journal.recorded_arguments(self.arguments, schema)
        journal.record_call(
            journal.CallRecord(
                endpoint=caller.endpoint.name,
                tool=self.name[:200],
                status=ending.status,
                run_id=caller.run.id if caller.run is not None else None,
                sequence=self.sequence,
                user_id=caller.principal.user_id,
                username=caller.principal.username,
                client=f"{caller.client.name} {caller.client.version}".strip(),
                protocol=caller.client.protocol,
                arguments=arguments,
                error_status=outcome.failure.status if outcome.failure is not None else None,
                error=outcome.failure.message if outcome.failure is not None else outcome.guidance or "",
                reference=outcome.reference,
                duration_ms=(perf_counter() - self._started) * 1000,
                request_bytes=len(arguments.encode()),
                response_bytes=len(outcome.json or b""),
                secrets=secrets,
            )
        )
