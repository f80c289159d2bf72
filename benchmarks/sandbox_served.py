"""Runs of code through MCP beside plain calls of the same server, and the memory of its process (contract Q01, Q02, Q04, Q07)."""

import tempfile
import time
from typing import Any

from benchmarks.load import request_rate
from benchmarks.served import Client, children, make_database, memory, serving, tool_call
from benchmarks.targets import Report, lower_quartile

SEQUENCE = "for (let i = 0; i < 100; i++) await codemode.add_async({a: 2, b: 3}); return 'done'"
THREE = "let n = 0; for (let i = 0; i < 3; i++) n += await codemode.add_async({a: 2, b: i}); return n"
APPLICATIONS = {"view": "the view", "door": "the door"}
ADD = {"a": 2, "b": 3}
CLIENTS = 8
ROUNDS, REQUESTS = 12, 10


def measure_served(report: Report, seconds: float) -> None:
    """Serve the project by the view, then by the door, and print what a run costs there."""
    with tempfile.TemporaryDirectory() as folder:
        database = make_database(folder)
        sdk = _sdk_memory(database)
        for application, words in APPLICATIONS.items():
            with serving(f"benchmarks.sandbox_server:{application}", database) as (port, pid):
                report.head(f"through MCP, {words}")
                _measure_memory(report, port, pid, sdk)
                _measure_latency(report, port)
                _measure_rate(report, port, seconds)


def _sdk_memory(database: Any) -> tuple[float, float]:
    with serving("benchmarks.project.sdk:application", database, BENCHMARK_WITHOUT_US="1") as (port, pid):
        _ask_once(port)
        return memory(pid)


def _ask_once(port: int) -> None:
    client = Client(port)
    client.ask(tool_call(port, "/mcp", "add-async", ADD), "5")
    client.close()
    time.sleep(0.5)  # what a first request starts in the background


def _measure_memory(report: Report, port: int, pid: int, sdk: tuple[float, float]) -> None:
    _ask_once(port)
    resident, own = memory(pid)
    report.line("idle after one call, beyond the SDK's app", resident - sdk[0], "MiB", 10)
    report.note("of which its own", own - sdk[1], "MiB")
    report.line("workers before the first run", children(pid), "", 0)


def _measure_latency(report: Report, port: int) -> None:
    """Print what runs and calls take, in turns, so that a busy moment of the machine hits all of them."""
    requests = {
        "sync": tool_call(port, "/mcp", "add-sync", ADD),
        "async": tool_call(port, "/mcp", "add-async", ADD),
        "rows": tool_call(port, "/mcp", "rows-sync", {}),
        "run": tool_call(port, "/mcp/code", "code", {"code": "return 1"}),
        "hundred": tool_call(port, "/mcp/code", "code", {"code": SEQUENCE}),
    }
    client = Client(port)
    taken: dict[str, list[float]] = {name: [] for name in requests}
    for number in range(ROUNDS + 1):
        for name, request in requests.items():
            for _ in range(REQUESTS if name != "hundred" else 2):
                milliseconds = client.ask(request, '"resultType":"complete"')
                if number:
                    taken[name].append(milliseconds)
    client.close()
    found = {name: lower_quartile(values) for name, values in taken.items()}
    report.line("`return 1`", found["run"], "ms", 15)
    report.line(
        f"`return 1` beside a sync tool ({found['sync']:.2f} ms)", found["run"] / found["sync"], "times", 5
    )
    report.note(
        f"`return 1` beside an async tool ({found['async']:.2f} ms)", found["run"] / found["async"], "times"
    )
    report.note(
        f"`return 1` beside a tool with a query ({found['rows']:.2f} ms)",
        found["run"] / found["rows"],
        "times",
    )
    calls = 100 * found["async"]
    report.line(
        f"a run of 100 calls ({found['hundred']:.0f} ms) beside 100 direct calls ({calls:.0f} ms)",
        found["hundred"] / calls, "times", 1.5,
    )  # fmt: skip


def _measure_rate(report: Report, port: int, seconds: float) -> None:
    for code, expected in (("return 1", '"result":1'), (THREE, '"result":9')):
        request = tool_call(port, "/mcp/code", "code", {"code": code})
        request_rate(port, request, CLIENTS, 0.5, expected)
        rate = request_rate(port, request, CLIENTS, seconds, expected)
        what = "`return 1`" if code != THREE else "three calls each"
        report.line(f"runs a second at {CLIENTS} clients, {what}", rate, "", 100, least=True)
