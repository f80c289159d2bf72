"""The seed's client loop with the official client, and rights that end in every process (R09, G03)."""

import asyncio
import json
import random
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from time import monotonic
from typing import Any

import httpx2
import pytest
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client

from tests.definitions.project import Project

TOOLS = """
import asyncio, time
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from enum import Enum
from typing import Any

from django.contrib.auth.models import Permission, User
from django.http import HttpRequest
from pydantic import BaseModel
from typing_extensions import TypedDict

from mcp_server import Context, Guidance, Image, ToolError, ToolResult, tool
from mcp_server.models import Token

class Person(BaseModel):
    name: str
    born: date | None = None

class Row(TypedDict):
    id: int
    title: str

@dataclass
class Point:
    x: float
    y: float

class Colour(Enum):
    RED = "red"

@tool
def list_people(count: int = 2) -> list[Person]:
    return [Person(name=f"Åsa {number}") for number in range(count)]

@tool
async def get_person(name: str) -> Person:
    await asyncio.sleep(0)
    return Person(name=name, born=date(2000, 1, 31))

@tool
def list_rows() -> list[Row]:
    return ({"id": number, "title": "t"} for number in range(3))

@tool
def list_users() -> list[Row]:
    return [{"id": user.pk, "title": user.username} for user in User.objects.order_by("pk")]

@tool
def point() -> Point:
    return Point(1.0, 2.5)

@tool
def number(value: float) -> float:
    return value

@tool
def flag() -> bool:
    return False

@tool
def text() -> str:
    return '{"looks": "like JSON"}'

@tool
def price() -> Decimal:
    return Decimal("1.10")

@tool
def colours() -> list[Colour]:
    return [Colour.RED]

@tool
def nothing() -> None:
    return None

@tool
def no_rows() -> list[Person]:
    return []

@tool
def already_wrapped() -> dict[str, Any]:
    return {"results": [1, 2], "count": 2}

@tool
def structured() -> ToolResult:
    return ToolResult(structured_content={"bmi": 25.5})

@tool
def missing(id: str) -> Person:
    raise ToolError("Contact not found", 404)

@tool
def invalid() -> None:
    raise ToolError("Validation failed", 400, {"fields": ["name"]})

@tool
def sign_in() -> None:
    raise Guidance("Sign in first.")

@tool(enabled="auth.delete_user")
def guarded(request: HttpRequest) -> str:
    User.objects.filter(pk=request.user.pk, last_name="").update(last_name="called")
    return "done"

@tool(enabled="auth.change_user")
def was_called(username: str) -> bool:
    return User.objects.get(username=username).last_name == "called"

@tool(timeout=0.3, atomic=True)
def slow() -> None:
    User.objects.filter(username="admin").update(last_name="too late")
    time.sleep(4)

@tool
def pause() -> None:
    time.sleep(0.05)

@tool(enabled="auth.change_user")
def end(what: str, username: str) -> None:
    user = User.objects.get(username=username)
    if what == "token":
        user.mcp_tokens.all().revoke()
    elif what == "user":
        User.objects.filter(pk=user.pk).update(is_active=False)
    else:
        user.user_permissions.clear()
"""

CALLS: list[tuple[str, dict[str, Any], Any]] = [
    ("list-people", {"count": 3}, {"results": [{"name": f"Åsa {n}", "born": None} for n in range(3)]}),
    ("list-people", {}, {"results": [{"name": "Åsa 0", "born": None}, {"name": "Åsa 1", "born": None}]}),
    ("get-person", {"name": "é"}, {"name": "é", "born": "2000-01-31"}),
    ("list-rows", {}, {"results": [{"id": n, "title": "t"} for n in range(3)]}),
    ("point", {}, {"x": 1.0, "y": 2.5}),
    ("number", {"value": 10}, {"result": 10.0}),
    ("number", {"value": 0.1}, {"result": 0.1}),
    ("flag", {}, {"result": False}),
    ("text", {}, {"result": '{"looks": "like JSON"}'}),
    ("price", {}, {"result": "1.10"}),
    ("colours", {}, {"results": ["red"]}),
    ("nothing", {}, None),
    ("no-rows", {}, {"results": []}),
    ("already-wrapped", {}, {"results": [1, 2], "count": 2}),
    ("structured", {}, {"bmi": 25.5}),
    ("missing", {"id": "x"}, {"error": True, "status": 404, "message": "Contact not found"}),
    ("invalid", {}, {"error": True, "status": 400, "message": "Validation failed", "data": {"fields": ["name"]}}),
    ("missing", {}, 400),
    ("number", {"value": "x"}, 400),
]  # fmt: skip
"""Tool, arguments, and what the loop makes of the result; a number is the status of a failure."""

