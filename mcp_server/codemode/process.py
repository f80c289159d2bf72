"""One worker process as the host sees it: started, spoken to over a socket, and killed when in doubt."""

import asyncio
import contextlib
import importlib.util
import json
import logging
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

from mcp_server.codemode.confinement import missing_confinement
from mcp_server.codemode.hindrance import known_hindrance
from mcp_server.codemode.wire import Hello, VersionMismatch, Violation, read_hello
from mcp_server.codemode.worker.terms import HEADER, HELLO
from mcp_server.conf import SandboxOptions

logger = logging.getLogger("mcp_server.sandbox")

_LAUNCH: Final = Path(__file__).resolve().parent / "worker" / "launch.py"
_START_SECONDS: Final = 30.0
_CHUNK: Final = 1 << 18
_MAX_HELLO: Final = 65_536
_T = TypeVar("_T")


_workers: "weakref.WeakSet[Worker]" = weakref.WeakSet()
_sockets: "weakref.WeakSet[socket.socket]" = weakref.WeakSet()


class WorkerGone(Exception):
    """The worker ended; its exit code, if the system told, is in `code`."""

    def __init__(self, code: int | None) -> None:
        super().__init__(code)
        self.code = code


class StartError(Exception):
    """A worker did not start; the text is for the server's log."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerState:
    """A worker as the admin shows it. `confinement` is what it reported and what its self-test found."""

    pid: int
    state: str
    runs: int
    memory_limit_mb: int
    started: float
    confinement: dict[str, Any]


class Worker:
    """A started worker. Its socket belongs to whoever holds the worker: one run at a time, from any event loop."""

    def __init__(self, process: subprocess.Popen[bytes], connection: socket.socket, memory_mb: int) -> None:
        self.process = process
        self.connection = connection
        self.memory_mb = memory_mb
        self.hello = Hello(process.pid, {})
        self.runs = 0
        self.started = time.time()
        self.idle_since = 0.0
        self.alive = True
        self._buffer = bytearray()
        # Held while standard error is read or closed: its number may be another file's right after.
        self._errors = threading.Lock()
        if process.stderr is not None:
            os.set_blocking(process.stderr.fileno(), False)
        _workers.add(self)

    async def send(self, data: bytes) -> None:
        """Write frames whole."""
        try:
            await asyncio.get_running_loop().sock_sendall(self.connection, data)
        except OSError as error:
            raise await self._gone() from error

    async def receive(self, limit: int) -> bytes:
        """Return the next payload.

        Raises:
            WorkerGone: the worker ended.
            Violation: the frame announces more than `limit` bytes.
        """
        loop = asyncio.get_running_loop()
        while (payload := self._take(limit)) is None:
            try:
                data = await loop.sock_recv(self.connection, _CHUNK)
            except OSError as error:
                raise await self._gone() from error
            if not data:
                raise await self._gone()
            self._buffer += data
        return payload

    def is_quiet(self) -> bool:
        """Return whether an idle worker is as it should be: running, and with nothing to say."""
        return self.process.poll() is None and not self._buffer and self._says_nothing()

    def kill(self) -> None:
        """End the worker at once; whoever talks with it finds its socket at an end. Its exit is awaited elsewhere."""
        if not self.alive:
            return
        self.alive = False
        with contextlib.suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)
        if self.process.poll() is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                # Its whole session: a SANDBOX["COMMAND"] may stand between us and the worker.
                os.killpg(self.process.pid, signal.SIGKILL)
        try:
            threading.Thread(target=self._reap, name="mcp-sandbox-reaper", daemon=True).start()
        except RuntimeError:
            self._reap()  # no thread starts any more while the interpreter shuts down

    def discard(self) -> None:
        """Kill a worker that nobody talks with any more, and close its socket."""
        self.kill()
        self.connection.close()

    def abandon(self) -> None:
        """Forget a worker that belongs to the parent of this forked process, without any harm to it."""
        self.alive = False
        self.process.returncode = 0
        if self.process.stderr is not None:
            self.process.stderr.close()

    def final_words(self) -> str:
        """Return what a worker that did not start has to say, once it ended or was made to."""
        if self._wait() is None:
            self.kill()
        return self.last_words()

    def last_words(self) -> str:
        """Return the first line that the worker wrote to its standard error, for the server's log."""
        with self._errors:
            stream = self.process.stderr
            if stream is None or stream.closed:
                return ""
            try:
                text = os.read(stream.fileno(), 4096).decode(errors="replace")
            except BlockingIOError:
                return ""
        return next((line.strip()[:300] for line in text.splitlines() if line.strip("# \t")), "")

    def _says_nothing(self) -> bool:
        try:
            self.connection.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
        except BlockingIOError:
            return True
        except OSError:
            return False
        return False

    def _take(self, limit: int) -> bytes | None:
        if len(self._buffer) < HEADER.size:
            return None
        length = HEADER.unpack_from(self._buffer)[0]
        if not 0 < length <= limit:
            raise Violation("frame of a length out of range")
        end = HEADER.size + length
        if len(self._buffer) < end:
            return None
        payload = bytes(memoryview(self._buffer)[HEADER.size : end])
        del self._buffer[:end]
        return payload

    async def _gone(self) -> WorkerGone:
        code = await in_thread(self._wait)
        words = self.last_words()
        logger.warning("Worker %d ended with code %s%s", self.hello.pid, code, f": {words}" if words else "")
        return WorkerGone(code)

    def _wait(self) -> int | None:
        try:
            return self.process.wait(2.0)
        except subprocess.TimeoutExpired:
            return None

    def _reap(self) -> None:
        self.process.wait()
        with self._errors:
            if self.process.stderr is not None:
                self.process.stderr.close()


