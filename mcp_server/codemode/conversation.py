"""One run between host and worker: the job goes out, calls come in and are answered, until the end (contract C13, S07)."""

import asyncio
import contextlib
import json
import logging
from collections.abc import Awaitable, Callable
from typing import Any, Final

from mcp_server.codemode.diagnosis import explain_thrown, explain_uncompiled
from mcp_server.codemode.job import Job
from mcp_server.codemode.outcome import LogEntry, RunError, RunOutcome, ToolFailure, ToolReply, ToolSuccess
from mcp_server.codemode.process import Worker, WorkerGone
from mcp_server.codemode.safety import UnsafeJson, dump, read_json, safe_json, script_json
from mcp_server.codemode.shortening import shorten
from mcp_server.codemode.wire import (
    CallRequest,
    Ending,
    Violation,
    encode_job,
    frame,
    read_ending,
    read_error,
    read_messages,
    reply_frame_parts,
)
from mcp_server.codemode.worker.terms import (
    DONE,
    JOB,
    MAX_DEPTH,
    MAX_RESERVED_CALLS,
    MESSAGES,
    REPLY,
    RESERVED,
)

logger = logging.getLogger("mcp_server.sandbox")

Call = Callable[[str, Any], Awaitable[ToolReply]]
Observer = Callable[[LogEntry], None]

_MIB: Final = 1 << 20
_LOG_CHARS: Final = 8_192
_LOG_TOTAL: Final = 262_144
_CANCEL_SECONDS: Final = 0.5


