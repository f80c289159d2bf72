"""Code mode as a client meets it: through the view, with the real worker."""

import asyncio
import datetime as dt
import threading
from decimal import Decimal
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.contrib.auth.models import Permission, User
from django.utils import timezone, translation

from mcp_server import Context, Guidance, Image, ToolError, ToolResult, codemode, endpoint, tool
from mcp_server.codemode.messages import describe_failure
from mcp_server.codemode.tokens import estimate_tokens
from mcp_server.testing import AsyncMCPClient, MCPClient, MCPError


def names(client: MCPClient) -> list[str]:
    return [item["name"] for item in client.list_tools()]


@pytest.mark.proves("C01a", "C01b", "C01d")
def test_the_list_shows_code_and_what_is_kept_outside_and_any_other_name_is_unknown(ada: MCPClient) -> None:
    @tool
    def add_up(a: int, b: int) -> int:
        return a + b

    @tool(code_mode=False)
    def sign_contract() -> str:
        return "signed"

    assert names(ada) == ["code", "sign-contract"]
    description = ada.list_tools()[0]["description"]
    assert "add_up(input: { a: int; b: int }): Promise<int>" in description
    assert "sign_contract" not in description
    assert ada.call_tool("sign-contract").text == "signed"
    with pytest.raises(MCPError, match="Unknown tool: add-up"):
        ada.call_tool("add-up", {"a": 1, "b": 2})
    assert ada.run("return await codemode.add_up({a: 1, b: 2})").data == {"result": 3}
    assert "sign_contract" in ada.run("return await codemode.sign_contract()").text


@pytest.mark.proves("C01e")
def test_destructive_tools_are_in_code_unless_the_endpoint_keeps_them_outside(ada: MCPClient) -> None:
    endpoint("careful", code_mode="on", code_destructive="outside")

    @tool(annotations="delete")
    def drop_all() -> str:
        return "gone"

    @tool(annotations="read")
    def look() -> str:
        return "seen"

    careful = MCPClient(ada.user, "careful")
    assert names(ada) == ["code"]
    assert ada.run("return await codemode.drop_all()").text == "gone"
    assert names(careful) == ["code", "drop-all"]
    assert careful.run("return await codemode.drop_all()").is_error
    assert careful.call_tool("drop-all").text == "gone"


@pytest.mark.proves("C02a", "C14d", "C03b")
def test_progressive_offers_search_and_code_at_constant_cost(ada: MCPClient) -> None:
    endpoint("big", code_mode="progressive")

    @tool(tags=["math"])
    def add_up(a: int, b: int) -> int:
        """Add two numbers."""
        return a + b

    big = MCPClient(ada.user, "big")
    assert names(big) == ["code", "search"]
    assert "add_up" not in str(big.list_tools())
    found = big.call_tool("search", {"query": "adding"}).text
    assert found.startswith("Found 1 of 1 tools")
    assert "add_up(input: { a: int; b: int }): Promise<int>" in found
    inside = big.run('return [await codemode.$search("adding"), await codemode.$describe("add_up")]').data[
        "results"
    ]
    assert all("add_up(input: { a: int; b: int })" in text for text in inside)


@pytest.mark.proves("C07a", "C08a")
def test_inner_calls_are_validated_and_a_failed_one_throws_an_error_with_its_parts(ada: MCPClient) -> None:
    @tool
    def find_user(user_id: str, size: int = 3) -> dict[str, Any]:
        if user_id == "7":
            return {"id": user_id, "size": size}
        raise ToolError("User not found", 404, {"tried": user_id})

    assert ada.run('return await codemode.find_user({user_id: "7"})').data == {"id": "7", "size": 3}
    caught = ada.run("""
        const parts = [];
        for (const input of [{user_id: "8"}, JSON.parse('{"user_id": 8}')]) {
            try { await codemode.find_user(input) }
            catch (e) { parts.push([e instanceof Error, e.message, e.status, e.data ?? null, e.tool]) }
        }
        return parts;
    """).data["results"]
    assert caught[0] == [True, "[404] User not found", 404, {"tried": "8"}, "find-user"]
    assert caught[1][2] == 400
    assert caught[1][1].startswith("[400] Invalid arguments for find-user:\n- user_id is wrong")


@pytest.mark.proves("C08b")
def test_error_results_and_guidance_throw_too(ada: MCPClient) -> None:
    @tool
    def broken() -> ToolResult:
        return ToolResult(content=["it is broken"], is_error=True)

    @tool
    def sign_in() -> str:
        raise Guidance("Sign in at the shop first.")

    caught = ada.run("""
        const said = [];
        for (const name of ["broken", "sign_in"]) await codemode[name]().catch(e => said.push(e.message));
        return said;
    """)
    assert caught.data["results"] == ["it is broken", "Sign in at the shop first."]


