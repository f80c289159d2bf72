"""A handler's transactions, in test cases and out of them, on one database and on two (T18, P12)."""

import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from time import monotonic
from typing import Any

import pytest
from django.contrib.auth.models import Group
from django.db import connection, connections

from mcp_server import Context, ToolError, ToolResult, tool
from mcp_server.calls.abandonment import abandoned
from tests.door import WORLDS, call, client, serving

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def tools() -> Iterator[None]:
    with serving():
        yield


@pytest.fixture(params=WORLDS)
def database(request: pytest.FixtureRequest) -> str:
    """Which world the test is in."""
    return str(request.param)


@pytest.fixture
def atomic_requests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(connections.settings["default"], "ATOMIC_REQUESTS", True)


def writing(**settings: Any) -> None:
    """Define `write`, which writes a row and ends as it is told."""

    @tool(**settings)
    def write(end: str) -> Any:
        Group.objects.create(name=end)
        if end == "tool error":
            raise ToolError("After the write", 409)
        if end == "crash":
            raise RuntimeError
        if end == "nan":
            return float("nan")
        return ToolResult(content=["no"], is_error=end == "error result")


ENDS = ("fine", "tool error", "crash", "nan", "error result")


def write_all(door: str) -> set[str]:
    for end in ENDS:
        if door == "direct":
            assert call("write", {"end": end}).is_error == (end != "fine")
        else:
            result = client(endpoint="code").run(f"await codemode.write({{end: '{end}'}})")
            assert result.is_error == (end != "fine")
    return set(Group.objects.values_list("name", flat=True))


@pytest.mark.proves("T18c")
@pytest.mark.parametrize("door", ["direct", "code"])
def test_an_atomic_tool_keeps_only_what_ended_well(database: str, door: str):
    writing(atomic=True)
    assert write_all(door) == {"fine"}


@pytest.mark.proves("T18c")
@pytest.mark.parametrize("door", ["direct", "code"])
def test_a_plain_tool_keeps_what_it_wrote(database: str, door: str):
    writing()
    assert write_all(door) == set(ENDS)


@pytest.mark.proves("T18c", "P12a")
@pytest.mark.parametrize("door", ["direct", "code"])
def test_a_tool_follows_atomic_requests_unless_it_says_no(database: str, door: str, atomic_requests: None):
    writing()
    assert write_all(door) == {"fine"}
    Group.objects.all().delete()
    with serving():
        writing(atomic=False)
        assert write_all(door) == set(ENDS)


@pytest.mark.proves("T18b", "T18c", "R11a")
@pytest.mark.parametrize("door", ["direct", "code"])
def test_a_write_that_ends_after_the_deadline_is_undone(transactional_db: None, door: str):
    late = threading.Event()

    @tool(atomic=True, timeout=0.2)
    def slow() -> str:
        Group.objects.create(name="late")
        late.wait(30)
        return "too late"

    before = abandoned.count
    result = call("slow") if door == "direct" else client(endpoint="code").run("await codemode.slow()")
    assert result.is_error
    assert "[504] The tool did not finish in time." in result.text
    assert abandoned.count == before + 1
    late.set()
    wait_until(lambda: abandoned.count == before)
    assert not Group.objects.exists()


def wait_until(condition: Any) -> None:
    pause, end = threading.Event(), monotonic() + 10
    while not condition():
        assert monotonic() < end
        pause.wait(0.01)


@pytest.mark.proves("T18b", "R11a")
@pytest.mark.parametrize("endpoint", ["default", "json"])
def test_an_async_tool_ends_at_its_deadline(db: None, endpoint: str):
    import asyncio

    ended: list[str] = []

    @tool(timeout=0.1)
    async def slow() -> str:
        try:
            await asyncio.sleep(30)
        except asyncio.CancelledError:
            ended.append("cancelled")
            raise
        return "too late"

    result = call("slow", endpoint=endpoint)
    assert result.is_error
    assert "504" in result.text
    assert "The tool did not finish in time." in result.text
    assert ended == ["cancelled"]


@pytest.mark.proves("T18e")
def test_threads_that_nobody_waits_for_are_capped(transactional_db: None):
    free = threading.Event()
    with serving(THREADS=2):

        @tool(timeout=0.1)
        def stuck() -> None:
            free.wait(20)

        @tool
        def quick() -> str:
            return "ok"

        @tool
        async def unbothered() -> str:
            return "ok"

        try:
            program = "await Promise.allSettled([codemode.stuck(), codemode.stuck()]); await codemode.quick()"
            result = client(endpoint="code").run(program)
            assert "[503] The server is busy with calls that ran out of time." in result.text
            assert call("quick").text.startswith("[503] ")
            assert call("unbothered").text == "ok"
        finally:
            free.set()
        wait_until(lambda: abandoned.count == 0)
        assert call("quick").text == "ok"


