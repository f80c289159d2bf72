"""One program from the text that a model sent to the end of its run: read, run, called back, recorded."""

import asyncio
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import timedelta

from django.utils import timezone

from mcp_server.calls import journal, tracing
from mcp_server.calls.caller import Caller, RunSpan
from mcp_server.calls.dispatcher import visible_tools
from mcp_server.codemode.callback import Callback
from mcp_server.codemode.executor import Job, execute
from mcp_server.codemode.outcome import RunOutcome
from mcp_server.codemode.result import ProgramError, ProgramResult, read_outcome
from mcp_server.codemode.source import SourceError, prepare
from mcp_server.codemode.vocabulary import Vocabulary, read_vocabulary
from mcp_server.codemode.watching import Watch
from mcp_server.definitions.settings import LONGEST_TIMEOUT
from mcp_server.policy.limits import Limits, effective_limits

STOP_POLL_SECONDS = 1.0
GRACE = timedelta(seconds=5)


async def run_program(caller: Caller, text: str) -> ProgramResult:
    """Return how a program ended; every failure of its own is in the result.

    Args:
        caller: as whom it calls tools.
        text: what the model sent.
    """
    inside = tuple(await visible_tools(caller.on_side("inside")))
    limits, record = await caller.runner.sync(_open, caller, text)
    vocabulary = read_vocabulary(inside)
    callback = Callback(caller.within(RunSpan(record.id)), inside, vocabulary.identifiers)
    with tracing.run_span(record.endpoint, record.id):
        return await _Run(text, vocabulary, limits, callback, record).carry_out()


def _open(caller: Caller, text: str) -> tuple[Limits, journal.RunRecord]:
    """Return the limits of the run that starts now, and its record, whose row is made; asks the database for both."""
    limits = effective_limits(caller.endpoint.name)
    record = _make_record(caller, text, limits)
    journal.open_run(record)
    return limits, record


def _make_record(caller: Caller, text: str, limits: Limits) -> journal.RunRecord:
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


def _longest(limits: Limits) -> timedelta:
    """Return after how long a run has ended, whatever happens to it (contract R11); its own limits end it sooner."""
    waiting = timedelta(milliseconds=limits.max_queue_ms + limits.wall_time_limit_ms)
    return min(waiting, timedelta(seconds=LONGEST_TIMEOUT) - 2 * GRACE) + GRACE


@dataclass(frozen=True, slots=True)
class _Run:
    """A program whose row is open."""

    text: str
    vocabulary: Vocabulary
    limits: Limits
    callback: Callback
    record: journal.RunRecord

    async def carry_out(self) -> ProgramResult:
        """Return how it ended; its row says so too, whatever happens."""
        try:
            result = await self._run_in_time()
        except asyncio.CancelledError:
            self.record.status = "cancelled"
            await asyncio.shield(self._close())
            raise
        except Exception:
            # A fault of ours: the row must not read "running" until it reads "lost".
            self.record.status = "crashed"
            await self._close()
            raise
        _complete(self.record, result)
        await self._close()
        return result

    async def _close(self) -> None:
        caller = self.callback.caller
        self.record.trace = tracing.note_end(self.record.status)
        if caller.in_transaction:
            await caller.runner.sync(journal.close_run, self.record)
        else:
            journal.close_run(self.record)

    async def _run_in_time(self) -> ProgramResult:
        seconds = _longest(self.limits).total_seconds()
        clock = asyncio.timeout(seconds)
        try:
            async with clock:
                return await self._run()
        except TimeoutError:
            if not clock.expired():
                raise
        message = f"The program did not end within {seconds:.0f} seconds, with its wait for a worker."
        return self._stopped_by("wall_time_limit_ms", message, 408)

    async def _run(self) -> ProgramResult:
        size = len(self.text.encode("utf-8", "replace"))
        if size > self.limits.max_code_bytes:
            message = f"The program has {size} bytes, more than max_code_bytes = {self.limits.max_code_bytes}. Send a shorter one."
            return self._stopped_by("max_code_bytes", message, 413)
        try:
            program = prepare(self.text, self.vocabulary.summaries)
        except SourceError as mistake:
            return self._refused_for(mistake)
        owner = self.record.user_id or "anonymous"
        job = Job(code=program.code, tools=self.vocabulary.callables, limits=self.limits, owner=owner)
        outcome = await self._execute_until_stopped(job)
        outcome.unawaited = [self.callback.identifier(name) for name in outcome.unawaited]
        result = self._ended(outcome.status)
        read_outcome(result, outcome, program)
        result.succeeded, result.failed = self.callback.succeeded, self.callback.failed
        result.media = self.callback.media_in(outcome.value)
        return result

    def _ended(self, status: str) -> ProgramResult:
        return ProgramResult(run_id=self.record.id, text=self.text, status=status, limits=self.limits)

    def _stopped_by(self, limit: str, message: str, status: int) -> ProgramResult:
        result = self._ended("limit")
        result.limit, result.error = limit, ProgramError(kind="limit", message=message, status=status)
        return result

    def _refused_for(self, mistake: SourceError) -> ProgramResult:
        result = self._ended("error")
        result.error = ProgramError(
            kind=mistake.kind,
            message=mistake.message,
            line=mistake.line,
            column=mistake.column,
            suggestion=mistake.suggestion,
        )
        return result

    async def _execute_until_stopped(self, job: Job) -> RunOutcome:
        """Return the outcome; staff may stop it by the flag on its row, looked at once a second (contract A04)."""
        watch = Watch(self.record)
        run = asyncio.ensure_future(execute(job, self.callback, observer=watch.add))
        try:
            while not (await asyncio.wait({run}, timeout=STOP_POLL_SECONDS))[0]:
                await watch.publish()
                if await self.callback.caller.runner.sync(journal.stop_requested, self.record.id):
                    run.cancel()
                    with suppress(asyncio.CancelledError):
                        await run
                    return RunOutcome(status="stopped", calls=self.callback.calls, logs=watch.seen)
            return run.result()
        finally:
            run.cancel()


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
