"""What a run of code costs at the executor, beside the cheapest Python that does the same (contract Q01-Q04, Q07).

    python -m benchmarks.sandbox              ratios
    python -m benchmarks.sandbox --runs 5000  and a soak of so many runs of mixed kinds at 8 clients

The tool of these runs does nothing, so that all that is measured is ours: the process boundary, V8 and the wire.
"""

import argparse
import asyncio
import json
import os
import random
import statistics
import threading
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

CLIENTS = 8
ROWS = [
    {"id": n, "name": f"user {n}", "email": f"user{n}@example.com", "active": n % 2 == 0}
    for n in range(10_000)
]

ROWS_TEXT = json.dumps(ROWS, separators=(",", ":")).encode()
MAKE_ROWS = (
    "const rows = Array.from({length: 10000}, (_, id) => "
    "({id, name: 'user ' + id, email: 'user' + id + '@example.com', active: id % 2 == 0}))"
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=0, help="runs of the soak")
    given = parser.parse_args()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "demo_project.settings")
    import django

    django.setup()
    assert not workers(), "no worker before the first run"
    print(f"Load before: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores\n")
    asyncio.run(ratios())
    if given.runs:
        asyncio.run(soak(given.runs))


async def tool(name: str, arguments: Any) -> Any:
    from mcp_server.codemode.executor import ToolSuccess

    return ToolSuccess(b"1")


async def run(code: str, *, tools: int = 10, owner: Any = None, call: Any = tool, **limits: int) -> Any:
    from mcp_server.codemode.executor import Job, execute
    from mcp_server.policy.limits import Limits

    names = {f"tool_{n}": f"tool-{n}" for n in range(tools)}
    chosen = Limits(**{"max_tool_calls": 1000, "max_queue_ms": 30_000, **limits})
    return await execute(Job(code=code, tools=names, limits=chosen, owner=owner), call)


async def median(work: Callable[[], Awaitable[Any]], times: int = 15) -> float:
    """Return the median of milliseconds, after one run that warms up."""
    await work()
    taken = []
    for _ in range(times):
        begun = time.perf_counter()
        await work()
        taken.append((time.perf_counter() - begun) * 1000)
    return statistics.median(taken)


async def ratios() -> None:
    begun = time.perf_counter()
    await run("return 1")
    cold = (time.perf_counter() - begun) * 1000
    one = await median(lambda: run("return 1"), 30)
    direct = await median(lambda: direct_calls(100))
    sequence = "for (let i = 0; i < 100; i++) await codemode.tool_1({i})"
    parallel = "await Promise.all(Array.from({length: 100}, (_, i) => codemode.tool_1({i})))"
    in_sequence = await median(lambda: run(sequence))
    in_parallel = await median(lambda: run(parallel))
    many = await median(lambda: run(sequence, tools=500))
    made = await median(lambda: run(f"{MAKE_ROWS}; return rows.length"))
    large = await median(lambda: run(f"{MAKE_ROWS}; return rows", max_result_bytes=8 << 20)) - made
    text = json.dumps(ROWS, separators=(",", ":"))
    plain = await median(lambda: as_coroutine(lambda: json.dumps(json.loads(text))))
    received = await median(
        lambda: run("return (await codemode.tool_1()).length", call=rows, max_tool_response_bytes=8 << 20)
    )
    empty = await median(lambda: run("return 1", tools=500), 30)
    rate = await throughput(200)
    print("| what | ms | beside | ratio |\n|---|---|---|---|")
    line("cold start and `return 1`", cold)
    line("`return 1`", one)
    line("`return 1` with 500 tools", empty, one, "10 tools")
    line("an inner call in sequence", in_sequence / 100, direct / 100, "a call in Python")
    line("an inner call in Promise.all of 100", in_parallel / 100, direct / 100, "a call in Python")
    line("an inner call with 500 tools", (many - empty) / 100, (in_sequence - one) / 100, "10 tools")
    line(f"{len(text) / 1e6:.1f} MB of JSON as the result", large, plain, "json.loads and dumps")
    line(f"{len(text) / 1e6:.1f} MB of JSON from a tool", received, plain, "json.loads and dumps")
    print(f"\n{rate:.0f} runs per second of three calls each, {CLIENTS} clients, {len(workers())} workers")


