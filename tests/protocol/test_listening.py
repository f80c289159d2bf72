"""`subscriptions/listen`: each caller hears of what changes for them, from whichever process (P06)."""

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack
from typing import Any

import httpx2
import pytest
from mcp.client.subscriptions import PromptsListChanged, ResourceUpdated, ToolsListChanged
from mcp.shared.exceptions import MCPError
from mcp_types import ElicitResult

from tests.protocol.conftest import Served, open_files, threads
from tests.protocol.test_clients import connect, text_of
from tests.protocol.test_questions import Legacy

SECONDS = 10.0
QUIET = 0.5
"""How long a test listens for what must not come."""


async def next_event(subscription: Any) -> Any:
    async with asyncio.timeout(SECONDS):
        return await anext(aiter(subscription))


async def hears_nothing(subscription: Any) -> bool:
    try:
        async with asyncio.timeout(QUIET):
            await anext(aiter(subscription))
    except TimeoutError:
        return True
    return False


@pytest.mark.proves("P06a", "P06b")
async def test_a_permission_announces_only_what_changed_and_only_to_its_user(served: Served) -> None:
    site = served.site
    async with AsyncExitStack() as stack:
        plain = await stack.enter_async_context(connect(served, "auto", site.plain))
        staff = await stack.enter_async_context(connect(served, "auto", site.staff))
        mine = await stack.enter_async_context(
            plain.listen(tools_list_changed=True, prompts_list_changed=True)
        )
        tools_only = await stack.enter_async_context(plain.listen(tools_list_changed=True))
        others = await stack.enter_async_context(staff.listen(tools_list_changed=True))
        await plain.call_tool("permit", {"codename": "view_group", "give": True})
        assert {type(await next_event(mine)), type(await next_event(mine))} == {
            ToolsListChanged,
            PromptsListChanged,
        }
        assert isinstance(await next_event(tools_only), ToolsListChanged)
        assert "for-group-viewers" in {tool.name for tool in (await plain.list_tools()).tools}
        # A permission that opens nothing is no news.
        await plain.call_tool("permit", {"codename": "view_session", "give": True})
        assert await hears_nothing(mine)
        assert await hears_nothing(others)
        await plain.call_tool("permit", {"codename": "view_group", "give": False})
        assert isinstance(await next_event(tools_only), ToolsListChanged)


@pytest.mark.proves("P06a")
async def test_an_updated_resource_is_announced_to_those_who_may_read_it(served: Served) -> None:
    uris = ["note://welcome", "secret://plan", "never://was"]
    async with AsyncExitStack() as stack:
        plain = await stack.enter_async_context(connect(served, "auto", served.site.plain))
        staff = await stack.enter_async_context(connect(served, "auto", served.site.staff))
        hidden = await stack.enter_async_context(plain.listen(resource_subscriptions=uris))
        shown = await stack.enter_async_context(staff.listen(resource_subscriptions=uris))
        assert hidden.honored.resource_subscriptions == ["note://welcome"]
        assert shown.honored.resource_subscriptions == ["note://welcome", "secret://plan"]
        await plain.call_tool("touch", {"uri": "note://welcome", "undo": True})
        await plain.call_tool("touch", {"uri": "secret://plan"})
        assert await next_event(shown) == ResourceUpdated(uri="secret://plan")
        await plain.call_tool("touch", {"uri": "note://welcome"})
        assert await next_event(shown) == ResourceUpdated(uri="note://welcome")
        assert await next_event(hidden) == ResourceUpdated(uri="note://welcome")


@pytest.mark.proves("P06a")
@pytest.mark.parametrize("kinds", [("uvicorn", "gunicorn"), ("gunicorn", "daphne")])
async def test_changes_are_heard_from_other_processes(
    start: Callable[..., Served], redis: str, kinds: tuple[str, str]
) -> None:
    listening, changing = (start(kind, copy=f"listen {kind}", TEST_REDIS=redis) for kind in kinds)
    async with AsyncExitStack() as stack:
        listener = await stack.enter_async_context(connect(listening, "auto", listening.site.plain))
        changer = await stack.enter_async_context(connect(changing, "auto", listening.site.plain))
        heard = await stack.enter_async_context(
            listener.listen(tools_list_changed=True, resource_subscriptions=["note://welcome"])
        )
        await changer.call_tool("touch", {"uri": "note://welcome"})
        assert await next_event(heard) == ResourceUpdated(uri="note://welcome")
        await changer.call_tool("permit", {"codename": "view_group", "give": True})
        assert isinstance(await next_event(heard), ToolsListChanged)
        await changer.call_tool("permit", {"codename": "view_group", "give": False})
        assert isinstance(await next_event(heard), ToolsListChanged)


@pytest.mark.proves("P06c")
async def test_streams_of_one_caller_are_capped(start: Callable[..., Served]) -> None:
    served = start("uvicorn", copy="capped")
    async with AsyncExitStack() as stack:
        client = await stack.enter_async_context(connect(served, "auto", served.site.plain))
        for _ in range(16):
            await stack.enter_async_context(client.listen(tools_list_changed=True))
        with pytest.raises(MCPError, match="Too many open streams"):
            await stack.enter_async_context(client.listen(tools_list_changed=True))
        other = await stack.enter_async_context(connect(served, "auto", served.site.staff))
        await stack.enter_async_context(other.listen(tools_list_changed=True))


