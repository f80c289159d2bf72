"""A server process for a benchmark, its memory, and a client that keeps one connection."""

import contextlib
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.load import measure
from tests.protocol.servers import answers, free_port
from tests.protocol.wire import modern, modern_headers

ROOT = Path(__file__).resolve().parent.parent


@contextlib.contextmanager
def serving(application: str, database: Path, **environment: str) -> Iterator[tuple[int, int]]:
    """Run uvicorn and give its port and process id.

    Args:
        application: as uvicorn takes it.
        database: the SQLite file.
        environment: variables beside ours.
    """
    port = free_port()
    command = [sys.executable, "-m", "uvicorn", application, "--log-level", "error", "--port", str(port)]
    process = subprocess.Popen(command, cwd=ROOT, env=surroundings(database, **environment))
    try:
        while not answers(port):
            if process.poll() is not None:
                raise RuntimeError(f"{application} did not start")
            time.sleep(0.05)
        yield port, process.pid
    finally:
        process.terminate()
        process.wait(10)


def surroundings(database: Path, **environment: str) -> dict[str, str]:
    """Return the environment of a server of the benchmark's project."""
    ours = {"BENCHMARK_DATABASE": str(database), "DJANGO_SETTINGS_MODULE": "benchmarks.sandbox_settings"}
    return {**os.environ, **ours, **environment}


def make_database(folder: str) -> Path:
    """Return a new database with the project's tables and rows."""
    database = Path(folder) / "benchmark.sqlite3"
    command = [sys.executable, "-m", "benchmarks.project.prepare"]
    subprocess.run(command, cwd=ROOT, env=surroundings(database), check=True)
    return database


def tool_call(port: int, path: str, name: str, arguments: dict[str, Any]) -> bytes:
    """Return the bytes of one `tools/call` of 2026-07-28."""
    message = modern("tools/call", {"name": name, "arguments": arguments})
    body = json.dumps(message).encode()
    headers = {
        **modern_headers(message),
        "Host": f"127.0.0.1:{port}",
        "Content-Length": str(len(body)),
    }
    head = "".join(f"{key}: {value}\r\n" for key, value in headers.items())
    return f"POST {path} HTTP/1.1\r\n{head}\r\n".encode() + body


class Client:
    """One kept-alive connection, whose requests wait for their answers."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port))
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def ask(self, request: bytes, expected: str = "") -> float:
        """Return how many milliseconds the answer took.

        Raises:
            RuntimeError: when it does not hold the expected text.
        """
        begun = time.perf_counter()
        self._socket.sendall(request)
        answer = b""
        while (size := measure(answer)) is None or len(answer) < size:
            part = self._socket.recv(1 << 20)
            if not part:
                raise RuntimeError("The server closed the connection.")
            answer += part
        taken = (time.perf_counter() - begun) * 1000
        if expected.encode() not in answer:
            raise RuntimeError(f"A wrong answer: {answer[:500]!r}")
        return taken

    def close(self) -> None:
        self._socket.close()


def memory(pid: int) -> tuple[float, float]:
    """Return a process's resident MiB, and those of them that are its own."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines()[1:]
    found = {name: int(rest.split()[0]) / 1024 for name, rest in (line.split(":", 1) for line in lines)}
    return found["Rss"], found["Private_Clean"] + found["Private_Dirty"]


def children(pid: int) -> int:
    """Return how many processes a process has started that still run."""
    return len(Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split())
