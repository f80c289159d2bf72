"""A program ends in time too: its wait for a worker, its wall limit and five seconds, and under the ceiling (contract R11)."""

import asyncio
import time
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User

from mcp_server import endpoint, tool
from mcp_server.codemode import program
from mcp_server.conf import LIMIT_FIELDS
from mcp_server.definitions.registry import registry
from mcp_server.definitions.settings import LONGEST_TIMEOUT
from mcp_server.models import CodeRun
from mcp_server.testing import MCPClient

pytestmark = pytest.mark.proves("R11b")


@pytest.fixture(autouse=True)
def isolated(db: Any):
    with registry.isolated(empty=True):
        endpoint("code", code_mode="on")

        @tool
        async def wait_for_ever() -> None:
            await asyncio.Event().wait()

        yield


@pytest.fixture
def client(db: Any) -> MCPClient:
    return MCPClient(User.objects.create_user("ada"), "code")


def deadline_seconds() -> float:
    run = CodeRun.objects.get()
    assert run.deadline is not None
    return float((run.deadline - run.started).total_seconds())


def test_the_wall_limit_ends_a_program_long_before_its_deadline(client, settings):
    settings.MCP_SERVER = {"LIMITS": {"wall_time_limit_ms": 300, "max_queue_ms": 4_000}}
    began = time.monotonic()
    result = client.run("await codemode.wait_for_ever()")
    assert time.monotonic() - began < 0.3 + 4 + 5
    assert (result.is_error, "wall_time_limit_ms" in result.text) == (True, True)
    assert deadline_seconds() == pytest.approx(0.3 + 4 + 5, abs=0.1)


def test_the_deadline_ends_what_its_own_limits_did_not(client, settings, monkeypatch):
    settings.MCP_SERVER = {"LIMITS": {"wall_time_limit_ms": 60_000, "max_queue_ms": 5_000}}
    # As if the sandbox did not keep to its limits: the deadline comes first.
    monkeypatch.setattr(program, "GRACE", timedelta(seconds=-64))
    result = client.run("await codemode.wait_for_ever()")
    assert (result.is_error, "did not end within 1 seconds" in result.text) == (True, True)
    run = CodeRun.objects.get()
    assert (run.status, run.limit) == ("limit", "wall_time_limit_ms")


def test_the_highest_limits_stay_under_the_ceiling_of_a_call(client, settings):
    highest = {name: LIMIT_FIELDS[name].ceiling for name in ("wall_time_limit_ms", "max_queue_ms")}
    settings.MCP_SERVER = {"LIMITS": highest}
    assert client.run("return 1").data == {"result": 1}
    assert sum(highest.values()) / 1000 > LONGEST_TIMEOUT
    assert deadline_seconds() < LONGEST_TIMEOUT
