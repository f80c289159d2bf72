"""What the sandbox's tests share: a run in one line, and the words in which attacks speak of outcomes."""

import asyncio
import json
import time
from typing import Any

from mcp_server.codemode.executor import Job, RunOutcome, ToolFailure, ToolReply, ToolSuccess, execute
from mcp_server.policy.limits import Limits

TOOLS = {"echo": "echo", "slow": "slow", "missing_user": "missing-user", "big": "big", "nothing": "nothing"}
HARMLESS = "return (await codemode.echo({a: 41})).a + 1"
_LIMITS = {
    "cpu_time_limit_ms": "cpu_limit",
    "memory_limit_mb": "memory_limit",
    "wall_time_limit_ms": "wall_limit",
}
_SIZES = {"max_request_bytes", "max_result_bytes"}


async def answer(name: str, arguments: Any) -> ToolReply:
    """Be the tools: echo, one that sleeps, one that fails, one that says much, one that says nothing."""
    match name:
        case "slow":
            await asyncio.sleep(30)
        case "missing-user":
            return ToolFailure(message="[404] User not found", status=404, data={"id": arguments.get("id")})
        case "big":
            return ToolSuccess(
                json.dumps([{"id": n, "name": f"row {n}"} for n in range(arguments["rows"])]).encode()
            )
        case "nothing":
            return ToolSuccess(None)
    return ToolSuccess(json.dumps(arguments).encode())


async def run(
    code: str,
    *,
    call: Any = answer,
    tools: Any = TOOLS,
    owner: Any = None,
    observer: Any = None,
    **limits: int,
) -> RunOutcome:
    """Return the outcome of a program under small limits."""
    chosen = Limits(
        **{"cpu_time_limit_ms": 1000, "wall_time_limit_ms": 20_000, "max_queue_ms": 20_000, **limits}
    )
    return await execute(Job(code=code, tools=tools, limits=chosen, owner=owner), call, observer=observer)


async def value(code: str, **options: Any) -> Any:
    """Return a program's value, parsed; fail with its error."""
    outcome = await run(code, **options)
    assert outcome.status == "ok", outcome
    return None if outcome.value is None else json.loads(outcome.value)


async def error(code: str, **options: Any) -> Any:
    """Return a program's error."""
    outcome = await run(code, **options)
    assert outcome.status != "ok", outcome
    assert outcome.error is not None
    return outcome.error


def label(outcome: RunOutcome) -> str:
    """Return the word that `attacks/expected.json` has for an outcome."""
    if outcome.status == "ok":
        return "value"
    if outcome.status == "limit":
        return _LIMITS[outcome.limit]
    if outcome.limit == "max_tool_calls":
        return "call_limit"
    if outcome.limit in _SIZES:
        return "size_limit"
    assert outcome.error is not None
    if outcome.error.kind in ("never_settles", "tool"):
        return "tool_error" if outcome.error.kind == "tool" else outcome.error.kind
    return f"js_error:{outcome.error.name}" if outcome.status == "error" else outcome.status


def expected(outcome: RunOutcome, outcomes: list[str]) -> bool:
    """Return whether an outcome is one of those; `js_error` alone admits any error of the program."""
    found = label(outcome)
    return found in outcomes or found.split(":")[0] in outcomes


async def eventually(condition, seconds=10.0):
    """Return when a condition holds; fail when it does not in time."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "the condition never held"
        await asyncio.sleep(0.01)
