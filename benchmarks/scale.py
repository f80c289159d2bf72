"""How more web processes serve more runs of code: one, then three behind a balancer, with eight clients (issue of the sandbox).

    python -m benchmarks.scale

Each process has its own two workers. Programs that wait for a tool need no processor, so they show what processes add on any
machine; programs that compute show that processes add no cores. With redis-server on the path the processes share a channel
layer, as a site with several processes has one; without it they run without.
"""

import argparse
import asyncio
import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.served import make_database, serving, tool_call
from tests.protocol.balancer import balancing
from tests.protocol.servers import answers, free_port

CLIENTS = 8
PROCESSES = (1, 3)
PROGRAMS = {
    "waits 200 ms for a tool": "await codemode.wait_a_moment({milliseconds: 200}); return 'done'",
    "computes": "let n = 0; for (let i = 0; i < 2000000; i++) n += i % 7; return n > 0 ? 'done' : ''",
}


@contextlib.contextmanager
def channel_layer() -> Iterator[dict[str, str]]:
    """Run Redis if it is installed, and give what a server must know of it."""
    if shutil.which("redis-server") is None:
        yield {}
        return
    port = free_port()
    command = ["redis-server", "--port", str(port), "--save", "", "--bind", "127.0.0.1"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        while not answers(port):
            time.sleep(0.05)
        yield {"BENCHMARK_REDIS": f"redis://127.0.0.1:{port}"}
    finally:
        process.terminate()
        process.wait(10)


async def rate(port: int, code: str, seconds: float) -> float:
    """Return the runs per second that the clients get; each request has a connection of its own, so that it may go anywhere.

    Raises:
        RuntimeError: when an answer is not the program's.
    """
    request = tool_call(port, "/mcp/code", "code", {"code": code})
    deadline = time.perf_counter() + seconds

    async def client() -> int:
        count = 0
        while time.perf_counter() < deadline:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(request)
            answer = await reader.read()
            writer.close()
            await writer.wait_closed()
            if b'"result":"done"' not in answer:
                raise RuntimeError(f"A wrong answer: {answer[:500]!r}")
            count += 1
        return count

    begun = time.perf_counter()
    counts = await asyncio.gather(*(client() for _ in range(CLIENTS)))
    return sum(counts) / (time.perf_counter() - begun)


def measure(processes: int, database: Path, layer: dict[str, str], seconds: float) -> dict[str, float]:
    """Return runs per second by program."""
    with contextlib.ExitStack() as stack:
        ports = [
            stack.enter_context(serving("benchmarks.sandbox_server:door", database, **layer))[0]
            for _ in range(processes)
        ]
        balancer = stack.enter_context(balancing(ports))
        found = {}
        for words, code in PROGRAMS.items():
            asyncio.run(rate(balancer.port, code, 1.0))  # the workers start
            found[words] = asyncio.run(rate(balancer.port, code, seconds))
        counts = {port: balancer.passed.count(port) for port in ports}
        assert min(counts.values()) > 0, counts
        return found


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=6.0, help="how long each rate is measured")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, channel_layer() as layer:
        database = make_database(folder)
        print(f"{CLIENTS} clients, {os.cpu_count()} cores, {'Redis' if layer else 'no channel layer'}\n")
        rates = [measure(count, database, layer, given.seconds) for count in PROCESSES]
    print("| program | 1 process | 3 processes | ratio |\n|---|---|---|---|")
    for words in PROGRAMS:
        one, three = (found[words] for found in rates)
        print(f"| {words} | {one:.1f} runs/s | {three:.1f} runs/s | {three / one:.2f} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
