"""pytest fixtures. In `conftest.py`: `pytest_plugins = ["mcp_server.testing.fixtures"]`."""

from collections.abc import Callable
from typing import Any

import pytest

from mcp_server.testing.client import AsyncMCPClient, MCPClient


@pytest.fixture
def mcp_client(db: Any) -> Callable[..., MCPClient]:
    """Return a function that makes clients: `mcp_client(user)`, `mcp_client(user, "code")`."""
    return MCPClient


@pytest.fixture
def async_mcp_client(db: Any) -> Callable[..., AsyncMCPClient]:
    """Return a function that makes clients for coroutine tests."""
    return AsyncMCPClient
