"""The examples of the pages that set other toolkits beside this one do what those pages say."""

import http.server
import importlib
import json
import sys
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.core.cache import cache
from django.test import override_settings

from mcp_server.definitions.registry import registry
from mcp_server.models import Token
from mcp_server.testing import MCPClient, MCPError

pytestmark = pytest.mark.proves("D05b")


@pytest.fixture
def example(db: Any):
    """Return a function that loads an example as the only definitions of the project."""
    cache.clear()
    with registry.isolated(empty=True):

        def load(name: str):
            for loaded in [key for key in sys.modules if key.startswith(f"docs.examples.{name}")]:
                del sys.modules[loaded]
            return importlib.import_module(f"docs.examples.{name}")

        yield load


@pytest.fixture
def root(db: Any) -> User:
    return User.objects.create_superuser("root")


@pytest.fixture
def nuxt(example, root) -> MCPClient:
    example("nuxt_tools")
    return MCPClient(root)


def tool(client: MCPClient, name: str) -> dict[str, Any]:
    found: dict[str, Any] = next(item for item in client.list_tools() if item["name"] == name)
    return found


def test_names_titles_and_descriptions_are_those_of_the_nuxt_page(nuxt):
    assert nuxt.call_tool("echo", {"message": "test"}).text == "Echo: test"
    echo = tool(nuxt, "echo")
    assert echo["description"] == "Echo back a message."
    assert echo["inputSchema"]["properties"]["message"]["description"] == "The message to echo back"
    assert tool(nuxt, "list-documentation")["title"] == "List Documentation"


def test_each_row_of_the_zod_table_has_its_schema(nuxt):
    given = {"operation": "add", "a": 1, "b": 2, "format": "decimal", "numbers": [3, 4.25], "precision": 1}
    assert nuxt.call_tool("calculator", given).text == "10.2"
    assert nuxt.call_tool("calculator", {**given, "format": "fraction"}).text == "41/4"
    schema = tool(nuxt, "all-types")["inputSchema"]
    properties = schema["properties"]
    assert schema["required"] == ["text", "number", "flag", "items", "nested", "choice"]
    assert properties["text"] == {"type": "string", "minLength": 1, "maxLength": 100}
    assert (properties["number"]["minimum"], properties["number"]["maximum"]) == (0, 100)
    assert (properties["flag"], properties["items"]) == (
        {"type": "boolean"},
        {"type": "array", "items": {"type": "string"}},
    )
    assert (properties["choice"]["enum"], properties["default"]["default"]) == (["a", "b"], "value")
    values = {"text": "x", "number": 1, "flag": True, "items": [], "nested": {"city": "Bonn"}, "choice": "a"}
    assert nuxt.call_tool("all-types", values).data[-3:] == ["a", "None", "value"]
    wrong = nuxt.call_tool("all-types", {**values, "number": 101, "optionl": "x"})
    assert wrong.text.startswith("[400]")
    assert "number" in wrong.text
    assert 'did you mean "optional"?' in wrong.text


def test_results_are_those_of_the_nuxt_page(nuxt):
    given = {"weightKg": 70, "heightM": 1.75}
    assert nuxt.call_tool("calculate-bmi", given).structured == {"bmi": 22.86, "category": "Normal"}
    assert nuxt.call_tool("calculate-bmi", {**given, "weightKg": 100}).structured["category"] == "Obese"
    assert nuxt.call_tool("greet", {"name": "World"}).text == "Hello World"
    assert nuxt.call_tool("add", {"a": 4, "b": 6}).text == "10"
    assert nuxt.call_tool("find-user", {"id": "1"}).data == {"id": "1", "joined": "2026-01-31"}
    assert nuxt.call_tool("exists", {"id": "1"}).text == "true"


def test_content_is_that_of_the_nuxt_page(nuxt):
    picture = nuxt.call_tool("draw-chart", {"data": [1, 2]}).content
    assert [(item["type"], item["mimeType"], item["data"]) for item in picture] == [
        ("image", "image/png", "iVBORwEC")
    ]
    assert nuxt.call_tool("read-file").content == [
        {
            "type": "resource",
            "resource": {"uri": "file:///path/to/file", "text": "File content", "mimeType": "text/plain"},
        }
    ]
    measured = nuxt.call_tool("measure")
    assert [item["type"] for item in measured.content] == ["text", "image"]
    assert measured.structured == {"bmi": 25.5, "category": "Normal"}


def test_annotations_and_examples_are_those_of_the_nuxt_page(nuxt):
    hints = {"readOnlyHint": False, "destructiveHint": True, "idempotentHint": True, "openWorldHint": False}
    assert tool(nuxt, "delete-user")["annotations"] == hints
    assert tool(nuxt, "delete-page")["annotations"] == hints
    assert tool(nuxt, "create-todo")["_meta"]["inputExamples"] == [
        {"title": "Buy groceries", "content": "Milk, eggs, bread"},
        {"title": "Fix login bug"},
    ]
    assert tool(nuxt, "remove-user")["_meta"] == {
        "group": "admin",
        "tags": ["destructive", "user-management"],
    }