def start_worker(options: SandboxOptions, memory_mb: int) -> Worker:
    """Return a worker that said hello. Blocks: to be called from a thread.

    Raises:
        StartError: it did not start, or is of another version than this process.
    """
    ours, theirs = socket.socketpair()
    _sockets.update((ours, theirs))
    with theirs:
        try:
            process = _popen(options, memory_mb, theirs)
        except StartError:
            ours.close()
            raise
    worker = Worker(process, ours, memory_mb)
    try:
        worker.hello = _greet(ours)
    except VersionMismatch as error:
        worker.discard()
        raise StartError("its files are of another version than this process: restart the server") from error
    except (OSError, Violation) as error:
        words = worker.final_words() or str(error)
        worker.discard()
        hindrance = known_hindrance()
        raise StartError(f"it did not start: {words}{f'; {hindrance}' if hindrance else ''}") from error
    ours.setblocking(False)
    _check_confinement(worker, options)
    return worker


def _check_confinement(worker: Worker, options: SandboxOptions) -> None:
    missing = missing_confinement(worker.hello.confinement)
    if not missing:
        return
    if options.require_confinement:
        worker.discard()
        raise StartError(f"SANDBOX['REQUIRE_CONFINEMENT'] is set and this is missing: {'; '.join(missing)}")
    logger.warning("Worker %d is not fully confined: %s", worker.hello.pid, "; ".join(missing))


def _popen(options: SandboxOptions, memory_mb: int, connection: socket.socket) -> subprocess.Popen[bytes]:
    found = importlib.util.find_spec("py_mini_racer")
    if found is None or not found.submodule_search_locations:
        raise StartError("mini-racer is not installed")
    config = {"v8": found.submodule_search_locations[0], "memory_mb": memory_mb, "jitless": options.jitless}
    python = options.python or sys.executable
    command = [*options.command, python, "-I", "-S", "-B", str(_LAUNCH), json.dumps(config)]
    try:
        return subprocess.Popen(  # noqa: S603 - the project's own command
            command,
            stdin=connection.fileno(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            cwd="/",
            env={},
            start_new_session=True,
        )
    except OSError as error:
        raise StartError(f"{command[0]} cannot be run: {error.strerror}") from error


def _greet(connection: socket.socket) -> Hello:
    connection.settimeout(_START_SECONDS)
    length = HEADER.unpack(_exactly(connection, HEADER.size))[0]
    if not 0 < length <= _MAX_HELLO:
        raise Violation("greeting of a length out of range")
    payload = _exactly(connection, length)
    if payload[:1] != HELLO:
        raise Violation("first frame is no greeting")
    return read_hello(payload[1:])


def _exactly(connection: socket.socket, count: int) -> bytes:
    data = bytearray()
    while len(data) < count:
        chunk = connection.recv(count - len(data))
        if not chunk:
            raise ConnectionResetError("it closed the connection")
        data += chunk
    return bytes(data)


async def in_thread(function: Callable[[], _T]) -> _T:
    """Return what `function` returns; a thread of our own, since a loop's default pool may outlive a short loop."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[_T] = loop.create_future()

    def deliver(result: _T) -> None:
        if not future.done():
            future.set_result(result)

    def run() -> None:
        result = function()
        with contextlib.suppress(RuntimeError):  # the loop may be closed when nobody waits any more
            loop.call_soon_threadsafe(deliver, result)

    threading.Thread(target=run, name="mcp-sandbox-wait", daemon=True).start()
    return await future


def _leave_to_parent() -> None:
    """In a forked child: close the inherited ends, so that workers see the end of their real host."""
    for worker in list(_workers):
        worker.abandon()
    for connection in list(_sockets):
        connection.close()


os.register_at_fork(after_in_child=_leave_to_parent)
