"""`manage.py check`: everything at once, each with module, line and what to do (T21 and the clauses of each problem)."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from django.core import checks
from django.http import HttpRequest
from django.test import override_settings

from mcp_server import CacheOptions, endpoint, tool
from mcp_server.definitions.registry import registry
from tests.definitions.project import Project
from tests.door import client, serving

SHOP = """
from mcp_server import prompt, resource, tool

@tool(cache="5 parsecs")
def bad_cache() -> None: ...

@tool(input_examples=[{"limt": 3}])
def bad_example(limit: int = 1) -> None: ...

@tool
def same_name() -> None: ...

@tool(enabled="shop.view_unicorn")
def bad_permission() -> None: ...

@tool
def bad_annotation(what: "Nowhere") -> None: ...

class Opaque: ...

@tool
def no_schema(what: Opaque) -> None: ...

@tool(atomic=True)
async def bad_atomic() -> None: ...

@tool(timeout=500)
def bad_timeout() -> None: ...

@tool(annotations="reed")
def bad_hints() -> None: ...

@tool(endpoints=["nowhere"])
def lost() -> None: ...

@prompt(endpoints=["nowhere"])
def lost_prompt() -> str: ...

@resource("notes://all", enabled="shop.view_unicorn")
def bad_notes() -> str: ...
"""

EXPECTED = [
    ("shop.mcp_tools:4: Tool 'bad-cache': '5 parsecs' is not a cache time.", 'HINT: Write "30s", "5m"'),
    ("shop.mcp_tools:7: Tool 'bad-example': an input example is not valid: limt: is not an argument; did you mean \"limit\"?", "HINT: Mend it."),
    ("crm.mcp_tools:4: Tool 'same-name' on endpoint 'default' is defined twice: in shop.mcp_tools:10 and in crm.mcp_tools:4.", "HINT: Rename one of them, or say override=True"),
    ("shop.mcp_tools:13: Tool 'bad-permission': no model declares the permission 'shop.view_unicorn'; only superusers have it.", 'HINT: Write "app_label.codename"'),
    ("shop.mcp_tools:16: Tool 'bad-annotation': its annotations cannot be read", "HINT: Import the types"),
    ("shop.mcp_tools:21: Tool 'no-schema': its parameters have no JSON Schema", "HINT: Use types that JSON can hold"),
    ("shop.mcp_tools:24: Tool 'bad-atomic': atomic=True needs a sync function.", "HINT: Django's transactions"),
    ("shop.mcp_tools:27: Tool 'bad-timeout': timeout=500 cannot be used.", "HINT: Write seconds, at most 240."),
    ("shop.mcp_tools:30: Tool 'bad-hints': annotations='reed' is unknown.", "HINT: Write one of 'read', 'create'"),
    ("shop.mcp_tools:33: Tool 'lost': there is no endpoint 'nowhere'", "HINT: The endpoints are default."),
    ("shop.mcp_tools:36: Prompt 'lost-prompt': there is no endpoint 'nowhere'", "HINT: The endpoints are default."),
    ("shop.mcp_tools:39: Resource 'bad-notes': no model declares the permission 'shop.view_unicorn'", 'HINT: Write "app_label.codename"'),
    ("broken/mcp_tools.py:2: broken.mcp_tools cannot be imported. NameError: name 'undefined' is not defined", "HINT: Mend the module"),
    ("MCP_SERVER['CACHES'] is not a setting.", "HINT: The settings are ENDPOINTS"),
]  # fmt: skip


@pytest.mark.proves("T21a", "T03a", "T13a", "T15e", "T20a", "G10c")
def test_one_check_reports_every_problem_with_its_place_and_what_to_do(tmp_path: Path):
    project = Project(tmp_path, "shop", "crm", "broken", CACHES={})
    project.write("shop/mcp_tools.py", SHOP)
    project.write(
        "crm/mcp_tools.py", "from mcp_server import tool\n\n\n@tool\ndef same_name() -> None: ...\n"
    )
    project.write("broken/mcp_tools.py", "import os\nundefined\n")
    lines = project.check().splitlines()
    for message, hint in EXPECTED:
        place = next((number for number, line in enumerate(lines) if message in line), None)
        assert place is not None, f"{message}\n" + "\n".join(lines)
        assert hint in "\n".join(lines[place : place + 3])


@pytest.mark.proves("T20a")
def test_a_keyword_that_tool_does_not_have_breaks_its_module(tmp_path: Path):
    project = Project(tmp_path, "shop")
    project.write(
        "shop/mcp_tools.py",
        SHOP.split("@tool", maxsplit=1)[0] + '@tool(enable="shop.x")\ndef open_to_all() -> None: ...\n',
    )
    said = project.check()
    assert "shop/mcp_tools.py:4: shop.mcp_tools cannot be imported." in said
    assert "tool() got an unexpected keyword argument 'enable'; did you mean 'enabled'?" in said


@pytest.fixture
def tools(db: None) -> Iterator[None]:
    with serving():
        yield


def found() -> list[tuple[str, str]]:
    messages: Sequence[checks.CheckMessage] = checks.run_checks(tags=["mcp_toolkit"])
    return [(str(item.id).removeprefix("mcp_toolkit."), item.msg) for item in messages]


def test_sound_definitions_have_no_findings(tools: None):
    @tool(
        cache="5m", input_examples=[{"limit": 1}], enabled="auth.view_user", timeout=240, annotations="read"
    )
    def fine(limit: int = 5) -> list[str]:
        return []

    assert found() == [("W004", "settings.MCP_SERVER['ENDPOINTS']:0: Endpoint 'code' runs code for anybody.")]


FINDINGS: dict[str, tuple[Callable[[], Any], str, str]] = {
    "milliseconds": (lambda: tool(cache=3_600_000)(plain), "W001", "cache=3600000 is more than a week."),
    "a cache of none": (lambda: tool(cache=CacheOptions("soon"))(plain), "E003", "'soon' is not a cache time."),
    "cache of zero": (lambda: tool(cache=0)(plain), "E003", "0 is not a cache time."),
    "not a guard": (lambda: tool(enabled=5)(plain), "E003", "enabled=5 is not a guard."),
    "an empty list of permissions": (lambda: tool(enabled=[])(plain), "E003", "enabled=[] is not a guard."),
    "tags as text": (lambda: tool(tags="billing")(plain), "E003", "tags='billing' cannot be used."),
    "endpoints as text": (lambda: tool(endpoints="default")(plain), "E003", "endpoints='default' cannot be used."),
    "a hint of text": (lambda: wrongly(read_only="yes"), "E003", "read_only='yes' cannot be used."),
    "hints with a list": (lambda: tool(annotations={"readOnlyHint": []})(plain), "E003", "a hint is neither True nor False."),
    "a name with a blank": (lambda: tool(name="a b")(plain), "E003", "its name cannot be sent."),
    "a long name": (lambda: tool(name="a" * 65)(plain), "W005", "on endpoint 'default': model APIs refuse its name."),
    "a long name for code": (lambda: tool(name="a" * 65)(plain), "E009", "on endpoint 'json': model APIs refuse its name."),
    "a name of another script": (lambda: tool(name="größe")(plain), "E009", "model APIs refuse its name."),
    "a root reference": (
        lambda: tool(input_schema={"type": "object", "$ref": "#/$defs/A", "$defs": {"A": {"type": "object"}}})(plain),
        "E009",
        "model APIs refuse a $ref at the root of its input_schema.",
    ),
    "an array for arguments": (lambda: tool(input_schema={"type": "array"})(plain), "E006", "input_schema is not an object schema."),
    "a schema without type": (lambda: tool(input_schema={"properties": {}})(plain), "E006", "input_schema is not an object schema."),
    "a broken schema": (lambda: tool(input_schema={"type": "object", "properties": 5})(plain), "E006", "input_schema is not a JSON Schema"),
    "a list type for arguments": (lambda: tool(input_schema=list[int])(plain), "E006", "input_schema is not an object."),
    "a broken output schema": (lambda: tool(output_schema={"type": 5})(plain), "E006", "output_schema is not a JSON Schema"),
    "an output without schema": (lambda: tool(output_schema=len)(plain), "E006", "output_schema has no JSON Schema"),
    "an example of the wrong type": (lambda: tool(input_examples=[{"a": "x"}])(takes_a), "E007", "an input example is not valid: a: "),
    "examples that are no dicts": (lambda: wrongly(input_examples=["x"]), "E003", "input_examples=['x'] cannot be used."),
    "a positional argument": (lambda: tool(positional), "E006", "has no name that a client could send."),
    "any arguments": (lambda: tool(anything), "E006", "has no name that a client could send."),
    "two endpoints of a name": (lambda: (endpoint("a"), endpoint("a")), "E003", "Endpoint 'a' is declared twice"),
    "an unknown option": (lambda: endpoint("a", titel="A"), "E003", "Endpoint 'a': titel is not an option."),
    "an unknown mode": (lambda: endpoint("a", code_mode="yes"), "E003", "code_mode='yes' is unknown."),
    "an endpoint's bad name": (lambda: endpoint("a/b"), "E003", "its name cannot be part of a URL."),
    "an endpoint without tools": (lambda: endpoint("a", groups=["nothing"]), "W006", "Endpoint 'a' has no tool"),
    "code for anybody": (lambda: endpoint("a", code_mode="on", login_required=False), "W004", "Endpoint 'a' runs code for anybody."),
}  # fmt: skip


def plain() -> None: ...


def wrongly(**settings: Any) -> None:
    """Define a tool with what mypy would refuse."""
    tool(**settings)(plain)


def takes_a(a: int) -> None: ...


def positional(a: int, /) -> None: ...


def anything(*given: int) -> None: ...


@pytest.mark.proves("T15b", "T15e", "T13a", "T21a", "R10a", "R10b", "G10b")
@pytest.mark.parametrize(("define", "number", "message"), FINDINGS.values(), ids=FINDINGS)
def test_each_mistake_has_its_finding_with_place_and_hint(
    tools: None, define: Callable[[], Any], number: str, message: str
):
    define()
    fitting = [
        item for item in checks.run_checks(tags=["mcp_toolkit"]) if item.id == f"mcp_toolkit.{number}" and message in item.msg
    ]  # fmt: skip
    assert fitting, found()
    assert fitting[0].hint
    assert fitting[0].msg.startswith("tests.test_checks:")


@pytest.mark.proves("G07b")
def test_hosts_by_wildcard_are_a_warning(tools: None):
    with override_settings(ALLOWED_HOSTS=["*"]):
        assert "W003" in dict(found())


@pytest.mark.proves("T21a")
def test_a_look_at_definitions_leaves_the_registry_open_for_more(tools: None):
    found()
    tool(plain)
    assert [item["name"] for item in client().list_tools()] == ["plain"]


@pytest.mark.proves("G10a")
def test_an_endpoint_whose_options_cannot_be_read_is_not_served_without_its_guard(db: None):
    options = {"default": {"LOGIN_REQUIRED": False, "ENABLED": "auth.view_user", "TITEL": "Shop"}}
    with registry.isolated(empty=True), override_settings(MCP_SERVER={"ENDPOINTS": options}):
        tool(plain)
        assert (
            "E003",
            "settings.MCP_SERVER['ENDPOINTS']:0: Endpoint 'default': titel is not an option.",
        ) in found()
        with pytest.raises(Exception, match="There is no MCP endpoint here"):
            client().list_tools()


def refuse_all(request: HttpRequest) -> bool:
    return False


def test_only_functions_can_be_tools(tools: None):
    with pytest.raises(TypeError, match=r"write @tool\(name=\.\.\.\)"):
        tool("list-users")  # type: ignore[call-overload]