def test_errors_are_those_of_the_nuxt_page(nuxt):
    assert nuxt.call_tool("get-user", {"id": "9"}).text == "[404] User not found"
    first, data = nuxt.call_tool("save-user", {"name": "", "email": ""}).text.split("\n")
    assert (first, json.loads(data)) == ("[400] Validation failed", {"fields": ["name", "email"]})
    assert nuxt.call_tool("safe-divide", {"a": 1, "b": 0}).text == "Division by zero"
    assert nuxt.call_tool("safe-divide", {"a": 1, "b": 4}).text == "0.25"


def test_answers_are_kept_as_the_nuxt_page_asks(nuxt):
    for name, key in (("cached-data", "id"), ("cached-page", "path")):
        first = nuxt.call_tool(name, {key: "p/q"}).data
        assert nuxt.call_tool(name, {key: "p/q"}).data == first
        assert nuxt.call_tool(name, {key: "p-q"}).data != first


class Weather(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        status, body = {"/Bonn": (200, {"degrees": 21}), "/Atlantis": (404, {})}.get(self.path, (503, {}))
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(json.dumps(body).encode())

    def log_message(self, *args: Any) -> None:
        """Say nothing."""


@pytest.fixture
def weather() -> Iterator[str]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Weather) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_a_service_is_called_and_its_failures_carry_its_status_and_nothing_else(nuxt, weather):
    with override_settings(WEATHER_URL=weather):
        assert nuxt.call_tool("get-weather", {"city": "Bonn"}).data == {"degrees": 21}
        assert nuxt.call_tool("get-weather", {"city": "Atlantis"}).text == '[404] City "Atlantis" not found'
        away = nuxt.call_tool("get-weather", {"city": "Rome"})
    assert away.text.startswith("[503]")
    assert "127.0.0.1" not in away.text


def test_a_tool_for_admins_is_there_for_them_only(nuxt, root):
    with pytest.raises(MCPError, match="Unknown tool"):
        nuxt.call_tool("admin-tool")
    root.groups.add(Group.objects.create(name="admin"))
    assert nuxt.call_tool("admin-tool").text == "42"


@pytest.mark.proves("T17c")
def test_groups_follow_the_modules_of_a_package(example, root):
    for module in ("admin.users", "content.pages", "search"):
        example(f"nuxt_layout.mcp_tools.{module}")
    groups = {item["name"]: item["_meta"]["group"] for item in MCPClient(root).list_tools()}
    assert groups == {"delete-user": "admin", "list-pages": "content", "search": "search"}


def test_results_for_code_are_those_of_the_unified_page(example, root):
    contacts = example("unified_results").CONTACTS
    client = MCPClient(root, "data")
    listed = client.call_tool("list-contacts")
    page = (
        '{"results":[{"id":"123","name":"Jane Doe","emails":[{"email":"jane@example.com"}]},'
        '{"id":"124","name":"Jörg Böhm","emails":[]}]}'
    )
    assert (listed.text, listed.structured) == (page, json.loads(page))
    assert client.call_tool("get-contact", {"id": "123"}).structured == contacts["123"]
    missing = client.call_tool("get-contact", {"id": "9"})
    assert (missing.is_error, missing.structured) == (True, None)
    assert missing.text == '{"error":true,"status":404,"message":"Contact not found"}'
    assert json.loads(client.call_tool("get-contact").text)["status"] == 400
    removed = client.call_tool("remove-contact", {"id": "124"})
    assert (removed.is_error, removed.text, removed.structured) == (False, "", None)
    assert client.call_tool("list-contacts", {"limit": 100}).data == {"results": [contacts["123"]]}
    schema = tool(client, "list-contacts")["outputSchema"]
    assert (schema["type"], schema["required"]) == ("object", ["results"])


def test_advice_is_text_for_code_too(example, root):
    example("unified_results")
    _, narrow = Token.objects.issue(root, "narrow", scopes=["contacts"])
    client = MCPClient(endpoint="data", token=narrow)
    assert client.call_tool("list-deals").text == "Ask the user to connect again, with the scope deals."
    assert client.call_tool("get-forecast").text.startswith("The forecast is in preview.")


@pytest.mark.proves("P14")
def test_middleware_answers_refuses_and_advises_as_the_page_says(example, monkeypatch):
    module = example("middleware")
    user = User.objects.create_user("ada")
    client = MCPClient(user, "desk")
    assert client.list_tools() == []
    user.first_name = "Ada"
    user.save()
    monkeypatch.setattr(module, "OPEN", False)
    with pytest.raises(MCPError) as refused:
        client.list_tools()
    assert refused.value.status == 503


def test_the_pages_show_what_the_examples_answer():
    from pathlib import Path

    page = (Path(__file__).parents[2] / "docs/compare-unified.md").read_text(encoding="utf-8")
    assert '"name":"Jörg Böhm","emails":[]}]}' in page
    assert '{"error":true,"status":404,"message":"Contact not found"}' in page
