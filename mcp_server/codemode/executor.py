"""Run a program for a user: a worker is borrowed, the run is talked through, and the worker goes back or is killed."""

import asyncio
import atexit
import logging
import os
import threading
import time
from dataclasses import asdict
from typing import Final

from mcp_server.calls import heartbeat
from mcp_server.codemode.conversation import Call, Conversation, Observer, limit_error
from mcp_server.codemode.job import Job
from mcp_server.codemode.outcome import LogEntry, RunError, RunOutcome, ToolFailure, ToolReply, ToolSuccess
from mcp_server.codemode.pool import Busy, Pool, Unavailable
from mcp_server.codemode.process import Worker, WorkerGone, WorkerState
from mcp_server.codemode.wire import Violation
from mcp_server.codemode.worker.terms import LIMIT_OF_CAUSE
from mcp_server.conf import options

__all__ = [
    "Job",
    "LogEntry",
    "RunError",
    "RunOutcome",
    "ToolFailure",
    "ToolReply",
    "ToolSuccess",
    "execute",
    "shutdown",
    "workers",
]

logger = logging.getLogger("mcp_server.sandbox")

_BACK_STOP_SECONDS: Final = 1.0
_ABORTS: Final = frozenset({-5, -4, -6})
"""SIGTRAP, SIGILL, SIGABRT: V8 could not allocate and gave up."""

_lock = threading.Lock()
_pool: Pool | None = None


async def execute(job: Job, call: Call, *, observer: Observer | None = None) -> RunOutcome:
    """Return how the program ended. Cancelling this coroutine kills the run and its worker.

    Args:
        job: the program, its tools and limits.
        call: answers one tool call (name, arguments as a dict); several run at once, each a task of its own.
        observer: is given console lines as they come.
    """
    limits = job.limits
    waited = time.monotonic()
    pool = _current_pool()
    try:
        worker = await pool.acquire(
            job.owner,
            limits.memory_limit_mb,
            most=limits.max_concurrent_runs,
            seconds=limits.max_queue_ms / 1000,
        )
    except Busy:
        return _refused(
            "busy", f"All {limits.max_concurrent_runs} places for code are taken. Try again in a few seconds."
        )
    except Unavailable as error:
        logger.warning("Code cannot be run: %s", error)
        return _refused("crashed", "Code cannot be run on this server now; the server's log says why.")
    queued = time.monotonic() - waited
    outcome = await converse(pool, worker, Conversation(worker, job, call, observer), job)
    outcome.queue_ms = queued * 1000
    return outcome


def shutdown() -> None:
    """End all workers of this process; the next run starts new ones (contract C18)."""
    global _pool
    with _lock:
        pool, _pool = _pool, None
    if pool is not None:
        pool.close()


def workers() -> list[WorkerState]:
    """Return the workers of this process with their confinement."""
    return _pool.states() if _pool is not None else []


async def converse(pool: Pool, worker: Worker, conversation: Conversation, job: Job) -> RunOutcome:
    """Return the outcome of a conversation, however it ends, and give the worker back or have it killed."""
    healthy = False
    begun = time.monotonic()
    outcome = conversation.outcome
    try:
        async with asyncio.timeout(job.limits.wall_time_limit_ms / 1000 + _BACK_STOP_SECONDS):
            await conversation.run()
        healthy = outcome.status != "limit" and not conversation.torn
    except WorkerGone as gone:
        _explain_end(outcome, gone.code, job)
        if pool.closed:
            _fail(
                outcome, "crashed", "The server is restarting: the run was ended. Run it again in a moment."
            )
    except Violation as violation:
        logger.error("Worker %d broke the protocol: %s", worker.hello.pid, violation)  # noqa: TRY400 - no fault of ours
        _fail(outcome, "violation", "The run was stopped: its worker broke the protocol.")
    except TimeoutError:
        _end_at_limit(outcome, "wall_time_limit_ms", job)
    finally:
        pool.release(worker, healthy=healthy)
    outcome.wall_ms = outcome.wall_ms or (time.monotonic() - begun) * 1000
    return outcome


def _explain_end(outcome: RunOutcome, code: int | None, job: Job) -> None:
    limit = next((limit for cause, limit in LIMIT_OF_CAUSE.items() if cause == code), None)
    if limit is not None:
        _end_at_limit(outcome, limit, job)
    elif code in _ABORTS:
        _end_at_limit(outcome, "memory_limit_mb", job)
    else:
        _fail(outcome, "crashed", "The run's worker ended unexpectedly; run it again.")


def _end_at_limit(outcome: RunOutcome, limit: str, job: Job) -> None:
    outcome.status, outcome.limit = "limit", limit
    outcome.error = limit_error(limit, job.limits)


def _fail(outcome: RunOutcome, status: str, message: str) -> None:
    outcome.status = status  # type: ignore[assignment]
    outcome.error = RunError(kind=status, message=message)  # type: ignore[arg-type]


def _refused(status: str, message: str) -> RunOutcome:
    outcome = RunOutcome(status="busy" if status == "busy" else "crashed")
    outcome.error = RunError(kind="busy" if status == "busy" else "unavailable", message=message, status=503)
    if status == "busy":
        outcome.limit = "max_concurrent_runs"
    return outcome


def _current_pool() -> Pool:
    global _pool  # noqa: PLW0603
    with _lock:
        if _pool is None:
            _pool = Pool(options().sandbox)
        return _pool


def _forget_pool() -> None:
    """In a forked child: the workers are the parent's, and locks may have been held by threads that are not here."""
    global _pool, _lock  # noqa: PLW0603
    _lock = threading.Lock()
    _pool = None


os.register_at_fork(after_in_child=_forget_pool)
atexit.register(shutdown)
heartbeat.add_report("workers", lambda: [asdict(state) for state in workers()])
heartbeat.on_restart(shutdown)
