"""One program from the text that a model sent to the end of its run: read, run, called back, recorded."""

import asyncio
import re
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from datetime import timedelta
from typing import Any

from django.utils import timezone

from mcp_server.calls import journal, tracing
from mcp_server.calls.caller import Caller, RunSpan
from mcp_server.calls.dispatcher import visible_tools
from mcp_server.codemode.callback import Callback
from mcp_server.codemode.executor import Job, execute
from mcp_server.codemode.identifiers import callables
from mcp_server.codemode.outcome import LogEntry, RunError, RunOutcome
from mcp_server.codemode.source import Program, SourceError, ToolSummary, prepare, summarize
from mcp_server.codemode.watching import Watch
from mcp_server.definitions.results import ContentItem
from mcp_server.definitions.settings import LONGEST_TIMEOUT
from mcp_server.definitions.tool import ToolDefinition
from mcp_server.policy.limits import Limits, effective_limits

STOP_POLL_SECONDS = 1.0
_UNDECLARED = re.compile(r"([\w$]+) is not defined\b")
GRACE = timedelta(seconds=5)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramError:
    """Why a program has no value: `kind` says what sort of mistake, line and column count from 1 in what was sent."""

    kind: str
    message: str
    name: str = ""
    line: int | None = None
    column: int | None = None
    suggestion: str = ""
    status: int | None = None
    data: Any = None
    tool: str | None = None


@dataclass(slots=True, kw_only=True)
class ProgramResult:
    """The end of a run (contract C20).

    `value` is JSON text or None; `limit` the limit that was met, with `limits` all that held; `succeeded` and `failed`
    count the calls by tool; `media` came from tools and is named in the value.
    """

    run_id: str
    text: str
    status: str
    limits: Limits
    value: str | None = None
    value_dropped: str = ""
    error: ProgramError | None = None
    limit: str = ""
    logs: Sequence[LogEntry] = ()
    dropped_logs: int = 0
    warnings: list[str] = field(default_factory=list)
    succeeded: Counter[str] = field(default_factory=Counter)
    failed: Counter[str] = field(default_factory=Counter)
    media: Sequence[ContentItem] = ()
    cpu_ms: float = 0.0
    wall_ms: float = 0.0
    queue_ms: float = 0.0
    peak_memory_mb: float = 0.0

    @property
    def ok(self) -> bool:
        """Return whether the program ran to its end."""
        return self.status == "ok"


async def run_program(caller: Caller, text: str) -> ProgramResult:
    """Return how a program ended; every failure of its own is in the result.

    Args:
        caller: as whom it calls tools.
        text: what the model sent.
    """
    inside = await visible_tools(caller.on_side("inside"))
    limits: Limits = await caller.runner.sync(effective_limits, caller.endpoint.name)
    record = _open_record(caller, text, limits)
    await caller.runner.sync(journal.open_run, record)
    callback = Callback(caller.within(RunSpan(record.id)), inside)
    with tracing.run_span(record.endpoint, record.id):
        return await _carry_out(text, inside, limits, callback, record)


async def _carry_out(
    text: str,
    inside: Sequence[ToolDefinition],
    limits: Limits,
    callback: Callback,
    record: journal.RunRecord,
) -> ProgramResult:
    caller = callback.caller
    try:
        result = await _run_in_time(text, inside, limits, callback, record)
    except asyncio.CancelledError:
        record.status = "cancelled"
        await asyncio.shield(_close(caller, record))
        raise
    except Exception:
        # A fault of ours: the row must not read "running" until it reads "lost".
        record.status = "crashed"
        await _close(caller, record)
        raise
    _complete(record, result)
    await _close(caller, record)
    return result


async def _close(caller: Caller, record: journal.RunRecord) -> None:
    record.trace = tracing.note_end(record.status)
    if caller.in_transaction:
        await caller.runner.sync(journal.close_run, record)
    else:
        journal.close_run(record)


def _longest(limits: Limits) -> timedelta:
    """Return after how long a run has ended, whatever happens to it (contract R11); its own limits end it sooner."""
    waiting = timedelta(milliseconds=limits.max_queue_ms + limits.wall_time_limit_ms)
    return min(waiting, timedelta(seconds=LONGEST_TIMEOUT) - 2 * GRACE) + GRACE


async def _run_in_time(
    text: str,
    inside: Sequence[ToolDefinition],
    limits: Limits,
    callback: Callback,
    record: journal.RunRecord,
) -> ProgramResult:
    seconds = _longest(limits).total_seconds()
    clock = asyncio.timeout(seconds)
    try:
        async with clock:
            return await _run(text, inside, limits, callback, record)
    except TimeoutError:
        if not clock.expired():
            raise
    message = f"The program did not end within {seconds:.0f} seconds, with its wait for a worker."
    error = ProgramError(kind="limit", message=message, status=408)
    return ProgramResult(
        run_id=record.id, text=text, status="limit", limits=limits, error=error, limit="wall_time_limit_ms"
    )


