"""What the log costs, and how its pages and its pruning hold at a million rows (contract A07).

python -m benchmarks.log cost      calls that a second of the processor serves, with and without the log, under uvicorn
python -m benchmarks.log million   the admin's list of 1,000,000 calls; pruning them while calls go on
"""

import asyncio
import json
import os
import socket
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

CONNECTIONS = 16
SECONDS = 2.0
ROUNDS = 5
BODY = json.dumps(
    {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": "add", "arguments": {"a": 1, "b": 2}},
    }
).encode()


def main() -> None:
    if sys.argv[1:] == ["million"]:
        million()
    else:
        cost()


@dataclass
class Server:
    """A server process; `answered` counts the calls that it answered."""

    port: int
    database: str
    pid: int
    answered: int = 0

    @property
    def cpu_seconds(self) -> float:
        """Its time on the processor, all threads: on a busy machine a better measure than the clock."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def cost() -> None:
    for name, door, least in (("view", "0", 0.90), ("ASGI door", "1", 0.80)):
        os.environ["BENCH_DOOR"] = door
        with tempfile.TemporaryDirectory() as folder:
            with serving(f"{folder}/log", log="1") as logged, serving(f"{folder}/bare", log="0") as bare:
                ratios = [compare(logged, bare, in_turn=number % 2 == 0) for number in range(ROUNDS + 1)][1:]
            rows = stored(logged.database)
        print(f"{name}: {statistics.median(ratios):.2f} of the speed without a log (at least {least:.2f})")
        print(f"{name}: {rows:,} rows stored after a graceful stop, {logged.answered:,} calls answered\n")


def compare(logged: Server, bare: Server, *, in_turn: bool) -> float:
    """Return what the log leaves of the calls that a second of the processor serves.

    Neighbours in time are compared: other work on the machine hits both.
    """
    rates = {}
    for server in (logged, bare) if in_turn else (bare, logged):
        answered, spent = server.answered, server.cpu_seconds
        asyncio.run(load(server))
        rates[server.port] = (server.answered - answered) / (server.cpu_seconds - spent)
    print(
        f"calls per second of the processor: {rates[logged.port]:,.0f} with log, {rates[bare.port]:,.0f} without",
        file=sys.stderr,
    )
    return rates[logged.port] / rates[bare.port]


@contextmanager
def serving(database: str, *, log: str):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = {**os.environ, "DEMO_DATABASE": database, "BENCH_LOG": log}
    subprocess.run([sys.executable, "manage.py", "migrate", "-v0"], env=environment, check=True)
    process = subprocess.Popen([sys.executable, "-m", "benchmarks.log_server", str(port)], env=environment)
    try:
        wait_for(port)
        yield Server(port, database, process.pid)
    finally:
        process.terminate()
        process.wait(30)


def wait_for(port: int) -> None:
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        with socket.socket() as attempt:
            if attempt.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise TimeoutError("the server does not answer")


def stored(database: str) -> int:
    with closing(sqlite3.connect(database)) as connection:
        return connection.execute("SELECT count(*) FROM mcp_toolkit_toolcall").fetchone()[0]


async def load(server: Server) -> None:
    deadline = time.monotonic() + SECONDS
    server.answered += sum(
        await asyncio.gather(*(one_client(server.port, deadline) for _ in range(CONNECTIONS)))
    )


async def one_client(port: int, deadline: float) -> int:
    head = (
        "POST /mcp/bench HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        "Accept: application/json\r\nMCP-Protocol-Version: 2025-06-18\r\n"
        f"Content-Length: {len(BODY)}\r\n\r\n"
    ).encode()
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    done = 0
    while time.monotonic() < deadline:
        writer.write(head + BODY)
        answer = await reader.readuntil(b"\r\n\r\n")
        length = next(line for line in answer.lower().split(b"\r\n") if line.startswith(b"content-length"))
        content = await reader.readexactly(int(length.split(b":")[1]))
        assert b'"text":"3"' in content, (answer, content)
        done += 1
    writer.close()
    return done


def million() -> None:
    folder = tempfile.TemporaryDirectory()
    os.environ["DEMO_DATABASE"] = str(Path(folder.name) / "million.sqlite3")
    os.environ["DJANGO_SETTINGS_MODULE"] = "demo_project.settings"
    os.environ["DEMO_DEBUG"] = "0"
    import django

    django.setup()
    from django.core.management import call_command

    call_command("migrate", verbosity=0)
    fill(1_000_000)
    time_lists()
    prune_while_calls_go_on()
    folder.cleanup()


def fill(rows: int) -> None:
    from datetime import timedelta

    from django.db import connection
    from django.utils import timezone

    from mcp_server.calls.journal import CallRecord
    from mcp_server.calls.journal.statements import insert
    from mcp_server.models import ToolCall

    now, statuses = timezone.now(), ["ok"] * 19 + ["crashed"]
    for start in range(0, rows, 10_000):
        insert(
            connection,
            ToolCall,
            [
                CallRecord(
                    endpoint=f"endpoint-{number % 3}",
                    tool=f"tool-{number % 40}",
                    status=statuses[number % 20],
                    username=f"user-{number % 200}",
                    arguments=json.dumps({"id": str(number)}),
                    reference=f"ref-{number}" if number % 20 == 19 else "",
                    started=now - timedelta(seconds=3 * (rows - number)),
                )
                for number in range(start, start + 10_000)
            ],
        )


def time_lists() -> None:
    from django.contrib.auth.models import User
    from django.db import connection
    from django.test import Client
    from django.test.utils import CaptureQueriesContext

    client = Client(headers={"host": "localhost"})
    client.force_login(User.objects.create_superuser("root"))
    for query in (
        "",
        "?tool=tool-7",
        "?outcome=failed",
        "?user=user-9",
        "?p=90",
        "?q=ref-999999",
        "?endpoint=endpoint-1",
    ):
        with CaptureQueriesContext(connection) as queries:
            started = time.perf_counter()
            response = client.get(f"/admin/mcp_toolkit/toolcall/{query}")
        assert response.status_code == 200, response
        print(
            f"list of 1,000,000 calls {query or '(all)':<22} {len(queries)} queries, {time.perf_counter() - started:.2f} s"
        )


def prune_while_calls_go_on() -> None:
    from mcp_server.calls import journal
    from mcp_server.policy.retention import Pruning, Retention

    stop, waits = threading.Event(), []

    def call() -> None:
        while not stop.is_set():
            began = time.perf_counter()
            journal.record_call(journal.CallRecord(endpoint="e", tool="t", status="ok"))
            journal.flush(60)
            waits.append(time.perf_counter() - began)

    caller = threading.Thread(target=call)
    caller.start()
    began = time.perf_counter()
    pruned = Pruning(retention=Retention(keep_days=14, keep_failed_days=30, max_rows=100_000)).run()
    stop.set()
    caller.join()
    print(
        f"pruned {pruned.calls:,} calls in {time.perf_counter() - began:.1f} s; meanwhile {len(waits)} rows were written, "
        f"the slowest in {max(waits):.2f} s, {journal.lost_rows()} lost"
    )


if __name__ == "__main__":
    main()
