"""The door's short path is held to the kernel's answers over generated requests (P08, Q06).

Each request goes, as the same bytes, through the door, through Django's view, and through the view without the short path.
Status, media type and the decoded body must be the same; and the short path must have taken a good part, or this would
prove nothing.
"""

import asyncio
import json
import random
from collections.abc import Iterator, MutableMapping
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.test import Client, override_settings
from pydantic import BaseModel

from mcp_server import Context, Image, ToolError, ToolResult, tool
from mcp_server.definitions.registry import registry
from mcp_server.protocol import door, shortcut
from tests.protocol.wire import VERSION, modern, modern_headers, request

pytestmark = pytest.mark.django_db(transaction=True)
REQUESTS = 800
SEED = 20260728
OPEN = {"ENDPOINTS": {"default": {"LOGIN_REQUIRED": False, "VERSION": "1"}}, "LOG": {"LEVEL": "off"}}


class Person(BaseModel):
    name: str
    age: int | None = None


RESULTS: dict[str, Any] = {
    "text": "héllo \u2028 \U0001f600",
    "empty": "",
    "none": None,
    "int": 10**20,
    "float": 10.0,
    "bool": True,
    "list": [1, "two", None],
    "dict": {"a": {"b": [1.5]}},
    "image": Image(b"\x89PNG"),
    "full": ToolResult(content=["a", "b"], structured_content={"x": 1}, meta={"own": 1}),
    "failed": ToolResult(content=["bad"], is_error=True),
    "structured": ToolResult(structured_content=[1, 2]),
}


@pytest.fixture(autouse=True)
def tools() -> Iterator[None]:  # noqa: C901 - one tool of each kind
    with registry.isolated(empty=True), override_settings(MCP_SERVER=OPEN):

        @tool(tags=["x"])
        async def add(a: int, b: int = 2) -> int:
            """Add."""
            return a + b

        @tool
        def give(kind: str) -> Any:
            return RESULTS[kind]

        @tool
        async def person(name: str = "Ada") -> Person:
            return Person(name=name)

        @tool(result_format="json")
        async def people() -> list[Person]:
            return [Person(name="Ada", age=3)]

        @tool
        async def fail(status: int | None = None) -> str:
            raise ToolError("No", status, {"a": 1})

        @tool(enabled=lambda request: False)
        def hidden() -> str:
            return "never"

        @tool
        async def talk(ctx: Context) -> str:
            await ctx.aprogress(1)
            return "talked"

        @tool(
            input_schema={
                "type": "object",
                "properties": {"region": {"type": "string", "x-mcp-header": "Region"}},
            }
        )
        def routed(region: str = "") -> str:
            return region

        yield


