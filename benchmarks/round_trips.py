"""The demo's task "remind everybody who is late", call by call and as one program.

    python -m benchmarks.round_trips

Counts, for one fresh demo each: calls over HTTP, tokens that a model reads and writes (the list of tools, arguments or
program, results; each once, although a model request resends all of them), requests to the model, and milliseconds at
the server, without any time that a model thinks.
"""

import asyncio
import json
import os
import time
from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True)
class Cost:
    """What one way costs; `requests` to the model at least and at most."""

    calls: int = 0
    tokens: int = 0
    requests: str = ""
    milliseconds: float = 0.0
    reminded: list[str] = field(default_factory=list)


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "demo_project.settings")
    import django

    django.setup()
    ways = {"call by call": (call_by_call, "demo"), "one program": (one_program, "demo-code")}
    costs = {name: measure(*way) for name, way in ways.items()}
    first, second = costs.values()
    assert first.reminded == second.reminded, "both ways must remind the same people"
    print("| | calls | requests to the model | tokens | ms at the server |\n|---|---|---|---|---|")
    for name, cost in costs.items():
        print(f"| {name} | {cost.calls} | {cost.requests} | {cost.tokens:,} | {cost.milliseconds:,.0f} |")
    print(
        f"\nRatios: tokens {first.tokens / second.tokens:.1f}, ms {first.milliseconds / second.milliseconds:.1f}"
    )


def measure(way, server: str) -> Cost:
    from demo_project.checking import running_demo

    with running_demo() as servers:
        return asyncio.run(connect(way, servers[server]))


async def connect(way, server: dict[str, Any]) -> Cost:
    import httpx2
    from mcp.client import Client
    from mcp.client.streamable_http import streamable_http_client

    async with (
        httpx2.AsyncClient(headers=server["headers"], timeout=60) as http,
        Client(streamable_http_client(server["url"], http_client=http)) as client,
    ):
        cost = Cost()
        # The first answer of a process loads what later ones find loaded, and starts the first worker.
        await client.call_tool(
            "list-products" if way is call_by_call else "code", {} if way is call_by_call else {"code": "1"}
        )
        for tool in (await client.list_tools()).tools:
            cost.tokens += count(tool.model_dump_json(include={"name", "description", "input_schema"}))
        await way(client, cost)
        return cost


async def call(client, cost: Cost, name: str, arguments: dict[str, Any]) -> Any:
    begun = time.perf_counter()
    result = await client.call_tool(name, arguments)
    cost.milliseconds += (time.perf_counter() - begun) * 1000
    cost.calls += 1
    cost.tokens += count(json.dumps(arguments)) + count(result.content[0].text)
    return result.structured_content


async def call_by_call(client, cost: Cost) -> None:
    for user in (await call(client, cost, "list-users", {}))["results"]:
        todos = await call(client, cost, "list-todos", {"userId": user["id"]})
        if any(todo["overdue"] for todo in todos["results"]):
            await call(client, cost, "send-reminder", {"userId": user["id"]})
            cost.reminded.append(user["name"])
    # With parallel calls: one request for the users, one for all todos, one for all reminders, one for the answer.
    cost.requests = f"4 to {cost.calls + 1}"


async def one_program(client, cost: Cost) -> None:
    from demo_project.checking import PROGRAMS

    code = (PROGRAMS / "reminders.js").read_text(encoding="utf-8")
    cost.reminded = (await call(client, cost, "code", {"code": code}))["reminded"]
    cost.requests = "2"


def count(text: str) -> int:
    from mcp_server.codemode.tokens import estimate_tokens

    return estimate_tokens(text)


if __name__ == "__main__":
    main()