@pytest.mark.proves("C07c")
def test_results_are_plain_values_and_large_integers_come_as_strings(ada: MCPClient) -> None:
    @tool
    def several() -> list[Any]:
        return ["a", 1, 2**53 - 1, 2**53, None, True, {"n": [1]}, Decimal("1.50"), dt.date(2026, 11, 30)]

    value = ada.run("""
        const all = await codemode.several();
        return [Array.isArray(all), all.map(item => item === null ? "null" : typeof item), all];
    """).data["results"]
    assert value[0] is True
    assert value[1] == [
        "string",
        "number",
        "number",
        "string",
        "null",
        "boolean",
        "object",
        "string",
        "string",
    ]
    assert value[2] == ["a", 1, 2**53 - 1, "9007199254740992", None, True, {"n": [1]}, "1.50", "2026-11-30"]


@pytest.mark.proves("C07d")
def test_media_are_a_small_handle_inside_and_travel_beside_the_result(ada: MCPClient) -> None:
    @tool
    def draw(name: str) -> Image:
        return Image(b"\x89PNG" + name.encode(), "image/png")

    result = ada.run("""
        const [kept, dropped] = await Promise.all([codemode.draw({name: "a"}), codemode.draw({name: "b"})]);
        return {kept, size: JSON.stringify(dropped).length};
    """)
    assert result.data["kept"]["type"] == "image"
    assert result.data["size"] < 100
    assert [item["type"] for item in result.content] == ["text", "image"]
    assert result.content[1]["mimeType"] == "image/png"


@pytest.mark.proves("C09")
@pytest.mark.parametrize("kind", ["sync", "async"])
@pytest.mark.django_db(transaction=True)
def test_ten_tools_meeting_at_a_barrier_all_finish(isolated: None, kind: str, settings: Any) -> None:
    settings.MCP_SERVER = {"THREADS": 10}
    barrier = threading.Barrier(10, timeout=20)
    meeting: asyncio.Barrier | None = None

    @tool(name="meet-sync")
    def meet() -> int:
        return barrier.wait()

    @tool(name="meet-async")
    async def ameet() -> int:
        nonlocal meeting
        meeting = meeting or asyncio.Barrier(10)
        async with asyncio.timeout(20):
            return await meeting.wait()

    client = MCPClient(User.objects.create_user("ada"), "code")
    code = f"return (await Promise.all(Array.from({{length: 10}}, () => codemode.meet_{kind}()))).sort((a, b) => a - b)"
    assert client.run(code).data == {"results": list(range(10))}


@pytest.mark.proves("C10a", "C10b")
def test_the_value_goes_to_text_and_structure_and_the_console_comes_along(ada: MCPClient) -> None:
    @tool
    def look() -> int:
        return 1

    assert ada.run("return {a: 1}").structured == {"a": 1}
    assert ada.run("return [1]").structured == {"results": [1]}
    assert ada.run("return 'x'").structured == {"result": "x"}
    assert ada.run("return 'x'").text == "x"
    assert ada.run("return undefined").structured is None
    said = ada.run("console.log('a', {b: 1}); console.error('bad'); return 1")
    assert said.structured == {"result": 1}
    assert "[log] a {b: 1}" in said.text
    assert "[error] bad" in said.text
    failed = ada.run("console.warn('nearly');\nthrow new RangeError('x')")
    assert failed.is_error
    assert "RangeError at line 2, column 7: x" in failed.text
    assert "[warn] nearly" in failed.text


@pytest.mark.proves("C16")
def test_annotations_of_code_follow_what_it_can_reach(ada: MCPClient) -> None:
    @tool(annotations="read")
    def look() -> int:
        return 1

    @tool(annotations="delete", enabled="auth.delete_user")
    def drop() -> int:
        return 1

    assert ada.list_tools()[0]["annotations"] == {
        "readOnlyHint": True,
        "destructiveHint": False,
        "openWorldHint": False,
    }
    ada.user.user_permissions.add(Permission.objects.get(codename="delete_user"))
    assert ada.list_tools()[0]["annotations"] == {
        "readOnlyHint": False,
        "destructiveHint": True,
        "openWorldHint": False,
    }


