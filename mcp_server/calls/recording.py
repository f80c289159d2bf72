"""A call as the log sees it."""

from collections.abc import Mapping
from time import perf_counter
from typing import Any

from mcp_server.calls import heartbeat, journal, reporting, tracing
from mcp_server.calls.caller import Caller
from mcp_server.calls.failures import Ending
from mcp_server.definitions.tool import ToolDefinition


class RecordedCall:
    """What is known of a call while it runs, and how it is logged when it ends."""

    def __init__(self, caller: Caller, name: str, arguments: Mapping[str, Any] | None) -> None:
        self.caller = caller
        self.name = name
        self.arguments = arguments
        self.definition: ToolDefinition | None = None
        self.sequence = caller.run.count() if caller.run is not None else None
        self._started = perf_counter()
        self._trace = ""

    async def record(self, ending: Ending) -> None:
        """Log the call; on the entering thread where that is in a transaction, so that a test sees its rows."""
        self._trace = tracing.note_end(ending.status, ending.outcome.reference)
        if self.definition is not None and not self.definition.recorded:
            return
        if not self._is_heard(ending):
            heartbeat.start()
        elif self.caller.in_transaction:
            await self.caller.runner.sync(self._record, ending)
        else:
            self._record(ending)

    def _is_heard(self, ending: Ending) -> bool:
        """Return whether anybody learns of the call; a run does, which masks its calls' secrets in its own row."""
        if self.caller.run is not None or reporting.is_heard(ending.status):
            return True
        return journal.is_stored(self.caller.endpoint.name, ending.status)

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
                trace=self._trace,
            )
        )
