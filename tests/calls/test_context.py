"""What a handler may know and do beyond its arguments (T18, P04, R07, C07)."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from mcp_server import Context, Guidance, Image, ToolError, tool
from mcp_server.models import ToolCall
from tests.door import call, client, run, serving
from tests.protocol.wire import JSON_HEADERS, events, request


@pytest.fixture(autouse=True)
def tools(db: Any) -> Iterator[None]:
    with serving():
        yield


KINDS = pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])


def caller(is_async: bool) -> None:
    """Define `outer`, which calls the tool that it is told to call."""
    if is_async:

        @tool(name="outer")
        async def outer_later(ctx: Context, name: str, arguments: dict[str, Any] | None = None) -> Any:
            return await ctx.acall_tool(name, arguments)

    else:

        @tool
        def outer(ctx: Context, name: str, arguments: dict[str, Any] | None = None) -> Any:
            return ctx.call_tool(name, arguments)


@pytest.fixture
def inner() -> None:  # noqa: C901 - one tool after the other
    @tool
    def add(a: int, b: int = 1) -> int:
        return a + b

    @tool
    async def add_later(a: int, b: int = 1) -> int:
        return a + b

    @tool
    def fail() -> None:
        raise ToolError("Gone", 404, {"id": 5})

    @tool
    def advise() -> None:
        raise Guidance("Sign in first.")

    @tool
    def crash() -> None:
        raise RuntimeError("hunter2")

    @tool
    def rows() -> list[str]:
        return ["a"]

    @tool
    def nothing() -> None: ...

    @tool
    def picture() -> Image:
        return Image(b"x")


@pytest.mark.proves("T18a", "T06a", "C07a")
@KINDS
def test_a_tool_calls_another_through_the_same_checks(inner: None, is_async: bool):
    caller(is_async)
    for name in ("add", "add-later"):
        assert call("outer", {"name": name, "arguments": {"a": 2}}).text == "3"
        wrong = call("outer", {"name": name, "arguments": {"a": "x"}})
        assert wrong.text.startswith(f"[400] Invalid arguments for {name}:\n- a is wrong")
        assert run(f"return await codemode.outer({{name: '{name}', arguments: {{a: 4}}}})") == 5
    assert json.loads(call("outer", {"name": "rows"}).text) == ["a"]
    assert call("outer", {"name": "nothing"}).content == []
    assert call("outer", {"name": "picture"}).content[0]["type"] == "image"
    assert call("outer", {"name": "fail"}).text == '[404] Gone\n{"id":5}'
    assert call("outer", {"name": "nobody"}).text == "[404] There is no tool 'nobody'."
    crashed = call("outer", {"name": "crash"})
    assert "hunter2" not in crashed.text
    assert "reference" in crashed.text
    statuses = ToolCall.objects.filter(tool="add", endpoint="default").values_list("status", flat=True)
    assert sorted(statuses) == ["invalid", "ok"]


@pytest.mark.proves("R07a")
@KINDS
def test_guidance_of_an_inner_call_is_guidance_still(inner: None, is_async: bool):
    caller(is_async)
    for endpoint in ("default", "json"):
        result = call("outer", {"name": "advise"}, endpoint=endpoint)
        assert (result.is_error, result.text) == (True, "Sign in first.")


@pytest.mark.proves("G03a", "R12e")
@KINDS
def test_a_handler_sees_who_calls_where_and_with_what(is_async: bool):
    ada = User.objects.create_user("ada")

    def describe(ctx: Context) -> dict[str, Any]:
        return {
            "user": ctx.user.username,
            "same": ctx.user == ctx.request.user,
            "endpoint": ctx.endpoint,
            "protocol": ctx.client_info.protocol,
            "language": ctx.request.headers["Accept-Language"],
        }

    if is_async:

        @tool(name="look")
        async def look_later(ctx: Context) -> dict[str, Any]:
            return describe(ctx)

    else:

        @tool
        def look(ctx: Context) -> dict[str, Any]:
            return describe(ctx)

    way: dict[str, Any] = {"user": ada, "headers": {"Accept-Language": "de"}}
    expected = {
        "user": "ada",
        "same": True,
        "endpoint": "default",
        "protocol": "2025-11-25",
        "language": "de",
    }
    assert json.loads(call("look", **way).text) == expected
    assert run("return await codemode.look()", **way) == {**expected, "endpoint": "code"}


@pytest.mark.proves("P04a", "C15a")
@pytest.mark.parametrize("door", ["direct", "code"])
@KINDS
def test_progress_reaches_the_client_that_asked_and_only_grows(is_async: bool, door: str):
    steps = (1, 2, 2, 1, 3)
    if is_async:

        @tool(name="work")
        async def work_later(ctx: Context) -> str:
            for step in steps:
                await ctx.aprogress(step, 3, f"step {step}")
            return "done"

    else:

        @tool
        def work(ctx: Context) -> str:
            for step in steps:
                ctx.progress(step, 3, f"step {step}")
            return "done"

    params: dict[str, Any] = {"name": "work", "arguments": {}, "_meta": {"progressToken": "p"}}
    if door == "code":
        params = {**params, "name": "code", "arguments": {"code": "return await codemode.work()"}}
    response = Client().post(
        "/mcp" if door == "direct" else "/mcp/code",
        data=request("tools/call", params),
        content_type="application/json",
        headers={"Accept": JSON_HEADERS["Accept"]},
    )
    *notes, answer = events(response.content)
    progress = [note["params"]["progress"] for note in notes if note["method"] == "notifications/progress"]
    assert progress == sorted(set(progress))
    assert progress
    assert {note["params"]["progressToken"] for note in notes} == {"p"}
    assert answer["result"]["content"][0]["text"] == "done"
    assert (
        client(endpoint="code" if door == "code" else "default")
        .call_tool(params["name"], params["arguments"])
        .text
        == "done"
    )