def line(what: str, milliseconds: float, beside: float = 0.0, name: str = "") -> None:
    ratio = f"{milliseconds / beside:.2f}" if beside else ""
    print(f"| {what} | {milliseconds:.3f} | {name} | {ratio} |")


async def direct_calls(count: int) -> None:
    for _ in range(count):
        await asyncio.create_task(tool("tool-1", {}))


async def as_coroutine(work: Callable[[], Any]) -> Any:
    return work()


async def rows(name: str, arguments: Any) -> Any:
    from mcp_server.codemode.executor import ToolSuccess

    return ToolSuccess(ROWS_TEXT)


async def throughput(count: int) -> float:
    code = "let n = 0; for (let i = 0; i < 3; i++) n += await codemode.tool_1({i}); return n"
    left = iter(range(count))

    async def client(number: int) -> None:
        for _ in left:
            outcome = await run(code, owner=number)
            assert outcome.value == "3", outcome

    await asyncio.gather(*(client(n) for n in range(2)))
    left = iter(range(count))
    begun = time.perf_counter()
    await asyncio.gather(*(client(n) for n in range(CLIENTS)))
    return count / (time.perf_counter() - begun)


# Code and what its outcome must be: a value as JSON text, or a status.
KINDS: list[tuple[str, str]] = [
    ("return 1", "1"),
    ("let n = 0; for (let i = 0; i < 5; i++) n += await codemode.tool_1({i}); return n", "5"),
    ("return (await Promise.all(Array.from({length: 20}, () => codemode.tool_2()))).length", "20"),
    ("for (let i = 0; i < 300; i++) console.log('line', i); return 'logged'", '"logged"'),
    ("await new Promise(r => setTimeout(r, 3)); return new Date(0)", '"1970-01-01T00:00:00.000Z"'),
    ("codemode.tool_1(); codemode.tool_1(); return 'early'", '"early"'),
    ("return null.x", "error"),
    ("let x = ;", "error"),
    ("await new Promise(() => {})", "error"),
    ("return 'x'.repeat(300000).length", "300000"),
]
RARE: list[tuple[str, str]] = [
    ("for (;;);", "limit"),
    ("const a = []; for (;;) a.push(new Uint8Array(1e8).fill(1))", "error"),
    (
        "let a = []; for (let i = 0; ; i++) { const s = 'y'.repeat(2 ** 26) + i; s.charCodeAt(5); a.push(s.toUpperCase()) }",
        "limit",
    ),
]


async def soak(count: int) -> None:
    """Run programs of mixed kinds at 8 clients; print what the host holds on the way."""
    generator = random.Random(1)
    plan = iter([generator.choice(RARE if n % 100 == 99 else KINDS) for n in range(count)])
    wrong: list[Any] = []
    done = 0

    async def client(number: int) -> None:
        nonlocal done
        for code, expected in plan:
            outcome = await run(code, owner=number, cpu_time_limit_ms=1000)
            if expected not in (outcome.value, outcome.status):
                wrong.append((code, outcome))
            done += 1
            if done % max(1, count // 10) == 0:
                print(f"| {done} | {holdings()} |")

    print(
        f"\nSoak of {count} runs at {CLIENTS} clients\n\n| runs | host RSS MB | descriptors | threads | child processes |\n|---|---|---|---|---|"
    )
    begun = time.perf_counter()
    await asyncio.gather(*(client(n) for n in range(CLIENTS)))
    print(f"\n{count / (time.perf_counter() - begun):.0f} runs per second; {len(wrong)} wrong")
    for item in wrong[:5]:
        print(item)
    assert not wrong


def holdings() -> str:
    resident = int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE") / 2**20
    descriptors = len(list(Path("/proc/self/fd").iterdir()))
    children = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    return f"{resident:.1f} | {descriptors} | {threading.active_count()} | {len(children)}"


def workers() -> list[Any]:
    from mcp_server.codemode import executor

    return executor.workers()


if __name__ == "__main__":
    main()