@pytest.mark.proves("P06a")
@pytest.mark.filterwarnings("ignore:resources/:mcp.MCPDeprecationWarning")
@pytest.mark.parametrize("kind", ["uvicorn", "daphne", "door"])
async def test_a_2025_session_hears_on_its_standing_stream(start: Callable[..., Served], kind: str) -> None:
    served = start(kind)
    heard: asyncio.Queue[str] = asyncio.Queue()

    async def on_message(message: Any) -> None:
        heard.put_nowait(f"{message.method} {getattr(message.params, 'uri', '')}".strip())

    async def next_heard() -> str:
        async with asyncio.timeout(SECONDS):
            return await heard.get()

    async with connect(served, "legacy", served.site.plain, message_handler=on_message) as client:
        assert client.server_capabilities.tools
        assert client.server_capabilities.tools.list_changed
        with pytest.raises(MCPError, match="not found"):
            await client.session.subscribe_resource("secret://plan")
        await client.session.subscribe_resource("note://welcome")
        # The client opens its stream when it likes; what changed before is not told.
        while heard.empty():
            await client.call_tool("touch", {"uri": "note://welcome"})
            await asyncio.sleep(0.05)
        assert await next_heard() == "notifications/resources/updated note://welcome"
        while not heard.empty():
            heard.get_nowait()
        await client.session.unsubscribe_resource("note://welcome")
        await client.call_tool("touch", {"uri": "note://welcome"})
        await client.call_tool("permit", {"codename": "view_group", "give": True})
        told = {await next_heard(), await next_heard()}
        assert told == {"notifications/tools/list_changed", "notifications/prompts/list_changed"}
        await client.call_tool("permit", {"codename": "view_group", "give": False})


@pytest.mark.proves("P11a")
@pytest.mark.parametrize("kind", ["gunicorn", "runserver"])
def test_a_server_with_threads_does_not_spend_them_on_standing_streams(
    start: Callable[..., Served], http: httpx2.Client, kind: str
) -> None:
    client = Legacy(http, start(kind))
    response = http.get(client.url, headers={**client.headers, "Accept": "text/event-stream"})
    assert response.status_code == 405
    assert "POST" in response.headers["allow"]


@pytest.mark.proves("P06c")
async def test_idle_streams_at_the_door_hold_no_thread_and_no_connection(
    start: Callable[..., Served],
) -> None:
    served = start("door", copy="idle")
    process = served.process.pid
    async with AsyncExitStack() as stack:
        clients = [
            await stack.enter_async_context(connect(served, "auto", token))
            for token in (served.site.plain, served.site.staff)
        ]
        for client in clients:
            await client.call_tool("permit", {"codename": "view_session", "give": False})
        before = threads(process)
        for client in clients:
            for _ in range(16):
                await stack.enter_async_context(client.listen(tools_list_changed=True))
        assert threads(process) <= before + 8
        # The writer of the log may hold one.
        assert open_files(process, served.site.database.name) <= 3


@pytest.mark.proves("P05c")
@pytest.mark.parametrize("kind", ["door", "uvicorn", "gunicorn"])
@pytest.mark.parametrize("tool", ["order", "order-in-thread"])
async def test_waiting_for_a_person_holds_no_connection(
    start: Callable[..., Served], kind: str, tool: str
) -> None:
    served = start(kind, copy="waiting")
    answer, asked = asyncio.Event(), asyncio.Semaphore(0)

    async def person(context: Any, params: Any) -> ElicitResult:
        asked.release()
        await answer.wait()
        return ElicitResult(action="cancel")

    async with AsyncExitStack() as stack:
        clients = [
            await stack.enter_async_context(
                connect(served, "legacy", served.site.plain, elicitation_callback=person)
            )
            for _ in range(5)
        ]
        calls = [asyncio.ensure_future(client.call_tool(tool)) for client in clients]
        async with asyncio.timeout(SECONDS):
            for _ in calls:
                await asked.acquire()
        await lets_connections_go(served)
        answer.set()
        assert {text_of(result) for result in await asyncio.gather(*calls)} == {"cancel"}


async def lets_connections_go(served: Served) -> None:
    """Wait until fewer connections are open than people are waited for; the writer of the log may hold one."""
    async with asyncio.timeout(SECONDS):
        while open_files(served.process.pid, served.site.database.name) > 3:
            await asyncio.sleep(0.05)


@pytest.mark.proves("P05c")
async def test_waiting_for_a_person_counts_against_the_deadline(start: Callable[..., Served]) -> None:
    async def person(context: Any, params: Any) -> ElicitResult:
        await asyncio.sleep(SECONDS)
        return ElicitResult(action="cancel")

    async with connect(start("uvicorn"), "legacy", elicitation_callback=person) as client:
        result = await client.call_tool("order-in-time")
    assert result.is_error
    assert text_of(result).startswith("[504]")
