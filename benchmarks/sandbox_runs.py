"""Runs and inner calls in this process, beside the dispatcher called from Python (contract Q02, Q03), and large values (C10).

Times are what a quarter of the rounds stay below; all that is compared takes turns within one round. The processor's time of
this process and its worker stands beside, which other work on the machine changes least.
"""

import asyncio
import json
import os
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from benchmarks.targets import Report, lower_quartile

ROWS = [
    {"id": n, "name": f"user {n}", "email": f"user{n}@example.com", "active": n % 2 == 0}
    for n in range(10_000)
]
ROWS_TEXT = json.dumps(ROWS, separators=(",", ":")).encode()
MAKE_ROWS = (
    "const rows = Array.from({length: 10000}, (_, id) => "
    "({id, name: 'user ' + id, email: 'user' + id + '@example.com', active: id % 2 == 0}))"
)
ROUNDS = 20
Work = Callable[[], Awaitable[Any]]


async def tool(name: str, arguments: Any) -> Any:
    """Be a tool that does nothing."""
    from mcp_server.codemode.executor import ToolSuccess

    return ToolSuccess(b"1")


async def rows(name: str, arguments: Any) -> Any:
    """Be a tool that gives 0.8 MB of JSON."""
    from mcp_server.codemode.executor import ToolSuccess

    return ToolSuccess(ROWS_TEXT)


async def run(code: str, *, tools: int = 10, owner: Any = None, call: Any = tool, **limits: int) -> Any:
    """Return the outcome of a program at the executor: no MCP, no log, no parser."""
    from mcp_server.codemode.executor import Job, execute
    from mcp_server.policy.limits import Limits

    names = {f"tool_{n}": f"tool-{n}" for n in range(tools)}
    chosen = Limits(**{"max_tool_calls": 1000, "max_queue_ms": 30_000, **limits})
    return await execute(Job(code=code, tools=names, limits=chosen, owner=owner), call)


def workers() -> list[Any]:
    """Return this process's workers."""
    from mcp_server.codemode import executor

    return executor.workers()


def processor_ms() -> float:
    """Return the processor's time that this process and its workers have used."""
    # The processor clock of another process, as clock_getcpuclockid(3) makes it: threads that have ended count too.
    clocks = [(~worker.pid << 3) | 2 for worker in workers()]
    return (time.process_time() + sum(map(time.clock_gettime, clocks))) * 1000


async def take_turns(works: dict[str, Work]) -> tuple[dict[str, float], dict[str, float]]:
    """Return milliseconds by the clock and of the processor, each work measured once a round."""
    clock: dict[str, list[float]] = {name: [] for name in works}
    processor: dict[str, list[float]] = {name: [] for name in works}
    for number in range(ROUNDS + 2):
        for name, work in works.items():
            await asyncio.sleep(0.01)  # the worker makes its next realm
            spent, begun = processor_ms(), time.perf_counter()
            await work()
            if number > 1:
                clock[name].append((time.perf_counter() - begun) * 1000)
                processor[name].append(processor_ms() - spent)
    return (
        {name: lower_quartile(values) for name, values in clock.items()},
        {name: lower_quartile(values) for name, values in processor.items()},
    )


async def measure_runs(report: Report) -> None:
    """Print what inner calls and large values cost."""
    begun = time.perf_counter()
    await run("return 1")
    cold = (time.perf_counter() - begun) * 1000
    clock, processor = await take_turns({**await _through_the_spine(), **_at_the_executor()})

    def each(found: dict[str, float], name: str, base: str, direct: str = "") -> float:
        return (found[name] - found[base] - (found[direct] if direct else 0.0)) / 100

    report.head("in one process")
    report.note("a cold start and `return 1`", cold, "ms")
    report.note("`return 1` at the executor", clock["empty"], "ms")
    report.note("a call through the dispatcher from Python", clock["direct"] / 100, "ms")
    for name, direct, most in (("sequence", "direct", 0.5), ("parallel", "direct in parallel", 0.1)):
        report.line(
            f"an inner call in {name}, over the dispatcher", each(clock, name, "nothing", direct), "ms", most
        )
        report.note("its processor time, both processes", each(processor, name, "nothing", direct), "ms")
    few, many = each(processor, "10 tools", "empty"), each(processor, "500 tools", "empty 500")
    report.line("an inner call with 500 tools beside 10, processor", many / few, "times", 1.1)
    size = f"{len(ROWS_TEXT) / 1e6:.1f} MB of JSON"
    for what, name, base in (("as the result", "large", "made"), ("from a tool", "received", "empty")):
        report.line(f"{size} {what}", clock[name] - clock[base], "ms", 15)
        report.note("its processor time, both processes", processor[name] - processor[base], "ms")
    report.note("the same text by json.loads and dumps", clock["plain"], "ms")


async def _through_the_spine() -> dict[str, Work]:
    """Programs and direct calls of the same tool, as the same caller."""
    from mcp_server.calls.caller import enter_as
    from mcp_server.calls.dispatcher import call_tool
    from mcp_server.codemode.program import run_program

    caller = await enter_as(None, "code")
    inside = caller.on_side("inside")

    async def program(code: str) -> None:
        result = await run_program(caller, code)
        assert result.ok, result

    async def in_sequence() -> None:
        for _ in range(100):
            assert (await call_tool(inside, "add-async", {"a": 2, "b": 3})).json == b"5"

    async def in_parallel() -> None:
        await asyncio.gather(*(call_tool(inside, "add-async", {"a": 2, "b": 3}) for _ in range(100)))

    call = "codemode.add_async({a: 2, b: 3})"
    return {
        "nothing": lambda: program("return 1"),
        "sequence": lambda: program(f"for (let i = 0; i < 100; i++) await {call}"),
        "parallel": lambda: program(f"await Promise.all(Array.from({{length: 100}}, () => {call}))"),
        "direct": in_sequence,
        "direct in parallel": in_parallel,
    }


def _at_the_executor() -> dict[str, Work]:
    sequence = "for (let i = 0; i < 100; i++) await codemode.tool_1({i})"

    async def plain() -> None:
        json.dumps(json.loads(ROWS_TEXT))

    return {
        "empty": lambda: run("return 1"),
        "10 tools": lambda: run(sequence),
        "empty 500": lambda: run("return 1", tools=500),
        "500 tools": lambda: run(sequence, tools=500),
        "made": lambda: run(f"{MAKE_ROWS}; return rows.length"),
        "large": lambda: run(f"{MAKE_ROWS}; return rows", max_result_bytes=8 << 20),
        "received": lambda: run(
            "return (await codemode.tool_1()).length", call=rows, max_tool_response_bytes=8 << 20
        ),
        "plain": plain,
    }


def settle(database: Path) -> None:
    """Set Django up on the benchmark's project, with an endpoint whose programs may call its tools."""
    os.environ["BENCHMARK_DATABASE"] = str(database)
    os.environ["DJANGO_SETTINGS_MODULE"] = "benchmarks.sandbox_settings"
    from benchmarks import sandbox_server

    assert sandbox_server.view
