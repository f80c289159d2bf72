"""Code mode with tools of a test's own, through the view and with the real worker."""

from collections.abc import Iterator

import pytest
from django.contrib.auth.models import User

from mcp_server import endpoint
from mcp_server.definitions.registry import registry
from mcp_server.testing import MCPClient


@pytest.fixture
def isolated() -> Iterator[None]:
    """An empty registry with one code endpoint; tests define their own tools."""
    with registry.isolated(empty=True):
        endpoint("code", code_mode="on")
        yield


@pytest.fixture
def ada(db: None, isolated: None) -> MCPClient:
    return MCPClient(User.objects.create_user("ada"), "code", raise_tool_exceptions=False)
