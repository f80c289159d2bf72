"""How fast MCP is served, as ratios to a plain Django view within one run (contract Q06).

    python -m benchmarks.protocol                       # everything, three rounds
    python -m benchmarks.protocol --seconds 1 --only door-async --only plain

Each column is a server process of its own under uvicorn, or gunicorn with four threads; the rounds go over all columns in
turn, so that a busy moment of the machine hits all of them. Every answer is checked once before the load.
"""

import argparse
import asyncio
import contextlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.protocol.servers import answers, free_port
from tests.protocol.wire import modern, modern_headers, request

ROOT = Path(__file__).resolve().parent.parent
CONNECTIONS = (1, 16)
TEXT = "x" * 10_000


@dataclass(frozen=True)
class Column:
    """One server: where it runs, and how it is asked."""

    name: str
    command: list[str]
    path: str
    kind: str = ""
    era: str = ""


def _uvicorn(application: str) -> list[str]:
    return ["-m", "uvicorn", f"benchmarks.project.{application}", "--log-level", "error", "--port"]


def _gunicorn(application: str) -> list[str]:
    return [
        "-m",
        "gunicorn",
        f"benchmarks.project.{application}",
        "--threads",
        "4",
        "--log-level",
        "error",
        "-b",
    ]


COLUMNS = [
    Column("plain", _uvicorn("servers:django"), "/plain"),
    Column("sdk-2026", _uvicorn("sdk:application"), "/mcp", "async", "2026"),
    Column("sdk-2025", _uvicorn("sdk:application"), "/mcp", "async", "2025"),
    Column("door-async-2026", _uvicorn("servers:door"), "/mcp", "async", "2026"),
    Column("door-async-2025", _uvicorn("servers:door"), "/mcp", "async", "2025"),
    Column("door-sync-2026", _uvicorn("servers:door"), "/mcp", "sync", "2026"),
    Column("door-sync-2025", _uvicorn("servers:door"), "/mcp", "sync", "2025"),
    Column("view-sync-2026", _uvicorn("servers:django"), "/mcp", "sync", "2026"),
    Column("plain-gunicorn", _gunicorn("servers:wsgi"), "/plain"),
    Column("view-gunicorn", _gunicorn("servers:wsgi"), "/mcp", "sync", "2026"),
]

TASKS: dict[str, tuple[str, dict[str, Any]]] = {
    "add": ("add", {"a": 2, "b": 3}),
    "list": ("", {}),
    "rows": ("rows", {}),
    "echo": ("echo", {"text": TEXT}),
}
EXPECTED = {"add": "5", "list": "tool-099", "rows": "name-99", "echo": TEXT[:100]}


def make_request(column: Column, task: str, port: int) -> bytes:
    """The bytes of one request."""
    name, arguments = TASKS[task]
    headers: dict[str, str] = {"Content-Type": "application/json"}
    if not column.kind:
        message: dict[str, Any] = {"task": task, "arguments": arguments}
    else:
        method = "tools/call" if name else "tools/list"
        tool = f"{name}-{column.kind}" if name else ""
        params = {"name": tool, "arguments": arguments} if name else {}
        if column.era == "2026":
            message = modern(method, params)
            headers = modern_headers(message)
        else:
            message = request(method, params)
            headers |= {"Accept": "application/json, text/event-stream", "Mcp-Protocol-Version": "2025-11-25"}
    body = json.dumps(message).encode()
    headers |= {"Host": f"127.0.0.1:{port}", "Content-Length": str(len(body))}
    head = "".join(f"{key}: {value}\r\n" for key, value in headers.items())
    return f"POST {column.path} HTTP/1.1\r\n{head}\r\n".encode() + body


