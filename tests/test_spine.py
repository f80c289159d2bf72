"""One spine: the same cases directly and from JavaScript, with equal outcomes and equal rows in the log."""

import json
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User

from mcp_server import Guidance, ToolError, tool
from mcp_server.calls import journal
from mcp_server.models import CodeRun, ToolCall
from mcp_server.testing import MCPError
from tests.door import WORLDS, client, serving


@dataclass(frozen=True)
class Case:
    """A call, its outcome, and the row that it leaves. An expected error is a text with its status and data."""

    tool: str
    arguments: dict[str, Any]
    value: Any = None
    error: str = ""
    status: int | None = None
    data: Any = None
    logged: str = "ok"


CASES = {
    "default filled in": Case("greet", {"name": "Åsa"}, "Hello, Åsa"),
    "default given": Case("greet", {"name": "Bo", "greeting": "Hi"}, "Hi, Bo"),
    "alias": Case("by-alias", {"userId": 3}, 3),
    "wrong type": Case(
        "greet",
        {"name": 5},
        error="Invalid arguments for greet:\n- name is wrong: Input should be a valid string\n"
        "Valid arguments: name, greeting.",
        status=400,
        logged="invalid",
    ),
    "missing": Case(
        "greet",
        {},
        error="Invalid arguments for greet:\n- name is required\nValid arguments: name, greeting.",
        status=400,
        logged="invalid",
    ),
    "unknown argument": Case(
        "greet",
        {"name": "Bo", "greting": "Hi"},
        error='Invalid arguments for greet:\n- greting is not an argument; did you mean "greeting"?\n'
        "Valid arguments: name, greeting.",
        status=400,
        logged="invalid",
    ),
    "error with data": Case(
        "fail", {}, error="No such order", status=404, data={"ids": [1, 2]}, logged="tool_error"
    ),
    "error without status": Case("divide", {"a": 1, "b": 0}, error="Division by zero", logged="tool_error"),
    "crash": Case(
        "crash",
        {},
        error="The tool failed unexpectedly. Its administrator finds the cause under reference REF.",
        logged="crashed",
    ),
    "guidance": Case("advise", {}, error="Sign in at https://example.com first.", logged="denied"),
    "none": Case("nothing", {}, None),
    "list": Case("numbers", {"upto": 3}, [0, 1, 2]),
    "empty list": Case("numbers", {"upto": 0}, []),
    "object": Case("record", {}, {"id": 1, "tags": ["a"], "other": None}),
    "async": Case("later", {"a": 2}, 4),
    "text that looks like JSON": Case("echo", {"text": '{"a": 1}'}, '{"a": 1}'),
}


@pytest.fixture(autouse=True)
def tools() -> Iterator[None]:  # noqa: C901 - one tool after the other
    with serving():

        @tool
        def greet(name: str, greeting: str = "Hello") -> str:
            return f"{greeting}, {name}"

        @tool(name="by-alias", input_schema={"type": "object", "properties": {"userId": {"type": "integer"}}})
        def by_alias(**given: Any) -> int:
            found: int = given["userId"]
            return found

        @tool
        def fail() -> None:
            raise ToolError("No such order", 404, {"ids": [1, 2]})

        @tool
        def divide(a: int, b: int) -> float:
            if b == 0:
                raise ToolError("Division by zero")
            return a / b

        @tool
        def crash() -> None:
            raise RuntimeError("password=hunter2")

        @tool
        def advise() -> None:
            raise Guidance("Sign in at https://example.com first.")

        @tool
        def nothing() -> None:
            return None

        @tool
        def numbers(upto: int) -> list[int]:
            return list(range(upto))

        @tool
        def record() -> dict[str, Any]:
            return {"id": 1, "tags": ["a"], "other": None}

        @tool
        async def later(a: int) -> int:
            return a * 2

        @tool
        def echo(text: str) -> str:
            return text

        @tool(enabled="auth.delete_user")
        def guarded() -> str:
            return "done"

        @tool
        def pause() -> None:
            time.sleep(0.05)

        @tool(enabled=lambda request: False)
        def hidden() -> str:
            return "never"

        yield


@pytest.fixture(params=WORLDS)
def user() -> User:
    """A user, in each world, without rows that an earlier test left behind."""
    assert journal.flush(10)
    ToolCall.objects.all().delete()
    CodeRun.objects.all().delete()
    return User.objects.create_user("ada")


TRY = """
try {
  const value = await codemode[NAME](ARGUMENTS);
  return {value: value === undefined ? null : value};
} catch (error) {
  return {message: error.message, status: error.status ?? null, data: error.data ?? null, tool: error.tool,
          isError: error instanceof Error};
}
"""


