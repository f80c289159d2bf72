"""What `manage.py check` says about code mode."""

from collections.abc import Iterator

import pytest
from django.core.checks import run_checks

from mcp_server import endpoint, tool
from mcp_server.definitions.registry import registry


@pytest.fixture(autouse=True)
def isolated() -> Iterator[None]:
    with registry.isolated(empty=True):
        yield


def found(number: str) -> list[str]:
    return [item.msg for item in run_checks(tags=["mcp_toolkit"]) if item.id == f"mcp_toolkit.{number}"]


@pytest.mark.proves("C04c")
def test_two_tools_that_would_be_one_name_in_programs_are_reported() -> None:
    endpoint("code", code_mode="on")

    def one() -> int:
        return 1

    tool(name="get-user")(one)
    tool(name="get.user")(one)
    assert len(found("W009")) == 1
    assert "'get-user' and 'get.user'" in found("W009")[0]


def test_a_tool_beside_code_may_not_take_its_name() -> None:
    @tool(name="code", code_mode=False)
    def own() -> str:
        return "x"

    endpoint("code", code_mode="on")
    assert len(found("E014")) == 1


@pytest.mark.proves("C03b")
def test_types_in_a_progressive_description_are_reported() -> None:
    endpoint("big", code_mode="progressive", code_description="{{count}} tools: {{types}}")
    endpoint("small", code_mode="on", code_description="{{count}} tools: {{types}}")
    assert len(found("W010")) == 1
    assert "Endpoint 'big'" in found("W010")[0]
