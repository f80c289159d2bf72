"""Where handlers run: the request's own thread, or the pool for calls from code (T18, C09, C17)."""

import asyncio
import gc
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import AnonymousUser, User
from django.core.cache import caches
from django.db import connection
from django.http import HttpRequest
from django.test import AsyncClient, RequestFactory

from mcp_server import Context, is_authenticated, tool
from mcp_server.access.principal import Principal
from mcp_server.calls.caller import Caller
from mcp_server.calls.dispatcher import visible_tools
from mcp_server.calls.running import RequestThread
from mcp_server.definitions.registry import registry
from tests.door import call, client, listed, run, serving


@pytest.fixture(autouse=True)
def tools() -> Iterator[None]:
    with serving():
        yield


def tell_thread() -> None:
    @tool
    def where() -> str:
        return threading.current_thread().name


@pytest.mark.proves("T18a", "P12a")
def test_a_direct_call_runs_on_the_thread_of_its_request(transactional_db: None):
    tell_thread()
    assert call("where").text == threading.current_thread().name


@pytest.mark.proves("C09")
def test_calls_from_code_overlap_on_the_pools_threads(transactional_db: None):
    barrier = threading.Barrier(4, timeout=10)

    @tool
    def meet() -> str:
        barrier.wait()
        return threading.current_thread().name

    names = run("return await Promise.all([1, 2, 3, 4].map(() => codemode.meet()))")
    assert len(set(names)) == 4
    assert all(name.startswith("mcp-tool-") for name in names)


@pytest.mark.proves("P12a")
def test_inside_a_transaction_nothing_leaves_the_thread(db: None):
    tell_thread()
    names = run("return await Promise.all([1, 2, 3].map(() => codemode.where()))")
    assert set(names) == {threading.current_thread().name}


entered: list[str] = []
tenant = threading.local()


@contextmanager
def tenant_of(request: HttpRequest) -> Iterator[None]:
    tenant.name = request.headers["X-Tenant"]
    entered.append(tenant.name)
    try:
        yield
    finally:
        del tenant.name


def broken_context(request: HttpRequest) -> AbstractContextManager[None]:
    raise RuntimeError("hunter2")


@pytest.mark.proves("C17a")
def test_the_projects_context_surrounds_calls_on_the_pool_and_no_other(transactional_db: None):
    entered.clear()
    with serving(THREAD_CONTEXT=f"{__name__}.tenant_of"):

        @tool
        def whose() -> str:
            return getattr(tenant, "name", "nobody's")

        for name in ("acme", "other"):
            assert run("return await codemode.whose()", headers={"X-Tenant": name}) == name
        assert "acme" in entered
        entered.clear()
        assert call("whose", headers={"X-Tenant": "acme"}).text == "nobody's"
        assert entered == []


@pytest.mark.proves("C17a", "T14d")
def test_a_context_that_fails_fails_the_call(transactional_db: None):
    with serving(THREAD_CONTEXT=f"{__name__}.broken_context"):
        tell_thread()
        result = client(endpoint="code").run("return await codemode.where()")
        assert result.is_error
        assert "hunter2" not in result.text


def test_a_thread_of_the_pool_keeps_its_cache_objects(transactional_db: None):
    held: list[Any] = []

    @tool
    def touch() -> None:
        held.append(caches["default"])

    for _ in range(3):
        run("await Promise.all(Array.from({length: 20}, () => codemode.touch())); return 1")
    assert len(held) == 60
    assert len({id(cache) for cache in held}) <= 8


def test_a_thread_of_the_pool_leaves_no_transaction_and_works_again_after_an_error(transactional_db: None):
    @tool
    def count(fail: bool = False) -> int:
        if fail:
            with connection.cursor() as cursor:
                cursor.execute("SELECT * FROM nothing_there")
        return User.objects.count()

    program = """
    const failed = await Promise.allSettled(Array.from({length: 16}, () => codemode.count({fail: true})));
    const counts = await Promise.all(Array.from({length: 16}, () => codemode.count()));
    return [failed.every(item => item.status === "rejected"), counts];
    """
    assert run(program) == [True, [0] * 16]