@pytest.mark.proves("T18d")
@pytest.mark.parametrize("door", ["direct", "code"])
def test_asking_the_user_inside_a_transaction_raises(database: str, door: str):
    @tool(atomic=True)
    def ask(ctx: Context) -> bool:
        return ctx.confirm("Sure?")

    @tool(name="ask-within", atomic=False)
    def ask_within(ctx: Context) -> bool:
        return ctx.confirm("Sure?")

    @tool(atomic=True)
    def outer(ctx: Context) -> Any:
        return ctx.call_tool("ask-within")

    assert "inside a database transaction" in call("outer").text
    text = call("ask").text if door == "direct" else client(endpoint="code").run("await codemode.ask()").text
    assert (
        "[500] The tool asks its user inside a database transaction, which would wait for a person." in text
    )


@pytest.mark.proves("T18c", "P12a")
def test_a_test_case_sees_what_code_writes_and_takes_it_back(db: None):
    @tool
    def write(name: str) -> bool:
        Group.objects.create(name=name)
        return bool(connection.in_atomic_block)

    program = "return await Promise.all(['a', 'b', 'c'].map(name => codemode.write({name})))"
    result = client(endpoint="code").run(program)
    assert result.structured == {"results": [True, True, True]}
    assert Group.objects.count() == 3


TWO_DATABASES = """
import django, json, sys, tempfile
from pathlib import Path
from django.conf import settings
folder = Path(tempfile.mkdtemp())
database = lambda name: {"ENGINE": "django.db.backends.sqlite3", "NAME": str(folder / name), "ATOMIC_REQUESTS": True}
settings.configure(
    SECRET_KEY="x" * 50, ALLOWED_HOSTS=["testserver"], ROOT_URLCONF="urls", USE_TZ=True, DEBUG=False,
    INSTALLED_APPS=["django.contrib.auth", "django.contrib.contenttypes", "mcp_server"],
    DATABASES={"default": database("a"), "other": database("b")},
    MCP_SERVER={"ENDPOINTS": {"default": {"LOGIN_REQUIRED": False}, "code": {"LOGIN_REQUIRED": False, "CODE_MODE": "on"}}},
)
django.setup()
from types import ModuleType
from django.contrib.auth.models import Group
from django.core.management import call_command
from django.db import connections
from mcp_server import ToolError, mcp_urls, tool
from mcp_server.testing import MCPClient
sys.modules["urls"] = ModuleType("urls")
sys.modules["urls"].urlpatterns = [*mcp_urls("mcp")]
for alias in settings.DATABASES:
    call_command("migrate", database=alias, verbosity=0)

@tool
def write(name: str, fail: bool) -> list[bool]:
    for alias in ("default", "other"):
        Group.objects.using(alias).create(name=name)
    if fail:
        raise ToolError("After both writes")
    return [connections[alias].in_atomic_block for alias in ("default", "other")]

@tool(atomic=False)
def check() -> list[bool]:
    return [connections[alias].in_atomic_block for alias in ("default", "other")]

direct, code = MCPClient(), MCPClient(endpoint="code")
found = {
    "outside": json.loads(direct.call_tool("check").text),
    "inside": json.loads(direct.call_tool("write", {"name": "kept", "fail": False}).text),
    "failed": direct.call_tool("write", {"name": "undone", "fail": True}).is_error,
    "from code": code.run("return await codemode.write({name: 'kept too', fail: false})").structured["results"],
    "failed from code": code.run("await codemode.write({name: 'undone', fail: true})").is_error,
}
found["rows"] = [sorted(Group.objects.using(alias).values_list("name", flat=True)) for alias in ("default", "other")]
print(json.dumps(found))
from mcp_server.codemode import shutdown
shutdown()
"""


@pytest.mark.proves("T18c", "P12a")
def test_atomic_requests_on_two_databases_undo_both():
    import json

    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", TWO_DATABASES],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert json.loads(run.stdout) == {
        "outside": [False, False],
        "inside": [True, True],
        "failed": True,
        "from code": [True, True],
        "failed from code": True,
        "rows": [["kept", "kept too"], ["kept", "kept too"]],
    }