PREPARE = """
import django, json
django.setup()
from django.core.management import call_command
call_command("migrate", verbosity=0)
from django.contrib.auth.models import Permission, User
from mcp_server.models import Token
tokens = {}
for name in ("admin", *(f"{what}-{door}" for what in ("token", "user", "permission") for door in ("direct", "run"))):
    user = User.objects.create_user(name)
    codename = "change_user" if name == "admin" else "delete_user"
    user.user_permissions.set(Permission.objects.filter(codename=codename))
    tokens[name] = Token.objects.issue(user, name)[1]
print(json.dumps(tokens))
"""


@dataclass(frozen=True)
class Site:
    """Two server processes over one database, and a token for each user."""

    urls: tuple[str, str]
    tokens: dict[str, str]

    @asynccontextmanager
    async def connect(
        self, server: int, user: str, endpoint: str = "", mode: str = "auto"
    ) -> AsyncIterator[Client]:
        headers = {"Authorization": f"Bearer {self.tokens[user]}"}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=30) as http,
            Client(
                streamable_http_client(f"{self.urls[server]}/mcp{endpoint}", http_client=http), mode=mode
            ) as client,
        ):
            yield client


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("servers")
    project = Project(
        folder,
        "shop",
        ENDPOINTS={"default": {}, "json": {"RESULT_FORMAT": "json"}, "code": {"CODE_MODE": "on"}},
    )
    settings = (folder / "settings.py").read_text().replace('":memory:"', repr(str(folder / "db.sqlite3")))
    options = '"OPTIONS": {"transaction_mode": "IMMEDIATE", "timeout": 20, "init_command": "PRAGMA journal_mode=WAL;"}'
    settings = settings.replace('"NAME": ', f'{options}, "NAME": ').replace('"testserver"', '"127.0.0.1"')
    project.write("settings.py", settings)
    project.write("shop/mcp_tools.py", TOOLS)
    project.write(
        "asgi.py", "from django.core.asgi import get_asgi_application\napplication = get_asgi_application()\n"
    )
    prepared = project.run("-c", PREPARE)
    assert prepared.returncode == 0, prepared.stderr
    with served(project) as first, served(project) as second:
        yield Site((first, second), json.loads(prepared.stdout))


@contextmanager
def served(project: Project) -> Iterator[str]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, "-m", "uvicorn", "asgi:application", "--port", str(port), "--log-level", "warning", "--lifespan", "off"],
        cwd=project.folder,
        env=project.environment,
    )  # fmt: skip
    try:
        wait_for_port(process, port)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(20)


def wait_for_port(process: subprocess.Popen[bytes], port: int) -> None:
    pause, end = threading.Event(), monotonic() + 30
    while monotonic() < end:
        assert process.poll() is None, "the server ended"
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        pause.wait(0.05)
    raise AssertionError("the server did not start")


def loop(result: Any) -> Any:
    """What the seed's client does with a result."""
    text = "".join(part.text for part in result.content if part.type == "text")
    if not result.is_error and result.structured_content:
        text = json.dumps(result.structured_content)
    return json.loads(text) if text else None


