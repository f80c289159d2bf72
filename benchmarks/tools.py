"""Listing and calling at 10, 100 and 500 tools, guarded and not, through the sync view and Django's middleware.

    python -m benchmarks.tools [--rounds N]

Every number is a ratio to a plain Django view that answers the same user's JSON request with a small JSON object, taken
within one run: rounds go through all cells in turn, and each cell's median counts. Everything runs in this process through
Django's test client, so the server's own cost is compared without any network. A table by guard follows: how much 500
guards cost beside none.

Kinds of guard: none; a permission string, one of its own for each tool; a function of the request; a coroutine.
"""

import argparse
import gc
import json
import os
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

SIZES = (10, 100, 500)
WARM_UP = 3


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=15)
    rounds = parser.parse_args().rounds
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "demo_project.settings")
    os.environ["DEMO_DEBUG"] = "0"
    import django

    django.setup()
    from mcp_server.definitions.registry import registry

    with prepared_database() as headers, registry.isolated(empty=True):
        cells = {"plain": plain_request(headers), **dict(requests(headers))}
        medians = measure(cells, rounds)
    report({name: median / medians["plain"] for name, median in medians.items()}, medians["plain"])


@contextmanager
def prepared_database() -> Iterator[dict[str, str]]:
    """Yield the headers of a user with every permission of the demo, but not by being a superuser."""
    from django.contrib.auth.models import Permission, User
    from django.test.utils import setup_databases, teardown_databases

    from mcp_server.models import Token

    old = setup_databases(verbosity=0, interactive=False)
    try:
        user = User.objects.create_user("bench")
        user.user_permissions.set(Permission.objects.all())
        yield {"Authorization": f"Bearer {Token.objects.issue(user, 'bench')[1]}"}
    finally:
        teardown_databases(old, verbosity=0)


def guards() -> dict[str, Callable[[int], Any]]:
    """Return what `enabled=` is for the tool of a number, by kind."""
    from django.contrib.auth.models import Permission

    names = [
        f"{app}.{name}" for app, name in Permission.objects.values_list("content_type__app_label", "codename")
    ]

    def function(request: Any) -> bool:
        return request.user.is_active

    async def coroutine(request: Any) -> bool:
        return request.user.is_active

    return {
        "none": lambda number: None,
        "permission": lambda number: names[number % len(names)],
        "function": lambda number: function,
        "coroutine": lambda number: coroutine,
    }


def requests(headers: dict[str, str]) -> Iterator[tuple[str, Callable[[], None]]]:
    """Yield each cell's name and its request; the tools of all cells stand on endpoints of their own."""
    from django.test import Client

    from mcp_server import endpoint

    chosen = guards()
    for kind, guard in chosen.items():
        for size in SIZES:
            name = f"{kind}-{size}"
            endpoint(name)
            for number in range(size):
                define(name, number, guard(number))
    client = Client()
    for kind in chosen:
        for size in SIZES:
            url = f"/mcp/{kind}-{size}"
            call = {"name": f"tool-{size // 2}", "arguments": {"a": 2, "b": 3}}
            yield f"list {kind} {size}", send(client, url, headers, "tools/list", {}, size)
            yield f"call {kind} {size}", send(client, url, headers, "tools/call", call, None)


def define(endpoint_name: str, number: int, guard: Any) -> None:
    from mcp_server import tool

    @tool(name=f"tool-{number}", endpoints=[endpoint_name], enabled=guard, annotations="read")
    def add(a: int, b: int) -> dict[str, int]:
        """Add two numbers."""
        return {"sum": a + b}


def send(
    client: Any, url: str, headers: dict[str, str], method: str, params: dict[str, Any], size: int | None
) -> Callable[[], None]:
    """Return a function that sends one request and makes sure of its answer."""
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
    headers = {"Accept": "application/json", "MCP-Protocol-Version": "2025-11-25", **headers}

    def request() -> None:
        answer = client.post(url, body, content_type="application/json", headers=headers).content
        if size is None:
            assert json.loads(answer)["result"]["content"][0]["text"] == '{\n  "sum": 5\n}', answer
        else:
            assert answer.count(b'"inputSchema"') == size, answer[:500]

    return request


def plain_request(headers: dict[str, str]) -> Callable[[], None]:
    """Return a request to a view that does what any JSON view does: know its user, read a body, answer."""
    from django.http import HttpRequest, JsonResponse
    from django.test import Client
    from django.urls import path
    from django.views.decorators.csrf import csrf_exempt

    from demo_project import urls
    from mcp_server.models import Token

    @csrf_exempt
    def view(request: HttpRequest) -> JsonResponse:
        token = Token.objects.find(request.headers["Authorization"].removeprefix("Bearer "))
        given = json.loads(request.body)
        return JsonResponse({"user": token.user.username, "sum": given["a"] + given["b"]})

    urls.urlpatterns.append(path("plain", view))
    client = Client()

    def request() -> None:
        response = client.post("/plain", '{"a": 2, "b": 3}', content_type="application/json", headers=headers)
        assert response.json() == {"user": "bench", "sum": 5}

    return request


def measure(cells: dict[str, Callable[[], None]], rounds: int) -> dict[str, float]:
    """Return the median seconds of each cell; one round goes through all, so that a busy moment hits all alike."""
    for request in cells.values():
        for _ in range(WARM_UP):
            request()
    times: dict[str, list[float]] = {name: [] for name in cells}
    for _ in range(rounds):
        for name, request in cells.items():
            # What the cell before left behind, 500 tools as JSON say, is not this one's to clear away.
            gc.collect()
            request()
            begun = time.perf_counter()
            request()
            times[name].append(time.perf_counter() - begun)
    return {name: statistics.median(values) for name, values in times.items()}


def report(ratios: dict[str, float], plain: float) -> None:
    kinds = list(dict.fromkeys(name.split()[1] for name in ratios if " " in name))
    print(f"Ratios to a plain Django view ({plain * 1000:.2f} ms here); less is better.\n")
    for action in ("list", "call"):
        print(f"| {action}, guard | {' | '.join(f'{size} tools' for size in SIZES)} | 500 beside no guard |")
        print("|---|" + "---|" * (len(SIZES) + 1))
        for kind in kinds:
            row = [ratios[f"{action} {kind} {size}"] for size in SIZES]
            beside = row[-1] / ratios[f"{action} none {SIZES[-1]}"]
            print(f"| {kind} | {' | '.join(f'{ratio:.1f}' for ratio in row)} | {beside:.2f} |")
        print()


if __name__ == "__main__":
    main()