def _open_record(caller: Caller, text: str, limits: Limits) -> journal.RunRecord:
    return journal.RunRecord(
        endpoint=caller.endpoint.name,
        code=text,
        deadline=timezone.now() + _longest(limits),
        user_id=caller.principal.user_id,
        username=caller.principal.username,
        client=f"{caller.client.name} {caller.client.version}".strip(),
        protocol=caller.client.protocol,
        limits=asdict(limits),
    )


async def _run(
    text: str,
    inside: Sequence[ToolDefinition],
    limits: Limits,
    callback: Callback,
    record: journal.RunRecord,
) -> ProgramResult:
    size = len(text.encode("utf-8", "replace"))
    if size > limits.max_code_bytes:
        message = f"The program has {size} bytes, more than max_code_bytes = {limits.max_code_bytes}. Send a shorter one."
        error = ProgramError(kind="limit", message=message, status=413)
        return ProgramResult(
            run_id=record.id, text=text, status="limit", limits=limits, error=error, limit="max_code_bytes"
        )
    names = callables(item.name for item in inside)
    try:
        program = prepare(text, _summaries(names, inside))
    except SourceError as mistake:
        error = ProgramError(
            kind=mistake.kind,
            message=mistake.message,
            line=mistake.line,
            column=mistake.column,
            suggestion=mistake.suggestion,
        )
        return ProgramResult(run_id=record.id, text=text, status="error", limits=limits, error=error)
    job = Job(code=program.code, tools=names, limits=limits, owner=record.user_id or "anonymous")
    outcome = await _execute_until_stopped(job, callback, record)
    result = ProgramResult(run_id=record.id, text=text, status=outcome.status, limits=limits)
    outcome.unawaited = [callback.identifier(name) for name in outcome.unawaited]
    _read_outcome(result, outcome, program)
    result.succeeded, result.failed = callback.succeeded, callback.failed
    result.media = callback.media_in(outcome.value)
    return result


def _summaries(names: dict[str, str], inside: Sequence[ToolDefinition]) -> dict[str, ToolSummary]:
    found = {item.name: item for item in inside}
    return {
        identifier: summarize(name, found[name].arguments.json_schema) for identifier, name in names.items()
    }


async def _execute_until_stopped(job: Job, callback: Callback, record: journal.RunRecord) -> RunOutcome:
    """Return the outcome of the job; staff may stop it by the flag on its row, looked at once a second (contract A04)."""
    watch = Watch(record)
    run = asyncio.ensure_future(execute(job, callback, observer=watch.add))
    try:
        while not (await asyncio.wait({run}, timeout=STOP_POLL_SECONDS))[0]:
            await watch.publish()
            if await callback.caller.runner.sync(journal.stop_requested, record.id):
                run.cancel()
                with suppress(asyncio.CancelledError):
                    await run
                return RunOutcome(status="stopped", calls=callback.calls, logs=watch.seen)
        return run.result()
    finally:
        run.cancel()


def _read_outcome(result: ProgramResult, outcome: RunOutcome, program: Program) -> None:
    """Take over what the sandbox says, with places in the text that the model sent."""
    for name in _SAME:
        setattr(result, name, getattr(outcome, name))
    result.warnings = [f"Line {item.line}: {item.message}" for item in program.warnings]
    if outcome.unawaited:
        names = ", ".join(sorted(set(outcome.unawaited)))
        advice = "" if outcome.status == "limit" else " Write `await` before a call that must finish."
        result.warnings.append(
            f"Without an answer when the program ended, and cancelled unless done by then: {names}.{advice}"
        )
    if outcome.error is not None:
        result.error = _locate(outcome.error, program)
    elif outcome.status == "stopped":
        message = "An administrator stopped the run. Do not start it again unasked."
        result.error = ProgramError(kind="stopped", message=message)


_SAME = (
    "value", "value_dropped", "limit", "logs", "dropped_logs", "cpu_ms", "wall_ms", "queue_ms", "peak_memory_mb",
)  # fmt: skip


def _locate(found: RunError, program: Program) -> ProgramError:
    line, column = found.line, found.column
    if line is not None and column is not None:
        undeclared = _UNDECLARED.match(found.message)
        place = program.locate(line, column, undeclared[1] if undeclared else "")
        line, column = place.line, place.column
    return ProgramError(
        kind=found.kind,
        message=found.message,
        name=found.name,
        line=line,
        column=column,
        status=found.status,
        data=found.data,
        tool=found.tool,
    )


def _complete(record: journal.RunRecord, result: ProgramResult) -> None:
    """Fill in what is known at the end of a run."""
    record.status = result.status  # type: ignore[assignment]  # the same words
    record.limit = result.limit
    if result.error is not None:
        record.error = {
            key: value for key, value in asdict(result.error).items() if value is not None and value != ""
        }
    record.console = [{"level": entry.level, "text": entry.text} for entry in result.logs]
    record.dropped_logs = result.dropped_logs
    record.result = result.value or ""
    record.result_bytes = len((result.value or "").encode())
    record.cpu_ms, record.wall_ms = result.cpu_ms, result.wall_ms
    record.queue_ms, record.peak_memory_mb = result.queue_ms, result.peak_memory_mb
    record.calls = sum(result.succeeded.values()) + sum(result.failed.values())
