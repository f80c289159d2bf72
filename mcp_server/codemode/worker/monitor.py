"""The thread that ends a run at its CPU, wall or memory limit, whatever the program does (contract C13, S04, S05)."""

import json
import os
import select
import threading
import time
from dataclasses import dataclass
from typing import Final

from mcp_server.codemode.worker.channel import Channel
from mcp_server.codemode.worker.memory import resident_bytes
from mcp_server.codemode.worker.realm import NO_MESSAGES, Realm
from mcp_server.codemode.worker.terms import DONE, LIMIT_OF_CAUSE, MESSAGES, Cause

_TICK: Final = 0.01
_GRACE: Final = 0.15
_HANG_UP: Final = select.POLLHUP | select.POLLERR | getattr(select, "POLLRDHUP", 0)


@dataclass(frozen=True, slots=True)
class Bounds:
    """The limits of one run, in seconds and bytes of resident memory."""

    cpu: float
    wall: float
    resident: int


class Monitor(threading.Thread):
    """Sleeps without a timeout while no run is active; sees the host hang up at any time."""

    def __init__(self, channel: Channel) -> None:
        super().__init__(daemon=True, name="monitor")
        self._channel = channel
        self._wake_in, self._wake_out = os.pipe()
        self._lock = threading.Lock()
        self._bounds: Bounds | None = None
        self._realm: Realm | None = None
        self._begun = (0.0, 0.0)
        self._floor = 0
        self.verdict: Cause | None = None
        self.peak = 0

    def begin(self, bounds: Bounds, realm: Realm) -> None:
        """Watch a run from now on."""
        with self._lock:
            self._bounds, self._realm = bounds, realm
            self._begun = (time.process_time(), time.monotonic())
            self._floor = resident_bytes()
            self.peak = 0
        os.write(self._wake_out, b"x")

    def finish(self) -> Cause | None:
        """Stop watching and return None, or the limit that was hit first."""
        with self._lock:
            self.peak = max(self.peak, resident_bytes() - self._floor)
            if self.verdict is None:
                self._bounds = None
            return self.verdict

    def spent(self) -> tuple[float, float]:
        """Return seconds of processor and of clock since the run began."""
        cpu, wall = self._begun
        return time.process_time() - cpu, time.monotonic() - wall

    def run(self) -> None:
        poll = select.poll()
        poll.register(self._channel.socket, _HANG_UP)
        poll.register(self._wake_in, select.POLLIN)
        while True:
            ready = dict(poll.poll(self._pause()))
            if self._wake_in in ready:
                os.read(self._wake_in, 64)
            if self._channel.socket.fileno() in ready:
                os._exit(0)
            if self._bounds is not None:
                self._judge()

    def _pause(self) -> float | None:
        bounds = self._bounds
        if bounds is None:
            return None
        cpu, wall = self.spent()
        return max(1.0, min(_TICK, bounds.cpu - cpu, bounds.wall - wall) * 1000)

    def _judge(self) -> None:
        with self._lock:
            if self._bounds is None:
                return
            self.verdict = self._exceeded(self._bounds)
            verdict = self.verdict
            realm = self._realm
        if verdict is not None and realm is not None:
            self._end(verdict, realm)

    def _exceeded(self, bounds: Bounds) -> Cause | None:
        cpu, wall = self.spent()
        resident = resident_bytes()
        self.peak = max(self.peak, resident - self._floor)
        if resident > bounds.resident:
            return Cause.MEMORY
        if cpu > bounds.cpu:
            return Cause.CPU
        return Cause.WALL if wall > bounds.wall else None

    def _end(self, verdict: Cause, realm: Realm) -> None:
        # The main thread has a moment to bring home what the console holds; a loop of promise jobs never lets it.
        try:
            realm.isolate.interrupt()
            time.sleep(_GRACE)
            if self._channel.lock.acquire(timeout=_GRACE):
                self._channel.lock.release()
                self._tell(verdict, realm)
        finally:
            os._exit(verdict)

    def _tell(self, verdict: Cause, realm: Realm) -> None:
        messages, dropped = realm.unread()
        if messages != NO_MESSAGES:
            self._channel.hold(MESSAGES, messages)
        cpu, wall = self.spent()
        head = {
            "kind": "limit",
            "limit": LIMIT_OF_CAUSE[verdict],
            "cpu": cpu,
            "wall": wall,
            "peak": self.peak,
            "dropped_logs": dropped,
        }
        self._channel.send(DONE, json.dumps(head).encode() + b"\n")
