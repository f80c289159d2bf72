"""What an author says of a tool, as clients see it (T02, T12, T13, T17, T22)."""

from collections.abc import Iterator
from functools import partial
from typing import Any, assert_type

import pytest
from django.test import override_settings

from mcp_server import prompt, resource, tool
from mcp_server.definitions.naming import derive_name, derive_title
from tests.door import OPEN, call, client, listed, serving


@pytest.fixture(autouse=True)
def tools(db: Any) -> Iterator[None]:
    with serving():
        yield


def plain() -> None: ...


@pytest.mark.proves("T02a")
@pytest.mark.parametrize(
    ("function", "kebab", "snake", "title"),
    [
        ("list_documentation", "list-documentation", "list_documentation", "List Documentation"),
        ("listPages", "list-pages", "list_pages", "List Pages"),
        ("getHTMLPage", "get-html-page", "get_html_page", "Get Html Page"),
        ("sha256_sum", "sha256-sum", "sha256_sum", "Sha256 Sum"),
        ("_private_", "private", "private", "Private"),
        ("größe", "größe", "größe", "Größe"),
        ("__", "__", "__", "__"),
    ],
)
def test_names_and_titles_follow_from_the_function(function: str, kebab: str, snake: str, title: str):
    assert (derive_name(function, "kebab"), derive_name(function, "snake")) == (kebab, snake)
    assert derive_title(kebab) == title


@pytest.mark.proves("T02a", "T02b")
def test_the_setting_chooses_the_style_and_the_author_has_the_last_word():
    def list_documentation() -> None: ...

    tool(list_documentation)
    tool(name="Docs.all", title="All of it", description="Says all.")(list_documentation)
    found = listed()
    assert found["list-documentation"]["title"] == "List Documentation"
    assert (found["Docs.all"]["title"], found["Docs.all"]["description"]) == ("All of it", "Says all.")
    with override_settings(MCP_SERVER={**OPEN, "TOOL_NAMES": "snake"}):
        assert set(listed()) == {"list_documentation", "Docs.all"}


HINTS: dict[str, tuple[dict[str, Any], Any]] = {
    "read": (
        {"annotations": "read"},
        {"readOnlyHint": True, "destructiveHint": False, "openWorldHint": False},
    ),
    "create": (
        {"annotations": "create"},
        {"readOnlyHint": False, "destructiveHint": False, "idempotentHint": False, "openWorldHint": False},
    ),
    "update": (
        {"annotations": "update"},
        {"readOnlyHint": False, "destructiveHint": False, "idempotentHint": True, "openWorldHint": False},
    ),
    "delete": (
        {"annotations": "delete"},
        {"readOnlyHint": False, "destructiveHint": True, "idempotentHint": True, "openWorldHint": False},
    ),
    "overridden": (
        {"annotations": "read", "open_world": True, "destructive": None},
        {"readOnlyHint": True, "destructiveHint": False, "openWorldHint": True},
    ),
    "a dict": ({"annotations": {"idempotentHint": True}, "read_only": False}, {"readOnlyHint": False, "idempotentHint": True}),
    "one": ({"idempotent": True}, {"idempotentHint": True}),
    "unsaid": ({}, None),
}  # fmt: skip


@pytest.mark.proves("T12a", "T12b")
@pytest.mark.parametrize(("settings", "hints"), HINTS.values(), ids=HINTS)
def test_hints_are_the_seeds_sets_and_nothing_unsaid_is_sent(settings: dict[str, Any], hints: Any):
    tool(**settings)(plain)
    assert listed()["plain"].get("annotations") == hints


@pytest.mark.proves("T13b", "T17a")
def test_meta_carries_what_was_said_and_no_file_name():
    @tool(
        input_examples=[{"title": "Å"}],
        tags=["a", "b"],
        group="g",
        meta={"shop/owner": "crm"},
        icons=["https://x/i.png"],
    )
    def full(title: str) -> None: ...

    tool(group="")(plain)
    found = listed()
    assert found["full"]["_meta"] == {
        "shop/owner": "crm",
        "group": "g",
        "tags": ["a", "b"],
        "inputExamples": [{"title": "Å"}],
    }
    assert found["full"]["icons"] == [{"src": "https://x/i.png"}]
    assert "_meta" not in found["plain"]
    assert ".py" not in str(found)


@pytest.mark.proves("T03a")
def test_an_endpoint_has_the_tools_that_it_and_they_choose():
    for name, options in {
        "a-one": {}, "a-two": {"tags": ["x"]}, "b": {"group": "g"}, "c": {"endpoints": ["one", "two"]}, "d": {"endpoints": []},
    }.items():  # fmt: skip
        tool(name=name, **options)(plain)
    endpoints: dict[str, Any] = {
        "default": {},
        "one": {"TOOLS": ["a-*"]},
        "two": {"GROUPS": ["g"], "TAGS": ["x"]},
        "three": {"TOOLS": []},
    }
    open_ones = {name: {"LOGIN_REQUIRED": False, **options} for name, options in endpoints.items()}
    with override_settings(MCP_SERVER={"ENDPOINTS": open_ones}):
        seen = {name: set(listed(endpoint=name)) for name in endpoints}
    assert seen == {
        "default": {"a-one", "a-two", "b"},
        "one": {"a-one", "a-two", "c"},
        "two": {"a-two", "b", "c"},
        "three": set(),
    }


@pytest.mark.proves("R02", "R13a")
def test_a_tool_has_its_own_format_on_every_endpoint():
    @tool(result_format="json")
    def as_json() -> list[int]:
        return [1]

    @tool(result_format="text")
    def as_text() -> list[int]:
        return [1]

    for endpoint in ("default", "json"):
        assert call("as-json", endpoint=endpoint).text == '{"results":[1]}'
        assert call("as-text", endpoint=endpoint).text == "[\n  1\n]"


@pytest.mark.proves("T22")
async def test_types_are_those_of_the_function_that_was_written():
    """mypy reads this test with the rest: `assert_type` holds, and the last line is an error indeed."""

    @tool
    def add(a: int, b: int = 2) -> int:
        return a + b

    @tool(name="later", timeout=5, tags=["x"])
    async def add_later(a: int) -> int:
        return a + 1

    assert assert_type(add(1), int) == 3
    assert assert_type(await add_later(1), int) == 2
    with pytest.raises(TypeError):
        add("1")
    with pytest.raises(TypeError, match="did you mean 'name'"):
        tool(nmae="x")  # type: ignore[call-overload]


@pytest.mark.proves("T20a")
@pytest.mark.parametrize(
    "decorate", [tool, prompt, partial(resource, "note://a"), partial(resource, "note://a", file="a.md")]
)
def test_no_decorator_ignores_a_keyword_that_it_does_not_have(decorate: Any):
    with pytest.raises(TypeError, match="unexpected keyword argument 'enable'; did you mean 'enabled'"):
        decorate(enable="shop.x")


def test_a_definition_after_the_first_request_is_refused():
    client().list_tools()
    with pytest.raises(Exception, match="A tool was defined after the first request"):
        tool(plain)
