"""The workers of this process: started when first needed, lent to one run at a time, fair between owners."""

import asyncio
import contextlib
import logging
import threading
import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Final

from mcp_server.codemode.process import StartError, Worker, WorkerState, start_worker
from mcp_server.conf import SandboxOptions

logger = logging.getLogger("mcp_server.sandbox")

_MAX_WAITING: Final = 256
_START_SECONDS: Final = 40.0
_FIRST_BACK_OFF: Final = 0.5
_LONGEST_BACK_OFF: Final = 30.0

Starter = Callable[[SandboxOptions, int], Worker]


class Busy(Exception):
    """No worker became free in time, or too many runs wait already."""


class Unavailable(Exception):
    """Workers cannot be started now; the reason is for the server's log."""


@dataclass(eq=False, slots=True)
class _Waiter:
    """A run that waits for a worker; `worker` is written under the pool's lock, the event only wakes."""

    owner: Hashable
    memory_mb: int
    most: int
    loop: asyncio.AbstractEventLoop
    event: asyncio.Event
    worker: Worker | None = None
    promised: bool = False
    failure: StartError | None = None
    refused: bool = False
    deadline: float = 0.0

    def wake(self) -> None:
        with contextlib.suppress(RuntimeError):  # its loop may be closed when nobody waits any more
            self.loop.call_soon_threadsafe(self.event.set)


@dataclass(slots=True)
class _BackOff:
    """Keeps a worker that cannot start from being tried again and again."""

    until: float = 0.0
    delay: float = 0.0
    reason: str = ""

    def failed(self, reason: str) -> None:
        self.delay = min(_LONGEST_BACK_OFF, self.delay * 2 or _FIRST_BACK_OFF)
        self.until = time.monotonic() + self.delay
        self.reason = reason

    def succeeded(self) -> None:
        self.until = self.delay = 0.0

    def holds(self) -> bool:
        return time.monotonic() < self.until