class Generator:
    """Requests, most of them good, the rest with one or two oddities."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def make(self) -> tuple[dict[str, str], bytes]:
        pick = self.random
        message = self._message()
        era = pick.choice(["2026", "2025"])
        headers: dict[str, str] = {
            "content-type": "application/json",
            "accept": pick.choice(["application/json, text/event-stream", "*/*", "application/json"]),
        }
        if era == "2026":
            message = modern(message["method"], message.get("params"), message["id"])
            if pick.random() < 0.7:
                message["params"]["_meta"]["io.modelcontextprotocol/clientInfo"] = {
                    "name": "t",
                    "version": "1",
                }
            headers |= {
                key.lower(): value for key, value in modern_headers(message).items() if key != "Accept"
            }
        else:
            headers["mcp-protocol-version"] = pick.choice(["2025-06-18", "2025-11-25"])
        for _ in range(pick.choice([0, 0, 1, 1, 2])):
            self._bend(message, headers)
        body = json.dumps(message, ensure_ascii=pick.random() < 0.5).encode("utf-8", "surrogatepass")
        if pick.random() < 0.06:
            body = self._damage(body)
        return headers, body

    def _message(self) -> dict[str, Any]:
        pick = self.random
        number = pick.choice([1, 0, -3, 2**60, "", "seven", "é", "7"])
        if pick.random() < 0.2:
            return request("tools/list", None if pick.random() < 0.3 else {}, number)
        name, arguments = pick.choice(
            [
                ("add", {"a": 1}),
                ("add", {"a": 1, "b": 3}),
                ("add", {"a": "x"}),
                ("add", {"a": 1, "c": 1}),
                ("add", {}),
                ("give", {"kind": pick.choice(list(RESULTS))}),
                ("give", {"kind": pick.choice(list(RESULTS))}),
                ("person", {}),
                ("person", {"name": "Ås\u00e1"}),
                ("people", {}),
                ("fail", {"status": 404}),
                ("fail", {}),
                ("give", {"kind": _nested(pick.choice([98, 110]))}),
                ("hidden", {}),
                ("nobody", {}),
                ("talk", {}),
                ("routed", {"region": "eu"}),
                ("routed", {}),
            ]
        )
        params: dict[str, Any] = {"name": name}
        if arguments or pick.random() < 0.5:
            params["arguments"] = arguments
        return request("tools/call", params, number)

    def _bend(self, message: dict[str, Any], headers: dict[str, str]) -> None:
        pick = self.random
        params = message.get("params")
        if isinstance(params, dict) and pick.random() < 0.2:
            # What only the kernel knows how to answer.
            params["cursor"] = pick.choice(["", "add", 1])
        elif pick.random() < 0.5:
            name = pick.choice([*headers, "mcp-method", "mcp-name", "mcp-session-id", "x-other"])
            texts = [None, "", "nonsense", "=?base64?YWRk?=", VERSION, "2025-03-26", "2031-01-01", " add "]
            text = pick.choice(texts)
            headers.pop(name, None)
            if text is not None:
                headers[name] = text
        elif pick.random() < 0.5 or not isinstance(params, dict):
            name = pick.choice(["jsonrpc", "id", "method", "params", "extra"])
            value: Any = pick.choice([None, "2.0", 1.0, True, [], {}, "ping", "tools/list", -1])
            message.pop(name, None)
            if pick.random() < 0.8:
                message[name] = value
        else:
            name = pick.choice(["name", "name", "arguments", "arguments", "_meta", "task", "extra"])
            value = pick.choice([None, "", "add", 1, [], {}, {"progressToken": 1}, {"a": 1}, "\ud800"])
            params.pop(name, None)
            if pick.random() < 0.8:
                params[name] = value

    def _damage(self, body: bytes) -> bytes:
        pick = self.random
        return pick.choice(
            [
                body[: pick.randrange(len(body))],
                b"[" + body + b"]",
                b"\xef\xbb\xbf" + body,
                body.replace(b"1", b"NaN", 1),
                body.replace(b"1", b"1e400", 1),
                body.replace(b"1", b"9" * 5000, 1),
                body.replace(b"{}", b"[" * 120 + b"]" * 120, 1),
                body.replace(b'"method"', b'"method":"ping","method"', 1),
                body.replace(b'"name"', b'"n\\u0061me"', 1),
                body.decode("utf-8", "replace").encode("utf-16"),
                b" \n" + body + b"\n",
            ]
        )


def _nested(levels: int) -> Any:
    value: Any = "text"
    for _ in range(levels):
        value = [value]
    return value


Answer = tuple[int, str, Any]


async def through_the_door(headers: dict[str, str], body: bytes) -> Answer:
    async def receive() -> MutableMapping[str, Any]:
        if not sent:
            sent.append(True)
            return {"type": "http.request", "body": body}
        await asyncio.Event().wait()
        raise AssertionError

    async def send(message: MutableMapping[str, Any]) -> None:
        messages.append(message)

    async def django(scope: Any, receive: Any, send: Any) -> None:
        raise AssertionError("It is the door's path.")

    sent: list[bool] = []
    messages: list[MutableMapping[str, Any]] = []
    raw = [(key.encode(), value.encode("latin-1")) for key, value in headers.items()]
    scope: dict[str, Any] = {
        "type": "http", "method": "POST", "path": "/mcp", "query_string": b"", "scheme": "http",
        "headers": [(b"host", b"testserver"), *raw], "client": ("127.0.0.1", 1), "server": ("testserver", 80),
    }  # fmt: skip
    await door.Door(django, "mcp")(scope, receive, send)
    start = messages[0]
    kind = dict(start["headers"]).get(b"content-type", b"").decode()
    content = b"".join(message.get("body", b"") for message in messages[1:])
    return start["status"], kind, decode(kind, content)


def through_the_view(headers: dict[str, str], body: bytes) -> Answer:
    given = {key: value for key, value in headers.items() if key != "content-type"}
    response = Client(raise_request_exception=False).generic(
        "POST", "/mcp", body or b" ", content_type=headers.get("content-type", ""), headers=given
    )
    kind = response.headers.get("Content-Type", "")
    content = b"".join(response) if response.streaming else response.content
    return response.status_code, kind, decode(kind, content)


def through_both_views(
    headers: dict[str, str], body: bytes, monkeypatch: pytest.MonkeyPatch
) -> tuple[Answer, Answer]:
    """The view's answer, and the view's without the short path."""
    quick = through_the_view(headers, body)
    with monkeypatch.context() as patch:
        patch.setattr(shortcut, "recognise_in_view", lambda *args: None)
        return quick, through_the_view(headers, body)


def decode(kind: str, content: bytes) -> Any:
    if kind == "text/event-stream":
        lines = [line[6:] for line in content.decode().splitlines() if line.startswith("data: {")]
        return [typed(json.loads(line)) for line in lines]
    return typed(json.loads(content)) if content else None


def typed(value: Any) -> Any:
    """The value with its JSON types: 1, 1.0 and true are three things. References of crashes differ and are left out."""
    if isinstance(value, dict):
        return {key: typed(item) for key, item in value.items()}
    if isinstance(value, list):
        return [typed(item) for item in value]
    return (type(value).__name__, value)


async def compare(seed: int, count: int, monkeypatch: pytest.MonkeyPatch) -> tuple[int, list[str]]:
    """How many requests the short path took, and the differences."""
    taken: list[bool] = []
    original = door._answer_quickly

    async def spy(*args: Any) -> Any:
        found = await original(*args)
        taken.append(found is not None)
        return found

    monkeypatch.setattr(door, "_answer_quickly", spy)
    generator, differences = Generator(seed), []
    views = sync_to_async(through_both_views)
    for _ in range(count):
        headers, body = generator.make()
        try:
            at_door: Any = await through_the_door(headers, body)
        except Exception as error:
            at_door = f"crashed: {error!r}"
        in_view, kernel = await views(headers, body, monkeypatch)
        if not at_door == in_view == kernel:
            differences.append(f"{headers}\n{body!r}\ndoor {at_door}\nview {in_view}\nkernel {kernel}")
    return sum(taken), differences


@pytest.mark.proves("P08")
async def test_the_short_path_gives_the_kernels_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    taken, differences = await compare(SEED, REQUESTS, monkeypatch)
    assert not differences, "\n\n".join(differences[:3])
    assert taken > REQUESTS * 0.2


FAULTS: dict[str, tuple[str, Any]] = {
    "any member of params": (
        "_MEMBERS",
        {
            "tools/call": frozenset({"name", "arguments", "_meta", "cursor", "task", "extra"}),
            "tools/list": frozenset({"_meta", "cursor", "extra"}),
        },
    ),
    "headers not held against the body": ("_agrees", lambda headers, message: True),
    "no check of the surface": ("validate_client_request", lambda *args: None),
    "any depth": ("MAX_DEPTH", 10_000),
    "never quiet": ("_is_quiet", lambda *args: True),
}


@pytest.mark.thorough
@pytest.mark.proves("P08")
@pytest.mark.parametrize("fault", FAULTS)
async def test_the_comparison_has_teeth(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from mcp_server.protocol import short

    name, value = FAULTS[fault]
    monkeypatch.setattr(short, name, value)
    found = []
    for seed in range(SEED, SEED + 4):
        found = (await compare(seed, 400, monkeypatch))[1]
        if found:
            break
    assert found
