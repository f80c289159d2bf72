"""Tells the page of a run that something changed, and what the program writes to its console."""

import asyncio
from contextlib import suppress
from typing import Any

from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncJsonWebsocketConsumer
from django.contrib.auth import get_user_model

from mcp_server.bus import Overflow, Subscription, subscribe
from mcp_server.codemode.watching import console_topic
from mcp_server.models import CodeRun, ToolCall

LOOK_SECONDS = 1.0
FORBIDDEN = 4403
MISSING = 4404
ENDED = 1000

State = tuple[str, int]


class RunConsumer(AsyncJsonWebsocketConsumer):  # type: ignore[misc]  # channels has no types
    """One watcher of one run.

    Sends `{"console": [{"level", "text"}]}` to those who may see content, `{"changed": true}` when the page should be drawn
    anew, and closes with 1000 when the run has ended. Calls and the outcome come from the database, so they reach watchers
    in every process without a channel layer; console lines of another process need one.
    """

    async def connect(self) -> None:
        """Let in staff who may view runs; whoever is refused learns whether it was them or the run."""
        await self.accept()
        self.run_id: str = self.scope["url_route"]["kwargs"]["run_id"]
        rights = await self._rights()
        if "view_coderun" not in rights:
            await self.close(FORBIDDEN)
        elif await self._state() is None:
            await self.close(MISSING)
        else:
            self._watching = asyncio.create_task(self._watch(with_console="view_call_content" in rights))

    async def disconnect(self, code: int) -> None:
        """Stop watching."""
        task = getattr(self, "_watching", None)
        if task is not None and task is not asyncio.current_task():
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

    async def receive_json(self, content: Any, **kwargs: Any) -> None:
        """Ignore what a client says: it has nothing to say here."""

    async def _watch(self, *, with_console: bool) -> None:
        async with subscribe(console_topic(self.run_id)) as console:
            listening = asyncio.create_task(self._pass_on(console)) if with_console else None
            try:
                await self._look()
            finally:
                if listening is not None:
                    listening.cancel()

    async def _look(self) -> None:
        """Look at the rows every second until the run has ended or the watcher lost the right to watch."""
        known: State | None = None
        while "view_coderun" in await self._rights():
            state = await self._state()
            if state != known:
                known = state
                await self.send_json({"changed": True})
            if state is None or state[0] != "running":
                await self.close(ENDED)
                return
            await asyncio.sleep(LOOK_SECONDS)
        await self.close(FORBIDDEN)

    async def _pass_on(self, console: Subscription) -> None:
        # A watcher that is too slow sees no more lines here; the row has them all when the run has ended.
        with suppress(Overflow):
            while True:
                _, message = await console.get()
                await self.send_json({"console": message["console"]})

    @database_sync_to_async  # type: ignore[untyped-decorator]
    def _rights(self) -> set[str]:
        """Return what this person may do now: rights may be taken while somebody watches."""
        user = get_user_model()._default_manager.filter(pk=self.scope["user"].pk, is_active=True).first()
        if user is None or not user.is_staff:
            return set()
        return {
            name for name in ("view_coderun", "view_call_content") if user.has_perm(f"mcp_toolkit.{name}")
        }

    @database_sync_to_async  # type: ignore[untyped-decorator]
    def _state(self) -> State | None:
        """Return the run's outcome and how many calls it has made, or None when there is no such run."""
        run = CodeRun.objects.only("status", "deadline").filter(pk=self.run_id).first()
        return None if run is None else (run.outcome, ToolCall.objects.filter(run=self.run_id).count())