@dataclass(eq=False, slots=True)
class Pool:
    """Workers and the runs that wait for them. All state is under one lock; waiting is done in the caller's own loop."""

    options: SandboxOptions
    starter: Starter = start_worker
    _lock: threading.Condition = field(default_factory=lambda: threading.Condition(threading.Lock()))
    _idle: list[Worker] = field(default_factory=list)
    _busy: dict[Worker, Hashable] = field(default_factory=dict)
    _starting: int = 0
    _waiting: list[_Waiter] = field(default_factory=list)
    _back_off: _BackOff = field(default_factory=_BackOff)
    _closed: bool = False
    _janitor: threading.Thread | None = None

    async def acquire(self, owner: Hashable, memory_mb: int, *, most: int, seconds: float) -> Worker:
        """Return a quiet worker with that memory limit, which the caller must give back with `release`.

        Args:
            owner: whose run it is; of those who wait, who has the fewest workers is served first.
            memory_mb: the run's memory limit; V8 takes it when it starts.
            most: how many runs this process may have at once.
            seconds: how long to wait for a place; the start of a worker does not count.

        Raises:
            Busy: no place in time.
            Unavailable: workers cannot start.
        """
        waiter = _Waiter(owner, memory_mb, most, asyncio.get_running_loop(), asyncio.Event())
        waiter.deadline = time.monotonic() + seconds
        with self._lock:
            if len(self._waiting) >= _MAX_WAITING:
                raise Busy
            self._waiting.append(waiter)
            self._dispatch()
        try:
            await self._wait(waiter, seconds)
        except BaseException:
            self._give_up(waiter)
            raise
        if waiter.worker is None:
            raise Busy if waiter.refused else Unavailable(str(waiter.failure))
        return waiter.worker

    def release(self, worker: Worker, *, healthy: bool) -> None:
        """Take a worker back; one that is not healthy is killed and replaced."""
        with self._lock:
            self._busy.pop(worker, None)
            worker.runs += 1
            if healthy and worker.runs < self.options.recycle_runs:
                self._put_idle(worker)
            else:
                worker.discard()
                self._refill(worker.memory_mb)
            self._dispatch()

    def close(self) -> None:
        """Kill all workers; runs that wait are told that none is available."""
        with self._lock:
            self._closed = True
            for worker in self._idle:
                worker.discard()
            for worker in self._busy:
                # Whoever talks with it finds out, and gives it back.
                worker.kill()
            self._idle.clear()
            self._fail_waiting(StartError("the server is shutting down"))
            self._lock.notify_all()

    @property
    def closed(self) -> bool:
        """Return whether the server is shutting down."""
        return self._closed

    def states(self) -> list[WorkerState]:
        """Return the workers as they are now."""
        with self._lock:
            pairs = [(worker, "idle") for worker in self._idle] + [
                (worker, "running") for worker in self._busy
            ]
            return [_state(worker, state) for worker, state in pairs]

    async def _wait(self, waiter: _Waiter, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await waiter.event.wait()
        except TimeoutError:
            with self._lock:
                if not (waiter.promised or waiter.event.is_set() or waiter.worker or waiter.failure):
                    raise Busy from None
            # A worker is on its way for this run, or for one before it.
            try:
                async with asyncio.timeout(_START_SECONDS):
                    await waiter.event.wait()
            except TimeoutError:
                raise Busy from None

    def _give_up(self, waiter: _Waiter) -> None:
        with self._lock:
            if waiter in self._waiting:
                self._waiting.remove(waiter)
            if waiter.worker is not None:
                self._busy.pop(waiter.worker, None)
                self._put_idle(waiter.worker)
            self._dispatch()

    def _put_idle(self, worker: Worker) -> None:
        if self._closed:
            worker.discard()
            return
        worker.idle_since = time.monotonic()
        self._idle.append(worker)
        self._ensure_janitor()

    def _dispatch(self) -> None:
        """Serve those who wait, as far as workers go; start workers for the rest. Needs the lock."""
        while self._serve_one():
            pass
        self._start_for_waiting()

    def _serve_one(self) -> bool:
        for waiter in self._in_order():
            worker = self._take_idle(waiter.memory_mb)
            if worker is not None:
                self._waiting.remove(waiter)
                self._busy[worker] = waiter.owner
                waiter.worker = worker
                waiter.wake()
                return True
        return False

    def _in_order(self) -> list[_Waiter]:
        """Return who may be served now: fewest workers held first, then who waited longest."""
        running = len(self._busy)
        owners = list(self._busy.values())
        allowed = [waiter for waiter in self._waiting if running < waiter.most]
        return sorted(allowed, key=lambda waiter: owners.count(waiter.owner))

    def _take_idle(self, memory_mb: int) -> Worker | None:
        for worker in reversed(list(self._idle)):
            if worker.memory_mb != memory_mb:
                continue
            self._idle.remove(worker)
            if worker.is_quiet():
                return worker
            logger.warning("Worker %d ended or spoke while idle, and is replaced", worker.hello.pid)
            worker.discard()
        return None

    def _start_for_waiting(self) -> None:
        pending = self._starting
        for waiter in list(self._waiting):
            if pending > 0:
                pending -= 1
                waiter.promised = True
                continue
            if self._back_off.holds() and not self._busy:
                self._fail(waiter, StartError(self._back_off.reason))
                continue
            if self._back_off.holds() or not self._make_room(waiter.most):
                return
            waiter.promised = True
            self._start(waiter.memory_mb)

    def _make_room(self, most: int) -> bool:
        if len(self._busy) + self._starting >= most:
            return False
        while self._idle and len(self._busy) + self._starting + len(self._idle) >= most:
            self._idle.pop(0).discard()
        return True

    def _refill(self, memory_mb: int) -> None:
        alive = len(self._idle) + len(self._busy) + self._starting
        if alive < max(1, self.options.min_workers) and not self._closed and not self._back_off.holds():
            self._start(memory_mb)

    def _start(self, memory_mb: int) -> None:
        self._starting += 1
        threading.Thread(
            target=self._run_start, args=(memory_mb,), name="mcp-sandbox-start", daemon=True
        ).start()

    def _run_start(self, memory_mb: int) -> None:
        try:
            worker = self.starter(self.options, memory_mb)
        except StartError as error:
            logger.exception("A worker for code could not be started")
            self._started(None, error)
        except Exception as error:
            logger.exception("A worker for code could not be started")
            self._started(None, StartError(str(error)))
        else:
            self._started(worker, None)

    def _started(self, worker: Worker | None, error: StartError | None) -> None:
        with self._lock:
            self._starting -= 1
            for waiter in self._waiting:
                waiter.promised = False
            if worker is None:
                self._back_off.failed(str(error))
            else:
                self._back_off.succeeded()
                self._put_idle(worker)
            self._dispatch()
            self._refuse_late()

    def _refuse_late(self) -> None:
        now = time.monotonic()
        for waiter in [waiter for waiter in self._waiting if not waiter.promised and waiter.deadline < now]:
            self._waiting.remove(waiter)
            waiter.refused = True
            waiter.wake()

    def _fail_waiting(self, error: StartError) -> None:
        for waiter in list(self._waiting):
            self._fail(waiter, error)

    def _fail(self, waiter: _Waiter, error: StartError) -> None:
        self._waiting.remove(waiter)
        waiter.failure = error
        waiter.wake()

    def _ensure_janitor(self) -> None:
        if self._janitor is None:
            self._janitor = threading.Thread(target=self._sweep, name="mcp-sandbox-janitor", daemon=True)
            self._janitor.start()

    def _sweep(self) -> None:
        """End workers that nobody used for a while; sleeps until the next one is due, ends when none is left."""
        with self._lock:
            while not self._closed and len(self._idle) + len(self._busy) > self.options.min_workers:
                now = time.monotonic()
                due = [
                    worker for worker in self._idle if now - worker.idle_since >= self.options.idle_seconds
                ]
                for worker in due[: len(self._idle) + len(self._busy) - self.options.min_workers]:
                    self._idle.remove(worker)
                    worker.discard()
                oldest = min((worker.idle_since for worker in self._idle), default=now)
                self._lock.wait(max(0.05, oldest + self.options.idle_seconds - now))
            self._janitor = None


def _state(worker: Worker, state: str) -> WorkerState:
    return WorkerState(
        pid=worker.hello.pid,
        state=state,
        runs=worker.runs,
        memory_limit_mb=worker.memory_mb,
        started=worker.started,
        confinement=worker.hello.confinement,
    )