class Load(asyncio.Protocol):
    """One connection that sends the same request again and again."""

    def __init__(self, message: bytes, deadline: float) -> None:
        self.message = message
        self.deadline = deadline
        self.done: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self.count = 0
        self.buffer = b""
        self.body = b""

    def connection_made(self, transport: Any) -> None:
        self.transport = transport
        transport.write(self.message)

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        head, found, rest = self.buffer.partition(b"\r\n\r\n")
        if not found:
            return
        lower = head.lower()
        if b"content-length: " in lower:
            length = int(lower.split(b"content-length: ")[1].split(b"\r\n")[0])
            if len(rest) < length:
                return
        elif not rest.endswith(b"0\r\n\r\n"):
            return
        if not head.startswith(b"HTTP/1.1 200"):
            self.done.set_exception(RuntimeError(self.buffer[:500].decode("latin-1")))
            return
        self.body, self.buffer = rest, b""
        self.count += 1
        if time.perf_counter() < self.deadline:
            self.transport.write(self.message)
        elif not self.done.done():
            self.done.set_result(self.count)

    def connection_lost(self, error: Exception | None) -> None:
        if not self.done.done():
            self.done.set_exception(error or RuntimeError("The server closed the connection."))


async def _load(port: int, message: bytes, connections: int, seconds: float, expected: str) -> float:
    loop = asyncio.get_running_loop()
    started = time.perf_counter()
    made = [
        (await loop.create_connection(lambda: Load(message, started + seconds), "127.0.0.1", port))[1]
        for _ in range(connections)
    ]
    counts = await asyncio.gather(*(item.done for item in made))
    elapsed = time.perf_counter() - started
    if expected.encode() not in made[0].body:
        raise RuntimeError(f"A wrong answer: {made[0].body[:300]!r}")
    for item in made:
        item.transport.close()
    return sum(counts) / elapsed


@contextlib.contextmanager
def serving(column: Column, database: Path) -> Iterator[int]:
    """Run a column's server and give its port."""
    port = free_port()
    place = str(port) if "uvicorn" in column.command else f"127.0.0.1:{port}"
    environment = {
        **os.environ, "BENCHMARK_DATABASE": str(database), "DJANGO_SETTINGS_MODULE": "benchmarks.project.settings"
    }  # fmt: skip
    process = subprocess.Popen([sys.executable, *column.command, place], cwd=ROOT, env=environment)
    try:
        while not answers(port):
            if process.poll() is not None:
                raise RuntimeError(f"{column.name} did not start")
            time.sleep(0.05)
        yield port
    finally:
        process.terminate()
        process.wait(10)


def measure(columns: list[Column], rounds: int, seconds: float) -> dict[str, dict[str, list[float]]]:
    """Return requests per second: by column, by task and connections, one number a round."""
    rates: dict[str, dict[str, list[float]]] = {column.name: {} for column in columns}
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        database = Path(folder) / "benchmark.sqlite3"
        environment = {
            **os.environ, "BENCHMARK_DATABASE": str(database), "DJANGO_SETTINGS_MODULE": "benchmarks.project.settings"
        }  # fmt: skip
        subprocess.run(
            [sys.executable, "-m", "benchmarks.project.prepare"], cwd=ROOT, env=environment, check=True
        )
        ports = {column.name: stack.enter_context(serving(column, database)) for column in columns}
        for number in range(rounds + 1):
            for task in TASKS:
                for connections in CONNECTIONS:
                    for column in columns:
                        message = make_request(column, task, ports[column.name])
                        # The first round is only to warm up.
                        length = seconds if number else 0.2
                        rate = asyncio.run(
                            _load(ports[column.name], message, connections, length, EXPECTED[task])
                        )
                        if number:
                            rates[column.name].setdefault(f"{task} {connections}", []).append(rate)
    return rates


def main() -> int:
    """Print the table of ratios."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--only", action="append")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    columns = [item for item in COLUMNS if not options.only or item.name in options.only]
    rates = measure(columns, options.rounds, options.seconds)
    cells = list(next(iter(rates.values())))
    print(f"{'':18}" + "".join(f"{cell:>12}" for cell in cells))
    for column in columns:
        base = "plain-gunicorn" if "gunicorn" in column.name else "plain"
        ratios = []
        for cell in cells:
            own = statistics.median(rates[column.name][cell])
            ratios.append(own / statistics.median(rates[base][cell]) if base in rates else own)
        print(f"{column.name:18}" + "".join(f"{ratio:12.2f}" for ratio in ratios))
    print("\nRequests per second, medians:")
    for name, row in rates.items():
        print(f"{name:18}" + "".join(f"{statistics.median(values):12.0f}" for values in row.values()))
    if options.json:
        options.json.write_text(json.dumps(rates, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
