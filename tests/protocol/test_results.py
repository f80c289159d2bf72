"""Lists and results as each revision may have them (R02, T19, G02)."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import AsyncClient, Client, override_settings
from pydantic import BaseModel

from mcp_server import Audio, EmbeddedResource, Image, ResourceLink, ToolResult, tool
from mcp_server.definitions.registry import registry
from tests.protocol.wire import JSON_HEADERS, modern, modern_headers, request

pytestmark = pytest.mark.django_db
OPEN = {"ENDPOINTS": {"default": {"LOGIN_REQUIRED": False}}}
ALL = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28")
STRUCTURED = ALL[2:]


class Person(BaseModel):
    name: str
    age: int | None = None


@pytest.fixture(autouse=True)
def tools() -> Iterator[None]:
    with registry.isolated(empty=True), override_settings(MCP_SERVER=OPEN):

        @tool(tags=["people"], group="team", input_examples=[{"name": "Åsa"}], read_only=True)
        def person(name: str = "Ada") -> Person:
            """Find a person."""
            return Person(name=name)

        @tool(result_format="json")
        def people() -> list[Person]:
            return [Person(name="Ada")]

        @tool
        def media() -> ToolResult:
            return ToolResult(
                content=[
                    "hello",
                    Image(b"\x89PNG"),
                    Audio(b"RIFF"),
                    EmbeddedResource(uri="test://a", text="inside", mime_type="text/plain"),
                    EmbeddedResource(uri="test://b", blob=b"\x00"),
                    ResourceLink(uri="test://c", name="c"),
                ]
            )

        @tool(enabled=lambda request: False)
        def hidden() -> str:
            return "never"

        yield


def ask(version: str, method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
    if version == "2026-07-28":
        message = modern(method, params)
        headers = modern_headers(message)
    else:
        message = request(method, params)
        headers = {**JSON_HEADERS, "Mcp-Protocol-Version": version}
    response = Client().post("/mcp", json.dumps(message), content_type="application/json", headers=headers)
    assert response["Content-Type"] == "application/json"
    answer: dict[str, Any] = response.json()
    return answer


@pytest.mark.proves("R02", "P01b")
@pytest.mark.parametrize("version", ALL)
def test_structured_content_and_output_schemas_go_to_revisions_that_know_them(version: str) -> None:
    listed = {item["name"]: item for item in ask(version, "tools/list")["result"]["tools"]}
    assert list(listed) == ["media", "people", "person"]
    for name, value in (
        ("person", {"name": "Ada", "age": None}),
        ("people", {"results": [{"name": "Ada", "age": None}]}),
    ):
        result = ask(version, "tools/call", {"name": name})["result"]
        assert ("structuredContent" in result) == (version in STRUCTURED)
        assert ("outputSchema" in listed[name]) == (version in STRUCTURED)
        if version in STRUCTURED:
            assert result["structuredContent"] == value
        assert json.loads(result["content"][0]["text"]) == value


@pytest.mark.proves("P01b")
@pytest.mark.parametrize("version", ALL[:4])
def test_old_revisions_negotiate(version: str) -> None:
    params = {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    result = ask("2025-11-25", "initialize", params)["result"]
    assert result["protocolVersion"] == version
    assert "tools" in result["capabilities"]


@pytest.mark.proves("P01b")
def test_an_unknown_revision_is_offered_the_newest_with_a_handshake() -> None:
    params = {
        "protocolVersion": "1999-01-01",
        "capabilities": {},
        "clientInfo": {"name": "t", "version": "1"},
    }
    assert ask("2025-11-25", "initialize", params)["result"]["protocolVersion"] == "2025-11-25"


@pytest.mark.proves("T10a")
@pytest.mark.parametrize("version", ALL)
def test_media_reach_each_revision_in_a_form_that_it_knows(version: str) -> None:
    content = ask(version, "tools/call", {"name": "media"})["result"]["content"]
    kinds = [item["type"] for item in content]
    expected = ["text", "image", "audio", "resource", "resource", "resource_link"]
    if version < "2025-06-18":
        expected[5] = "text"
    if version < "2025-03-26":
        expected[2] = "text"
    assert kinds == expected
    assert content[1]["data"] == "iVBORw=="
    assert content[3]["resource"] == {"uri": "test://a", "text": "inside", "mimeType": "text/plain"}
    assert content[4]["resource"]["blob"] == "AA=="


@pytest.mark.proves("T12b", "T13b", "T17a")
def test_a_tool_is_listed_with_what_its_author_said() -> None:
    listed = {item["name"]: item for item in ask("2026-07-28", "tools/list")["result"]["tools"]}
    assert listed["person"]["description"] == "Find a person."
    assert listed["person"]["annotations"] == {"readOnlyHint": True}
    assert listed["person"]["_meta"] == {
        "group": "team",
        "tags": ["people"],
        "inputExamples": [{"name": "Åsa"}],
    }
    assert listed["people"]["_meta"].keys() == {"group"}


@pytest.mark.proves("T19b")
@override_settings(MCP_SERVER={**OPEN, "PAGE_SIZE": 2})
@pytest.mark.parametrize("version", ["2025-11-25", "2026-07-28"])
def test_a_page_size_cuts_lists_into_pages_that_join_to_the_whole(version: str) -> None:
    first = ask(version, "tools/list")["result"]
    assert [item["name"] for item in first["tools"]] == ["media", "people"]
    second = ask(version, "tools/list", {"cursor": first["nextCursor"]})["result"]
    assert [item["name"] for item in second["tools"]] == ["person"]
    assert "nextCursor" not in second


@pytest.mark.proves("T19b")
@pytest.mark.parametrize("cursor", ["", "x", "YWZ0ZXI", "cGVyc29u", "é"])
@pytest.mark.parametrize("page_size", [None, 2])
def test_a_cursor_that_is_none_of_ours_is_refused(cursor: str, page_size: int | None) -> None:
    with override_settings(MCP_SERVER={**OPEN, "PAGE_SIZE": page_size}):
        answer = ask("2025-11-25", "tools/list", {"cursor": cursor})
    assert answer["error"]["code"] == -32602


@pytest.mark.proves("G02b", "P08")
@pytest.mark.parametrize("version", ["2025-11-25", "2026-07-28"])
def test_a_hidden_tool_is_answered_byte_for_byte_like_none(version: str) -> None:
    answers = [
        json.dumps(ask(version, "tools/call", {"name": name, "arguments": arguments})).replace(name, "NAME")
        for name in ("hidden", "nobody")
        for arguments in ({}, {"a": 1}, None)
    ]
    assert len(set(answers)) == 1
    assert json.loads(answers[0])["error"] == {"code": -32602, "message": "Unknown tool: NAME"}


@pytest.mark.proves("P08")
@pytest.mark.parametrize("version", ["2025-11-25", "2026-07-28"])
@pytest.mark.parametrize(
    "params",
    [
        None,
        {},
        {"name": 5},
        {"name": "person", "arguments": []},
        {"name": "person", "arguments": "x"},
        {"name": None},
    ],
)
def test_params_of_the_wrong_shape_are_32602(version: str, params: dict[str, Any] | None) -> None:
    assert ask(version, "tools/call", params)["error"]["code"] == -32602 or version == "2026-07-28"
    assert ask(version, "tools/call", params)["error"]["code"] in {-32602, -32020}


@pytest.mark.proves("S08")
@pytest.mark.parametrize("version", ["2025-11-25", "2026-07-28"])
def test_half_a_surrogate_pair_in_a_name_or_an_argument_is_no_trouble(version: str) -> None:
    if version == "2025-11-25":
        assert ask(version, "tools/call", {"name": "\ud800"})["error"]["code"] == -32602
    answer = ask(version, "tools/call", {"name": "person", "arguments": {"name": "\ud800"}})
    assert "\ufffd" in answer["result"]["content"][0]["text"]


@pytest.mark.proves("P11b")
async def test_the_asynchronous_view_gives_the_same_answers() -> None:
    headers = {"Accept": JSON_HEADERS["Accept"], "Mcp-Protocol-Version": "2025-11-25"}
    for method, params in (
        ("tools/list", None),
        ("tools/call", {"name": "person"}),
        ("tools/call", {"name": "x"}),
    ):
        message = json.dumps(request(method, params))
        response = await AsyncClient().post("/mcp", message, content_type="application/json", headers=headers)
        assert response.status_code == 200
        assert response.json() == await sync_ask("2025-11-25", method, params)


async def sync_ask(version: str, method: str, params: dict[str, Any] | None) -> dict[str, Any]:
    from asgiref.sync import sync_to_async

    answer: dict[str, Any] = await sync_to_async(ask)(version, method, params)
    return answer