@pytest.mark.proves("R09", "R01", "R05a", "R10b")
@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_the_seeds_client_loop_rebuilds_every_value_in_parallel_and_in_any_order(site: Site, mode: str):
    calls = CALLS * 4
    random.Random(mode).shuffle(calls)
    async with site.connect(0, "admin", "/json", mode) as client:
        offered = {tool.name: tool.input_schema for tool in (await client.list_tools()).tools}
        assert {name for name, _, _ in CALLS} <= set(offered)
        assert all(schema["type"] == "object" and "$ref" not in schema for schema in offered.values())
        results = await asyncio.gather(*(client.call_tool(name, arguments) for name, arguments, _ in calls))
        guidance = await client.call_tool("sign-in")
    for (name, arguments, expected), result in zip(calls, results, strict=True):
        value = loop(result)
        if isinstance(expected, int):
            assert (value["error"], value["status"], result.is_error) == (True, expected, True), name
        else:
            assert value == expected, (name, arguments)
            assert result.is_error == (isinstance(expected, dict) and "error" in expected)
    assert (guidance.is_error, guidance.content[0].text) == (True, "Sign in first.")


@pytest.mark.proves("R13a", "R02", "T11a")
@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_under_text_the_official_client_finds_declared_outputs_to_fit_their_schemas(
    site: Site, mode: str
):
    async with site.connect(0, "admin", "", mode) as client:
        for name, arguments, expected in CALLS:
            result = await client.call_tool(name, arguments)  # the client checks against `outputSchema`
            if result.structured_content is not None:
                assert result.structured_content == expected
                if "results" in expected and len(expected) == 1:
                    assert json.loads(result.content[0].text) == expected["results"]


@pytest.mark.proves("T18b", "R11a")
async def test_a_sync_tool_that_goes_on_does_not_hold_the_answer_back(site: Site):
    async with site.connect(0, "admin", "/json") as client:
        await client.list_tools()
        started = monotonic()
        result = await client.call_tool("slow")
        # Its handler sleeps for four seconds, and the next request does not wait for it either.
        rows = await client.call_tool("list-users")
        assert monotonic() - started < 3.5
    assert loop(result) == {"error": True, "status": 504, "message": "The tool did not finish in time."}
    assert not rows.is_error


UNTIL_REFUSED = """
let calls = 0;
try { for (;;) { await codemode.guarded(); calls++; await codemode.pause(); } }
catch (error) { return {calls, message: error.message}; }
"""


@pytest.mark.proves("G03a", "G03b", "G06b")
@pytest.mark.parametrize("what", ["token", "user", "permission"])
async def test_what_one_process_takes_away_another_refuses_within_a_second(site: Site, what: str):
    user = f"{what}-direct"
    async with site.connect(1, user) as client, site.connect(0, "admin") as admin:
        assert (await client.call_tool("guarded")).content[0].text == "done"
        await admin.call_tool("end", {"what": what, "username": user})
        with pytest.raises(BaseException) as refused:  # whatever the client makes of a 401 or of -32602
            await client.call_tool("guarded")
        assert "done" not in str(refused.value)


@pytest.mark.proves("G03b", "G01c")
@pytest.mark.parametrize("what", ["token", "user", "permission"])
async def test_what_one_process_takes_away_a_run_in_another_loses_within_a_second(site: Site, what: str):
    user = f"{what}-run"
    async with site.connect(1, user, "/code") as client, site.connect(0, "admin") as admin:
        await (
            client.list_tools()
        )  # afterwards the client knows the schemas, and need not ask with what it has lost
        run = asyncio.create_task(client.call_tool("code", {"code": UNTIL_REFUSED}))
        end = monotonic() + 20
        while (await admin.call_tool("was-called", {"username": user})).content[0].text != "true":
            assert monotonic() < end
        await admin.call_tool("end", {"what": what, "username": user})
        started = monotonic()
        result = await run
        # One second, and what a busy machine adds to it.
        assert monotonic() - started < 4
    assert not result.is_error
    assert result.structured_content is not None
    # Whoever lost all rights may be told so by either tool of the loop.
    lost = ("guarded",) if what == "permission" else ("guarded", "pause")
    assert result.structured_content["message"] in {f"[404] Unknown tool: {name}" for name in lost}