@pytest.mark.proves("C17a", "C17b")
@pytest.mark.django_db(transaction=True)
def test_user_request_language_and_time_zone_reach_inner_calls(isolated: None) -> None:
    @tool
    def where(context: Context) -> list[str]:
        return [
            context.user.username,
            context.request.headers["X-Tenant"],
            translation.get_language(),
            timezone.get_current_timezone_name(),
        ]

    user = User.objects.create_user("ada")
    headers = {"X-Tenant": "north", "Accept-Language": "zh-hans"}
    client = MCPClient(user, "code", headers=headers)
    with timezone.override("Asia/Tokyo"):
        assert client.run("return await codemode.where()").data["results"] == [
            "ada",
            "north",
            "zh-hans",
            "Asia/Tokyo",
        ]


@pytest.mark.proves("C19")
@pytest.mark.parametrize(
    ("policy", "wish", "offered"),
    [
        ("off", "on", ["look"]),
        ("opt-in", None, ["look"]),
        ("opt-in", "on", ["code"]),
        ("default", None, ["code"]),
        ("default", "off", ["look"]),
        ("default", "progressive", ["code", "search"]),
        ("enforced", "off", ["code"]),
        ("default", "nonsense", ["code"]),
    ],
)
def test_a_clients_wish_for_code_mode_counts_where_the_policy_allows(
    ada: MCPClient, policy: str, wish: str | None, offered: list[str]
) -> None:
    endpoint("free", code_mode="on", code_policy=policy)

    @tool
    def look() -> int:
        return 1

    class Wishing(MCPClient):
        @property
        def url(self) -> str:
            return super().url + (f"?codemode={wish}" if wish else "")

    client = Wishing(ada.user, "free")
    assert names(client) == offered
    if offered == ["look"]:
        assert client.call_tool("look").text == "1"
        with pytest.raises(MCPError, match="Unknown tool: code"):
            client.run("return 1")
    else:
        assert client.run("return await codemode.look()").text == "1"


@pytest.mark.proves("C20")
def test_python_code_gets_the_outcome_as_an_object(ada: MCPClient) -> None:
    @tool
    def look(n: int) -> int:
        return n

    result = codemode.run(
        "console.log('hi'); return await codemode.look({n: 4})", user=ada.user, endpoint="code"
    )
    assert (result.ok, result.value, result.succeeded) == (True, "4", {"look": 1})
    assert [entry.text for entry in result.logs] == ["hi"]
    failed = async_to_sync(codemode.arun)(
        "return await codemode.look({m: 4})", user=ada.user, endpoint="code"
    )
    assert (failed.ok, failed.error and failed.error.kind) == (False, "unknown_argument")
    assert "look" in describe_failure(failed)
    nobody = codemode.run("return await codemode.look({n: 4})", endpoint="code")
    assert not nobody.ok


@pytest.mark.proves("C18b")
def test_after_shutdown_the_next_run_starts_a_new_worker(ada: MCPClient) -> None:
    from mcp_server.codemode.executor import workers

    @tool
    def look() -> int:
        return 1

    assert ada.run("return 1").data == {"result": 1}
    before = {state.pid for state in workers()}
    codemode.shutdown()
    assert not workers()
    assert ada.run("return 2").data == {"result": 2}
    assert before.isdisjoint({state.pid for state in workers()})


@pytest.mark.proves("C15b")
@pytest.mark.django_db(transaction=True)
async def test_a_client_that_leaves_ends_the_run_and_its_worker(isolated: None) -> None:
    from mcp_server.codemode.executor import workers

    begun = asyncio.Event()

    @tool
    async def wait_long() -> str:
        begun.set()
        await asyncio.sleep(30)
        return "late"

    user = await User.objects.acreate_user("ada")
    running = asyncio.ensure_future(AsyncMCPClient(user, "code").run("return await codemode.wait_long()"))
    async with asyncio.timeout(20):
        await begun.wait()
    before = {state.pid for state in workers()}
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    async with asyncio.timeout(20):
        while not before.isdisjoint({state.pid for state in workers() if state.state == "running"}):
            await asyncio.sleep(0.01)


@pytest.mark.proves("C14c")
def test_an_answer_of_search_stays_within_its_budget_of_tokens(ada: MCPClient) -> None:
    endpoint("big", code_mode="progressive")
    for number in range(60):

        def report(year: int, comment: str = "x" * 100) -> dict[str, str]:
            return {}

        report.__doc__ = (
            f"Report number {number}. " + "It says what was sold, to whom, and at what price. " * 20
        )
        tool(name=f"report-{number}")(report)
    big = MCPClient(ada.user, "big")
    answer = big.call_tool("search", {"query": "report", "limit": 50}).text
    assert answer.startswith("Found 60 of 60 tools")
    assert estimate_tokens(answer) <= 2_200
    assert "report_" in answer
