"""Programs of mixed kinds at eight clients, thousands of them: what the host holds must not grow (contract Q07)."""

import asyncio
import os
import random
import threading
import time
from pathlib import Path
from typing import Any

from benchmarks.sandbox_runs import run

CLIENTS = 8

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