def from_code(user: User, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    program = TRY.replace("NAME", json.dumps(name)).replace("ARGUMENTS", json.dumps(arguments))
    result = client(user, "code").run(program)
    assert not result.is_error, result.text
    found: dict[str, Any] = result.structured
    return found


def masked(text: str) -> str:
    return re.sub(r"reference [0-9a-f]+", "reference REF", text)


COLUMNS = ("tool", "status", "arguments", "error_status", "user_id", "username", "response_bytes")


def row(**conditions: Any) -> dict[str, Any]:
    assert journal.flush(10)
    found = ToolCall.objects.filter(**conditions).order_by("-started", "-sequence").first()
    assert found is not None
    assert bool(found.reference) == (found.status == "crashed")
    return {**{name: getattr(found, name) for name in COLUMNS}, "error": masked(found.error)}


@pytest.mark.proves(
    "T05b",
    "T06a",
    "T06b",
    "T06c",
    "T14a",
    "T14b",
    "T14d",
    "T18a",
    "R06a",
    "R07a",
    "R13b",
    "C07a",
    "C08a",
    "G03a",
)
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_a_call_ends_the_same_directly_and_from_code(user: User, case: Case):
    direct = client(user).call_tool(case.tool, case.arguments)
    inner = from_code(user, case.tool, case.arguments)
    as_json = client(user, "json").call_tool(case.tool, case.arguments)

    assert direct.is_error == as_json.is_error == bool(case.error)
    if not case.error:
        assert inner == {"value": case.value}
        assert direct.text == shown(case.value)
        assert unwrapped(as_json.structured) == case.value
    else:
        head = f"[{case.status}] {case.error}" if case.status else case.error
        assert masked(inner["message"]) == head
        assert (inner["status"], inner["data"], inner["tool"]) == (case.status, case.data, case.tool)
        assert inner["isError"] is True
        assert masked(direct.text) == (head if case.data is None else f'{head}\n{{"ids":[1,2]}}')
        if case.logged != "denied":
            said = {"error": True, "status": case.status, "message": case.error, "data": case.data}
            assert json.loads(masked(as_json.text)) == {
                key: value for key, value in said.items() if value is not None
            }

    assert journal.flush(10)
    run = CodeRun.objects.get()
    by_hand, by_code = row(endpoint="default"), row(endpoint="code", run=run, sequence=1)
    assert by_hand == by_code
    assert (by_hand["status"], by_hand["error"]) == (case.logged, case.error)
    assert ToolCall.objects.get(endpoint="default").run is None
    assert run.calls == 1


def shown(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, indent=2, ensure_ascii=False)


def unwrapped(structured: Any) -> Any:
    if not isinstance(structured, dict):
        return structured
    return structured.get("result", structured.get("results", structured))


@pytest.mark.proves("G02b", "G01c")
def test_a_hidden_tool_is_like_none_directly_and_from_code(user: User):
    said = []
    for name in ("hidden", "nobody"):
        with pytest.raises(MCPError) as caught:
            client(user).call_tool(name)
        # The name is put together at run time, so that no early check sees it.
        split = f"'{name[:2]}' + '{name[2:]}'"
        inner = client(user, "code").run(f"return await codemode[{split}]()")
        assert inner.is_error
        texts = str(caught.value), inner.text.replace(split, "SPLIT")
        said.append([text.replace(name, "NAME") for text in texts])
    assert said[0] == said[1]
    assert said[0][0] == "-32602: Unknown tool: NAME"
    denied = row(endpoint="default", tool="hidden")
    assert (denied["status"], denied["error_status"]) == ("denied", None)
    assert not ToolCall.objects.filter(endpoint="code", status="ok").exists()


UNTIL_REFUSED = """
let calls = 0;
try {
  for (;;) { await codemode.guarded(); calls++; await codemode.pause(); }
} catch (error) { return {calls, message: error.message, status: error.status}; }
"""


@pytest.mark.proves("G01c", "G03b")
def test_a_permission_taken_in_between_ends_the_calls_directly_and_from_code(user: User):
    permission = Permission.objects.get(codename="delete_user")
    user.user_permissions.add(permission)

    @tool(name="take-away")
    def take_away() -> None:
        user.user_permissions.remove(permission)

    assert client(user).call_tool("guarded").text == "done"
    result = client(user, "code").run(
        f"await codemode.guarded(); await codemode['take-away'](); {UNTIL_REFUSED}"
    )
    assert not result.is_error, result.text
    # At most a second of calls, 50 ms apart, on what was known before.
    assert result.structured["calls"] <= 22
    assert (result.structured["status"], result.structured["message"]) == (404, "[404] Unknown tool: guarded")
    with pytest.raises(MCPError):
        client(user).call_tool("guarded")
    by_hand, by_code = row(endpoint="default"), row(endpoint="code", tool="guarded")
    assert by_hand == by_code
    assert by_hand["status"] == "denied"
