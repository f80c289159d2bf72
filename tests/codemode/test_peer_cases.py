"""Nine things that other code modes get wrong, each as a client meets it."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User

from mcp_server import tool
from mcp_server.models import Limits
from mcp_server.testing import AsyncMCPClient, MCPClient


@pytest.fixture
def people(ada: MCPClient) -> MCPClient:
    """Ada, with tools that know two people."""

    @tool
    def get_user(id: int) -> dict[str, Any]:  # noqa: A002 - the name that models know
        return {"id": id, "name": f"User {id}"}

    @tool
    def list_users() -> list[dict[str, Any]]:
        return [{"id": 1, "name": "User 1"}, {"id": 2, "name": "User 2"}]

    return ada


@pytest.mark.proves("C06b")
def test_a_fenced_function_with_prose_around_and_a_final_semicolon_gives_its_value(people: MCPClient) -> None:
    text = "Here is the program:\n\n```js\nasync () => { return 40 + 2; };\n```\nIt returns the answer."
    assert people.run(text).data == {"result": 42}


@pytest.mark.proves("C06b")
def test_typescript_runs_and_stripping_changes_no_meaning(people: MCPClient) -> None:
    program = "const n: number = 1; type U = { id: number }; const u = (await codemode.get_user({ id: n })) as U; return u.id!;"
    assert people.run(program).data == {"result": 1}
    assert people.run("const ok = false, a = 1, b = 2; return ok ? (a) : b").data == {"result": 2}


@pytest.mark.proves("C04c")
def test_two_names_that_fall_together_can_both_be_called(ada: MCPClient) -> None:
    def answer(text: str) -> Callable[[], str]:
        return lambda: text

    tool(name="get-thing")(answer("with a hyphen"))
    tool(name="get_thing")(answer("with an underscore"))
    program = 'return [await codemode["get-thing"](), await codemode.get_thing()]'
    assert ada.run(program).data == {"results": ["with a hyphen", "with an underscore"]}


@pytest.mark.proves("C12b", "C12d")
def test_an_unknown_name_is_told_with_its_line_and_the_closest_name_and_no_list(people: MCPClient) -> None:
    for number in range(100):
        tool(name=f"other-{number}")(lambda: 1)
    said = people.run("\nreturn await codemode.getUser({ id: 1 })").text
    assert "line 2" in said
    assert "get_user" in said
    assert "other_" not in said


@pytest.mark.proves("C08a", "C12b")
def test_wrong_arguments_throw_400_and_name_what_is_missing_unknown_and_valid(people: MCPClient) -> None:
    program = """
        try { await codemode.get_user(JSON.parse('{"userid": 1}')) }
        catch (e) { return [e.status, e.message] }
    """
    status, message = people.run(program).data["results"]
    assert status == 400
    assert "id is required" in message
    assert "userid is not an argument" in message
    assert "Valid arguments: id" in message


@pytest.mark.proves("G03b")
@pytest.mark.django_db(transaction=True)
def test_a_right_given_or_taken_during_a_run_counts_from_the_next_second_on(isolated: None) -> None:
    user = User.objects.create_user("ada")
    permission = Permission.objects.get(codename="add_group")

    @tool
    def grant() -> None:
        user.user_permissions.add(permission)

    @tool
    def take() -> None:
        user.user_permissions.clear()

    @tool(enabled="auth.add_group")
    def make() -> str:
        return "made"

    user.user_permissions.add(permission)
    program = """
        const settled = () => new Promise(done => setTimeout(done, 1100));
        const seen = [await codemode.make()];
        await codemode.take(); await settled();
        try { seen.push(await codemode.make()) } catch (e) { seen.push(e.status) }
        await codemode.grant(); await settled();
        seen.push(await codemode.make());
        return seen;
    """
    assert MCPClient(user, "code").run(program).data == {"results": ["made", 404, "made"]}


@pytest.mark.proves("C13a", "S04a")
@pytest.mark.django_db(transaction=True)
async def test_an_endless_loop_ends_at_its_limit_and_ten_other_runs_finish_undisturbed(
    isolated: None,
) -> None:
    await Limits.objects.acreate(endpoint="code", cpu_time_limit_ms=1000, max_queue_ms=30_000)

    @tool
    def look(n: int) -> int:
        return n

    ada, bob = await User.objects.acreate_user("ada"), await User.objects.acreate_user("bob")
    endless = asyncio.ensure_future(AsyncMCPClient(ada, "code").run("while (true) {}"))
    others = [AsyncMCPClient(bob, "code").run(f"return await codemode.look({{n: {n}}})") for n in range(10)]
    assert [result.data["result"] for result in await asyncio.gather(*others)] == list(range(10))
    said = await endless
    assert said.is_error
    assert "cpu_time_limit_ms" in said.text
    assert (await AsyncMCPClient(ada, "code").run("return 1")).data == {"result": 1}


@pytest.mark.proves("C09", "C13b")
@pytest.mark.django_db(transaction=True)
def test_parallel_calls_overlap_and_those_over_the_limit_throw_429_and_can_be_caught(isolated: None) -> None:
    Limits.objects.create(endpoint="code", max_tool_calls=5)
    running, most = 0, 0

    @tool
    async def slow() -> str:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.05)
        running -= 1
        return "done"

    program = """
        const calls = Array.from({length: 10}, () => codemode.slow().catch(e => e.status));
        return await Promise.all(calls);
    """
    result = MCPClient(User.objects.create_user("ada"), "code").run(program)
    assert sorted(result.data["results"], key=str) == [429] * 5 + ["done"] * 5
    assert most == 5


@pytest.mark.proves("C10b", "C12a")
def test_console_output_comes_in_order_with_levels_and_reaches_no_stream_of_the_server(
    people: MCPClient, capfd: pytest.CaptureFixture[str]
) -> None:
    program = (
        "console.log('a', { b: 1 }, [2]);\nconsole.table([3]);\nconsole.error('e');\nthrow new Error('x')"
    )
    result = people.run(program)
    assert result.is_error
    assert "line 4" in result.text
    lines = result.text.split("Console:\n")[1].splitlines()
    assert lines[0] == "[log] a {b: 1} [2]"
    assert lines[-1] == "[error] e"
    said = capfd.readouterr()
    assert "b: 1" not in said.out + said.err
    assert json.dumps(result.content)
