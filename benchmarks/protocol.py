"""How fast MCP is served, as ratios to a plain Django view within one run (contract Q06).

    python -m benchmarks.protocol                       # everything, three rounds
    python -m benchmarks.protocol --seconds 1 --only door-async --only plain

Each column is a server process of its own under uvicorn, or gunicorn with four threads; the rounds go over all columns in
turn, so that a busy moment of the machine hits all of them. Every answer is checked once before the load.
"""

import argparse
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

from benchmarks.load import request_rate
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


@dataclass(frozen=True)
class Target:
    """A ratio of requests per second that contract Q06 promises, at each number of `CONNECTIONS`."""

    column: str
    base: str
    task: str
    least: tuple[float, float]


TARGETS = [
    Target("door-async-2026", "plain", "add", (7, 14)),
    Target("door-async-2025", "plain", "add", (7, 14)),
    Target("door-sync-2026", "plain", "add", (4, 12)),
    Target("door-sync-2025", "plain", "add", (4, 12)),
    Target("door-async-2026", "plain", "list", (8, 20)),
    Target("door-async-2026", "plain", "rows", (3, 3)),
    Target("door-sync-2026", "plain", "rows", (3, 3)),
    Target("door-async-2026", "sdk-2026", "add", (2, 5)),
    Target("door-async-2025", "sdk-2025", "add", (3, 8)),
    Target("view-sync-2026", "plain", "add", (0.85, 0.85)),
    Target("view-sync-2026", "plain", "list", (1.2, 1.2)),
    Target("view-gunicorn", "plain-gunicorn", "add", (0.85, 0.85)),
    Target("view-gunicorn", "plain-gunicorn", "list", (1.2, 1.2)),
]
Rates = dict[str, dict[str, float]]


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
                        rate = request_rate(ports[column.name], message, connections, length, EXPECTED[task])
                        if number:
                            rates[column.name].setdefault(f"{task} {connections}", []).append(rate)
    return rates


def print_tables(medians: Rates) -> None:
    """Print ratios to the plain view, rates, and what became of each target."""
    cells = list(next(iter(medians.values())))
    print(f"{'':18}" + "".join(f"{cell:>12}" for cell in cells))
    for name, row in medians.items():
        base = medians.get("plain-gunicorn" if "gunicorn" in name else "plain", dict.fromkeys(cells, 1.0))
        print(f"{name:18}" + "".join(f"{row[cell] / base[cell]:12.2f}" for cell in cells))
    # The rates are this machine's own: `benchmarks.measured` keeps what goes to the standard output.
    print("\nRequests per second, medians:", file=sys.stderr)
    for name, row in medians.items():
        print(f"{name:18}" + "".join(f"{row[cell]:12.0f}" for cell in cells), file=sys.stderr)
    print("\nTargets of contract Q06, at 1 and 16 connections:")
    for target in TARGETS:
        if {target.column, target.base} <= medians.keys():
            found = [
                medians[target.column][f"{target.task} {connections}"]
                / medians[target.base][f"{target.task} {connections}"]
                for connections in CONNECTIONS
            ]
            holds = all(ratio >= least for ratio, least in zip(found, target.least, strict=True))
            print(
                f"{target.column} against {target.base}, {target.task}: "
                f"{found[0]:.2f} and {found[1]:.2f} of at least {target.least[0]:g} and {target.least[1]:g}"
                f"{', holds' if holds else ', MISSED'}"
            )


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
    medians = {
        name: {cell: statistics.median(values) for cell, values in row.items()} for name, row in rates.items()
    }
    print_tables(medians)
    if options.json:
        options.json.write_text(json.dumps(rates, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
