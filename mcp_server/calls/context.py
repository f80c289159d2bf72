"""The context that handlers receive."""

import asyncio
from collections.abc import Coroutine, Mapping
from typing import Any

from pydantic import BaseModel, TypeAdapter, ValidationError

from mcp_server.calls.caller import Caller
from mcp_server.calls.running import ThisThread, drive
from mcp_server.calls.transactions import release_connections
from mcp_server.definitions.context import Answer, Context, LogLevel
from mcp_server.exceptions import Guidance, ToolError, UnknownTool
from mcp_server.schema.json_schema import read_schema

CONFIRMATION = {
    "type": "object",
    "properties": {"confirm": {"type": "boolean", "title": "Confirm", "description": "Go ahead?"}},
    "required": ["confirm"],
}


class CallContext(Context):
    """A handler's view of its call."""

    def __init__(self, caller: Caller, *, in_atomic: bool = False) -> None:
        self.caller = caller
        self.request = caller.principal.request
        self.endpoint = caller.endpoint.name
        self.client_info = caller.client
        self.session = caller.session
        self._in_atomic = in_atomic or caller.in_atomic
        self._last_progress = float("-inf")

    async def aprogress(
        self, progress: float, total: float | None = None, message: str | None = None
    ) -> None:
        # The protocol wants progress to grow with each notification.
        if progress > self._last_progress:
            self._last_progress = progress
            await self.caller.channel.progress(progress, total, message)

    def progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        self._wait(self.aprogress(progress, total, message))

    async def alog(self, data: Any, level: LogLevel = "info", logger: str | None = None) -> None:
        await self.caller.channel.log(level, data, logger)

    def log(self, data: Any, level: LogLevel = "info", logger: str | None = None) -> None:
        self._wait(self.alog(data, level, logger))

    async def aelicit(self, message: str, schema: Any, *, key: str | None = None) -> Answer:
        await self._release()
        return await self._elicit(message, schema, key)

    def elicit(self, message: str, schema: Any, *, key: str | None = None) -> Answer:
        answer: Answer = self._wait_for_person(self._elicit(message, schema, key))
        return answer

    async def aconfirm(self, message: str) -> bool:
        await self._release()
        return await self._confirm(message)

    def confirm(self, message: str) -> bool:
        return bool(self._wait_for_person(self._confirm(message)))

    async def aask(
        self, method: str, params: Mapping[str, Any] | None = None, *, key: str | None = None
    ) -> Mapping[str, Any]:
        await self._release()
        return await self._ask(method, params, key)

    def ask(
        self, method: str, params: Mapping[str, Any] | None = None, *, key: str | None = None
    ) -> Mapping[str, Any]:
        reply: Mapping[str, Any] = self._wait_for_person(self._ask(method, params, key))
        return reply

    def can_ask(self, method: str = "elicitation/create") -> bool:
        return self.caller.channel.can_ask(method)

    async def _confirm(self, message: str) -> bool:
        answer = await self._elicit(message, CONFIRMATION, None)
        return answer.action == "accept" and bool(answer.data.get("confirm"))

    async def _elicit(self, message: str, schema: Any, key: str | None) -> Answer:
        model = schema if isinstance(schema, type) and issubclass(schema, BaseModel) else None
        form = read_schema(TypeAdapter(model), "validation") if model is not None else schema
        reply = await self._ask("elicitation/create", {"message": message, "requestedSchema": form}, key)
        if reply["action"] != "accept":
            return Answer(reply["action"])
        data = reply.get("content") or {}
        try:
            return Answer("accept", data if model is None else model.model_validate(data))
        except ValidationError as error:
            raise ToolError("The user's answer does not fit the question.", 400) from error

    async def _ask(self, method: str, params: Mapping[str, Any] | None, key: str | None) -> Mapping[str, Any]:
        if self._in_atomic:
            raise ToolError(
                "The tool asks its user inside a database transaction, which would wait for a person.", 500
            )
        return await self.caller.channel.ask(method, params or {}, key)

    async def _release(self) -> None:
        """Give the request's connections back: one that waits for a person is missing elsewhere (contract P05).

        Where nobody waits there must be no pause either: questions side by side are asked together.
        """
        if self.caller.channel.waits and not self.caller.in_transaction:
            await self.caller.runner.sync(release_connections)

    def _wait_for_person(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        release_connections()
        return self._wait(coroutine)

    async def acall_tool(self, name: str, arguments: Mapping[str, Any] | None = None) -> Any:
        return await self._call(self.caller, name, arguments)

    def call_tool(self, name: str, arguments: Mapping[str, Any] | None = None) -> Any:
        # On this very thread: with a bounded pool, a call that waits for another thread could wait for itself.
        caller = self.caller.using(ThisThread(self.caller.loop), in_atomic=self._in_atomic)
        return drive(self._call(caller, name, arguments))

    async def _call(self, caller: Caller, name: str, arguments: Mapping[str, Any] | None) -> Any:
        from mcp_server.calls.dispatcher import call_tool

        try:
            outcome = await call_tool(caller, name, arguments)
        except UnknownTool:
            raise ToolError(f"There is no tool {name!r}.", 404) from None
        if outcome.guidance is not None:
            raise Guidance(outcome.guidance)
        if outcome.failure is not None:
            raise ToolError(outcome.failure.message, outcome.failure.status, outcome.failure.data)
        return list(outcome.content) if outcome.content else outcome.value

    async def anotify_resource_updated(self, uri: str) -> None:
        await self.caller.runner.sync(self.notify_resource_updated, uri)

    def notify_resource_updated(self, uri: str) -> None:
        from mcp_server.bus import notify_resource_updated

        notify_resource_updated(uri)

    def _wait(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        """Return what a coroutine gives on the loop of the request; for sync handlers, which run on another thread."""
        return asyncio.run_coroutine_threadsafe(coroutine, self.caller.loop).result()