class Conversation:
    """Holds a worker for one run; after any exception but a normal end the worker must be killed."""

    def __init__(self, worker: Worker, job: Job, call: Call, observer: Observer | None) -> None:
        self._worker = worker
        self._job = job
        self._call = call
        self._observer = observer
        self._names = tuple(job.tools.values())
        self._tasks: set[asyncio.Task[None]] = set()
        self._outgoing: list[bytes] = []
        self._sending = False
        # Whether a frame may have been written in part: its worker then cannot be talked with again.
        self.torn = False
        self._over = False
        # The tool or reserved name that each call of this run asked for, by the call's number.
        self._asked: dict[int, str] = {}
        self._unanswered: dict[int, str] = {}
        self._reserved_calls = 0
        self._entries = 0
        self.outcome = RunOutcome(status="crashed")

    async def run(self) -> RunOutcome:
        """Return the outcome of the program.

        Raises:
            WorkerGone: the worker ended without saying why.
            Violation: it sent what no worker of ours sends.
        """
        limits = self._job.limits
        most = max(2 * limits.max_request_bytes, self._most_result()) + 2 * _MIB
        await self._send(frame(JOB, self._encode_job()))
        try:
            while True:
                payload = await self._worker.receive(most)
                if payload[:1] == MESSAGES:
                    self._take_messages(payload[1:])
                elif payload[:1] == DONE:
                    return self._conclude(read_ending(payload[1:]))
                else:
                    raise Violation("frame of unknown kind")
        finally:
            await self._cancel_calls()

    def _encode_job(self) -> bytes:
        limits = self._job.limits
        runtime = {
            "tools": list(self._job.tools.items()),
            "reserved": list(RESERVED.items()),
            "reservedCalls": MAX_RESERVED_CALLS,
            "calls": limits.max_tool_calls,
            "requestBytes": limits.max_request_bytes,
            "resultChars": self._most_result(),
            "logs": limits.max_log_entries,
            "logChars": _LOG_CHARS,
            "logTotal": _LOG_TOTAL,
            "timers": 1000,
            "depth": MAX_DEPTH - 2,
        }
        return encode_job(
            self._job.code,
            cpu_ms=limits.cpu_time_limit_ms,
            wall_ms=limits.wall_time_limit_ms,
            runtime=runtime,
        )

    def _most_result(self) -> int:
        return max(8 * _MIB, 2 * self._job.limits.max_result_bytes)

    def _take_messages(self, payload: bytes) -> None:
        for message in read_messages(payload):
            if isinstance(message, LogEntry):
                self._log(message)
            else:
                self._accept(message)

    def _log(self, entry: LogEntry) -> None:
        self._entries += 1
        if self._entries > self._job.limits.max_log_entries or len(entry.text) > 2 * _LOG_CHARS:
            raise Violation("more console output than the limits allow")
        self._keep(entry)

    def _keep(self, entry: LogEntry) -> None:
        """Keep a line of the program's, or a warning of ours, which takes the place of one."""
        if len(self.outcome.logs) >= self._job.limits.max_log_entries:
            self.outcome.dropped_logs += 1
            return
        self.outcome.logs.append(entry)
        if self._observer is not None:
            self._observer(entry)

    def _accept(self, request: CallRequest) -> None:
        if request.number in self._asked:
            raise Violation("call number used twice")
        name = self._asked[request.number] = self._admit(request.target)
        if len(request.arguments.encode(errors="replace")) > self._job.limits.max_request_bytes:
            raise Violation("arguments beyond the limit")
        task = asyncio.get_running_loop().create_task(self._answer(request, name))
        self._unanswered[request.number] = name
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _admit(self, target: int | str) -> str:
        if isinstance(target, str):
            self._reserved_calls += 1
            if self._reserved_calls > MAX_RESERVED_CALLS:
                raise Violation("more searches than the limits allow")
            return target
        if target >= len(self._names):
            raise Violation("call of a tool that is not of this run")
        self.outcome.calls += 1
        if self.outcome.calls > self._job.limits.max_tool_calls:
            raise Violation("more calls than the limits allow")
        return self._names[target]

    async def _answer(self, request: CallRequest, name: str) -> None:
        reply = await self._reply(request, name)
        body = self._success(reply, name) if isinstance(reply, ToolSuccess) else self._failure(reply, name)
        self._unanswered.pop(request.number, None)
        if self._over:
            return  # a call that would not be cancelled: the worker may be in another run by now
        # A worker that is gone is told to whoever waits for its next frame.
        with contextlib.suppress(WorkerGone):
            await self._send(frame(REPLY, reply_frame_parts(request.number, body)))

    async def _reply(self, request: CallRequest, name: str) -> ToolReply:
        try:
            arguments = read_json(request.arguments.encode(errors="replace"))
        except UnsafeJson:
            return ToolFailure(
                message=f"[400] The arguments of {name} are nested too deep or hold a number out of range.",
                status=400,
            )
        if not isinstance(arguments, dict):
            return ToolFailure(
                message=f"[400] {name} takes one object with named arguments, such as {{id: 1}}.", status=400
            )
        try:
            return await self._call(name, arguments)
        except Exception:
            logger.exception("The call of %s from code failed outside the tool", name)
            return ToolFailure(message=f"[500] {name} could not be called.", status=500)

    def _success(self, reply: ToolSuccess, name: str) -> bytes:
        if reply.json is None:
            return b'"v":null'
        return b'"v":' + script_json(self._within(reply.json, name))

    def _within(self, text: bytes, name: str) -> bytes:
        limit = self._job.limits.max_tool_response_bytes
        if len(text) <= limit:
            return text
        shortened = shorten(json.loads(text), limit, "value")
        self._warn(f"The response of {name} was shortened to {limit} bytes: {shortened.dropped}.")
        return shortened.text

    def _failure(self, reply: ToolFailure, name: str) -> bytes:
        parts: dict[str, Any] = {"message": reply.message, "tool": name}
        if reply.status is not None:
            parts["status"] = reply.status
        text = dump(parts)
        if reply.data is None:
            return b'"e":' + text
        return b'"e":' + text[:-1] + b',"data":' + script_json(self._within(dump(reply.data), name)) + b"}"

    def _warn(self, text: str) -> None:
        """Tell the program's reader something of ours."""
        self._keep(LogEntry("warn", text[:_LOG_CHARS]))

    async def _send(self, data: bytes) -> None:
        # One task writes at a time; what others add meanwhile goes with its next write. Among several it lets those that
        # end in the same moment add theirs first: answers that arrive together are one turn of the program.
        self._outgoing.append(data)
        if self._sending:
            return
        self._sending = True
        try:
            if len(self._tasks) > 1:
                await asyncio.sleep(0)
            while self._outgoing:
                batch = b"".join(self._outgoing)
                self._outgoing.clear()
                self.torn = True
                await self._worker.send(batch)
                self.torn = False
        finally:
            self._sending = False

    async def _cancel_calls(self) -> None:
        # Those that only still send their answer, too: the socket may be another one's right after this.
        self._over = True
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=_CANCEL_SECONDS)

    def _conclude(self, ending: Ending) -> RunOutcome:
        outcome = self.outcome
        outcome.cpu_ms, outcome.wall_ms = ending.cpu * 1000, ending.wall * 1000
        outcome.peak_memory_mb = ending.peak / _MIB
        outcome.dropped_logs += ending.dropped_logs
        if ending.refused_bytes:
            outcome.limit = "max_request_bytes"
        if ending.refused_calls:
            outcome.limit = "max_tool_calls"
        outcome.calls += ending.refused_calls + ending.refused_bytes
        outcome.unawaited = self._unawaited(ending)
        if ending.kind in ("ok", "undefined"):
            outcome.status = "ok"
            self._take_value(ending)
        elif ending.kind == "limit":
            outcome.status, outcome.limit = "limit", ending.limit
            outcome.error = limit_error(ending.limit, self._job.limits)
        else:
            outcome.status = "error"
            outcome.error = self._explain(ending)
        return outcome

    def _unawaited(self, ending: Ending) -> list[str]:
        if not self._asked.keys() >= set(ending.left_over):
            raise Violation("end with a call that was never made")
        # A program that a limit cut off cannot say what it waited for.
        left_over = self._unanswered if ending.kind == "limit" else ending.left_over
        return [name for number in left_over if (name := self._asked[number]) not in RESERVED]

    def _take_value(self, ending: Ending) -> None:
        if ending.kind == "undefined":
            return
        try:
            text, value = safe_json(ending.text)
        except UnsafeJson as error:
            raise Violation("the value is no JSON") from error
        limit = self._job.limits.max_result_bytes
        if len(text) > limit:
            shortened = shorten(value, limit)
            text, self.outcome.value_dropped = shortened.text, shortened.dropped
            self.outcome.limit = self.outcome.limit or "max_result_bytes"
        self.outcome.value = text.decode()

    def _explain(self, ending: Ending) -> RunError:
        if ending.kind == "oversize":
            self.outcome.limit = "max_result_bytes"
            return RunError(
                kind="limit",
                name="RangeError",
                message=f"The result is far larger than max_result_bytes ({self._job.limits.max_result_bytes}). Return only what is needed.",
            )
        if ending.kind == "never_settles":
            message = "The program waits for a promise that can never settle: nothing is pending that could resolve it."
            return RunError(kind="never_settles", message=message)
        if ending.kind in ("syntax", "thrown"):
            return explain_uncompiled(ending.text, self._job.code.count("\n") + 1)
        return explain_thrown(read_error(ending.text))


_REASONS: Final = {
    "cpu_time_limit_ms": "The program used more than {} ms of processor time. Do less work, or split it over several runs.",
    "wall_time_limit_ms": "The program took longer than {} ms, waiting included. Start slow calls together with Promise.all, or do less.",
    "memory_limit_mb": "The program used more than {} MB of memory. Keep less data at once.",
}


def limit_error(limit: str, limits: Any) -> RunError:
    """Return the error for the limit that ended a run, with its value."""
    status = 408 if limit == "wall_time_limit_ms" else None
    message = f"{limit}: {_REASONS[limit].format(getattr(limits, limit))}"
    return RunError(kind="limit", name="LimitError", message=message, status=status)