def test_the_event_loop_of_a_request_is_let_go(transactional_db: None):
    loops: list[weakref.ref[Any]] = []

    @tool
    def plain() -> int:
        return 1

    @tool
    async def note() -> int:
        loops.append(weakref.ref(asyncio.get_running_loop()))
        return 1

    for _ in range(3):
        run("return [await codemode.plain(), await codemode.note()]")
    gc.collect()
    # The last one may still be held by the thread that ran it.
    assert sum(ref() is not None for ref in loops) <= 1


@pytest.mark.proves("T18a", "C09")
def test_calls_within_calls_never_wait_for_each_others_threads(transactional_db: None):
    @tool
    def descend(ctx: Context, depth: int) -> int:
        return 0 if depth == 0 else 1 + int(ctx.call_tool("descend", {"depth": depth - 1}))

    @tool
    async def descend_later(ctx: Context, depth: int) -> int:
        return 0 if depth == 0 else 1 + int(await ctx.acall_tool("descend-later", {"depth": depth - 1}))

    program = """
    const all = Array.from({length: 24}, (_, n) => n % 2 ? codemode.descend({depth: 4})
                                                         : codemode["descend-later"]({depth: 4}));
    return await Promise.all(all);
    """
    assert run(program) == [4] * 24


class CountingThread(RequestThread):
    """Counts how often sync code is sent to its thread."""

    hops = 0

    async def sync(self, function: Callable[..., Any], *args: Any, timeout: float | None = None) -> Any:
        self.hops += 1
        return await super().sync(function, *args, timeout=timeout)


@pytest.mark.proves("G01a", "G01b", "T19a")
@pytest.mark.parametrize("asynchronous_endpoint", [False, True])
async def test_five_hundred_sync_guards_cost_one_hop(db: None, asynchronous_endpoint: bool):
    asked: list[int] = []

    async def let_in(request: HttpRequest) -> bool:
        return True

    enabled = {"ENABLED": let_in} if asynchronous_endpoint else {}
    with serving(ENDPOINTS={"default": {"LOGIN_REQUIRED": False, **enabled}}):
        for number in range(500):

            def check(request: HttpRequest, number: int = number) -> bool:
                asked.append(number)
                return number % 2 == 0

            tool(name=f"t{number:03}", enabled=check)(lambda: None)
        request = RequestFactory().post("/mcp")
        request.user = AnonymousUser()
        runner = CountingThread()
        caller = Caller(
            principal=Principal(request=request),
            endpoint=await sync_to_async(registry.endpoint)("default"),
            runner=runner,
            loop=asyncio.get_running_loop(),
        )
        found = await visible_tools(caller)
    assert [item.name for item in found] == [f"t{number:03}" for number in range(0, 500, 2)]
    assert sorted(asked) == list(range(500))
    assert runner.hops == (2 if asynchronous_endpoint else 1)


@pytest.mark.proves("G01b", "G01c")
def test_async_guards_work_from_every_door_and_in_nested_calls(transactional_db: None):
    async def wait_first(request: HttpRequest) -> bool:
        await asyncio.sleep(0)
        return "X-Let-Me-In" in request.headers

    @tool(enabled=~is_authenticated & wait_first)
    def sync_tool() -> str:
        return "sync"

    @tool(enabled=wait_first)
    async def async_tool() -> str:
        return "async"

    @tool
    def outer(ctx: Context, name: str) -> Any:
        return ctx.call_tool(name)

    inside = {"headers": {"X-Let-Me-In": "1"}}
    assert set(listed(**inside)) == {"sync-tool", "async-tool", "outer"}
    assert set(listed()) == {"outer"}
    for name, text in (("sync-tool", "sync"), ("async-tool", "async")):
        assert call(name, **inside).text == text
        assert call("outer", {"name": name}, **inside).text == text
        assert call("outer", {"name": name}).text == f"[404] There is no tool '{name}'."
        assert run(f"return await codemode['{name}']()", **inside) == text
        assert run(f"return await codemode.outer({{name: '{name}'}})", **inside) == text


@pytest.mark.proves("T18a")
async def test_the_asynchronous_view_runs_both_kinds(db: None):
    import json

    @tool
    def count() -> int:
        return User.objects.count()

    @tool
    async def count_later() -> int:
        return await User.objects.acount()

    for name in ("count", "count-later"):
        message = {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {"name": name, "arguments": {}},
        }
        response = await AsyncClient().post("/mcp", json.dumps(message), content_type="application/json")
        assert response.json()["result"]["content"][0]["text"] == "0"
