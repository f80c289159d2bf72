"""The public door for tests that define their own tools: HTTP through Django's test client."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.test import override_settings

from mcp_server.calls import journal
from mcp_server.definitions.registry import registry
from mcp_server.testing import MCPClient, Result

OPEN: dict[str, Any] = {
    "ENDPOINTS": {
        "default": {"LOGIN_REQUIRED": False},
        "json": {"LOGIN_REQUIRED": False, "RESULT_FORMAT": "json"},
        "code": {"LOGIN_REQUIRED": False, "CODE_MODE": "on"},
    }
}


WORLDS = [
    pytest.param("in a transaction", marks=pytest.mark.django_db),
    pytest.param("with threads", marks=pytest.mark.django_db(transaction=True)),
]
"""The database as a TestCase has it, and as a TransactionTestCase and servers do: parameters of a fixture."""


@contextmanager
def serving(**settings: Any) -> Iterator[None]:
    """Within the block only tools that are defined there are served, on endpoints that let anybody in."""
    with registry.isolated(empty=True), override_settings(MCP_SERVER={**OPEN, **settings}):
        yield
        # What a test recorded must not be written in the next one.
        assert journal.flush(10)


def client(user: Any = None, endpoint: str = "default", **options: Any) -> MCPClient:
    """Return a client that sees what real ones do: no exception of a tool comes through."""
    return MCPClient(user, endpoint, raise_tool_exceptions=False, **options)


def call(name: str, arguments: dict[str, Any] | None = None, **options: Any) -> Result:
    """Return the result of one call."""
    return client(**options).call_tool(name, arguments)


def run(code: str, **options: Any) -> Any:
    """Return the value of a program that is to succeed."""
    result = client(endpoint="code", **options).run(code)
    assert not result.is_error, result.text
    structured = result.structured or {}
    return structured.get("results", structured.get("result", structured))


def listed(**options: Any) -> dict[str, dict[str, Any]]:
    """Return the list of tools by name."""
    return {item["name"]: item for item in client(**options).list_tools()}


def loop_value(result: Result) -> Any:
    """Return what the client loop of the seed makes of a result: the structured value, else the joined text."""
    if not result.is_error and result.structured is not None:
        return result.structured
    return json.loads(result.text) if result.text else None
