"""The loop of an application whose model runs its code elsewhere, with the official client against a live server (R09)."""

import asyncio
import json
import random
from typing import Any

import pytest
from django.contrib.auth.models import User

from demo_project.shop.models import Product
from docs.examples.client_loop import run
from mcp_server import Guidance, ToolError, endpoint, tool
from mcp_server.definitions.registry import registry
from mcp_server.models import Token

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.proves("R09")]
VALUES: dict[str, Any] = {
    "one": {"id": "1", "name": "Jürgen 李"},
    "many": [{"id": "1"}, {"id": "2"}],
    "none-of-many": [],
    "number": 10.5,
    "text": "plain ✓",
    "flag": True,
    "wrapped": {"results": [1, 2]},
}


@pytest.fixture
def url(live_server):
    with registry.isolated(empty=True):
        for name, value in VALUES.items():
            _define(name, value)

        @tool
        def missing() -> None:
            raise ToolError("Contact not found", 404)

        @tool
        def crashing() -> None:
            raise RuntimeError("secret")

        @tool
        def advice() -> None:
            raise Guidance("Sign in first.")

        @tool
        def nothing() -> None:
            return None

        @tool
        async def products() -> list[dict[str, str]]:
            return [{"name": product.name} async for product in Product.objects.all()]

        endpoint("loop", result_format="json")
        yield f"{live_server.url}/mcp/loop"


def _define(name: str, value: Any) -> None:
    def give() -> Any:
        return value

    tool(name=name)(give)


@pytest.fixture
def token(db) -> str:
    return Token.objects.issue(User.objects.create_user("ada"), "loop")[1]


def rebuild(name: str, text: str) -> Any:
    """Return the value that the model's code makes of a text."""
    value = json.loads(text)
    if isinstance(VALUES[name], list):
        return value["results"]
    return value if isinstance(VALUES[name], dict) else value["result"]


@pytest.mark.proves("R01", "R03a", "R03b", "R04")
def test_the_loop_rebuilds_every_value_in_parallel_and_in_any_order(url, token):
    names = list(VALUES) * 3
    random.Random(5).shuffle(names)
    texts = asyncio.run(run(url, token, [(name, {}) for name in names]))
    assert [rebuild(name, text) for name, text in zip(names, texts, strict=True)] == [
        VALUES[name] for name in names
    ]


@pytest.mark.proves("R05a", "R06a")
def test_failures_are_json_that_code_can_branch_on_and_advice_is_text(url, token):
    calls: list[tuple[str, dict[str, Any]]] = [
        ("missing", {}),
        ("many", {"page": 2}),
        ("crashing", {}),
        ("advice", {}),
        ("nothing", {}),
    ]
    missing, wrong, crashed, advice, nothing = asyncio.run(run(url, token, calls))
    assert json.loads(missing) == {"error": True, "status": 404, "message": "Contact not found"}
    assert json.loads(wrong)["status"] == 400
    assert "secret" not in crashed
    assert (advice, nothing) == ("Sign in first.", "")


def test_rows_that_an_async_tool_reads_come_through_too(url, token):
    Product.objects.create(name="Mug", price=3)
    (text,) = asyncio.run(run(url, token, [("products", {})]))
    assert json.loads(text) == {"results": [{"name": "Mug"}]}
