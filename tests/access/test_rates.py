"""How often a user may call a tool (contract G08, R06)."""

import json
import time
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.cache import caches
from django.core.checks import run_checks
from django.test import override_settings

from mcp_server import ToolError, endpoint, tool
from mcp_server.definitions.registry import registry
from mcp_server.models import Limits, ToolCall
from mcp_server.testing import AsyncMCPClient, MCPClient

DUMMY = {"default": {"BACKEND": "django.core.cache.backends.dummy.DummyCache"}}
MEMORY = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}
FILES = "django.core.cache.backends.filebased.FileBasedCache"


@pytest.fixture(autouse=True)
def isolated(db: Any):
    caches["default"].clear()
    with registry.isolated(empty=True):

        @tool
        def add(a: int, b: int) -> int:
            return a + b

        @tool
        async def aecho(text: str) -> str:
            if text == "no":
                raise ToolError("No", 409)
            return text

        endpoint("code", code_mode="on")
        endpoint("json", result_format="json")
        endpoint("open", login_required=False)
        yield
    caches["default"].clear()


@pytest.fixture
def ada() -> User:
    return User.objects.create_user("ada")


def limit(**rates: str):
    return override_settings(
        MCP_SERVER={"RATE_LIMITS": {name.replace("_", "-"): rate for name, rate in rates.items()}}
    )


@pytest.mark.proves("G08a", "R06a")
def test_a_call_too_many_is_a_tool_result_with_status_429_and_a_retry_time(ada):
    with limit(default="2/m"):
        client = MCPClient(ada)
        assert [client.call_tool("add", {"a": 1, "b": n}).text for n in (1, 2)] == ["2", "3"]
        refused = client.call_tool("add", {"a": 1, "b": 3})
        assert refused.is_error
        first, data = refused.text.split("\n")
        wait = json.loads(data)["retry_after"]
        assert 1 <= wait <= 60
        assert first == (
            "[429] Too many calls of add: 2 within 60 seconds are allowed. "
            f"Try again in {wait} second{'' if wait == 1 else 's'}."
        )
        as_json = json.loads(MCPClient(ada, "json").call_tool("add", {"a": 1, "b": 3}).text)
        assert (as_json["error"], as_json["status"], sorted(as_json["data"])) == (True, 429, ["retry_after"])


@pytest.mark.proves("G08a")
def test_the_window_opens_again_when_its_time_has_passed(ada, monkeypatch):
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now)
    with limit(add="1/10s"):
        client = MCPClient(ada)
        assert client.call_tool("add", {"a": 1, "b": 1}).text == "2"
        for passed, answer in ((9.5, "[429]"), (10.5, "2"), (15, "[429]"), (21, "2")):
            monkeypatch.setattr(time, "time", lambda passed=passed: now + passed)
            assert client.call_tool("add", {"a": 1, "b": 1}).text.split()[0] == answer
        monkeypatch.setattr(time, "time", lambda: now + 30.5)
        assert "Try again in 1 second." in client.call_tool("add", {"a": 1, "b": 1}).text


@pytest.mark.proves("G08a")
def test_users_and_tools_are_counted_apart_and_a_tool_s_own_rate_wins(ada):
    bob = User.objects.create_user("bob")
    with limit(default="1/h", add="2/h"):
        for user in (ada, bob):
            client = MCPClient(user)
            assert [client.call_tool("add", {"a": 1, "b": 1}).is_error for _ in range(3)] == [
                False,
                False,
                True,
            ]
            assert [client.call_tool("aecho", {"text": "x"}).is_error for _ in range(2)] == [False, True]


@pytest.mark.proves("G08a")
def test_calls_from_code_count_as_direct_ones_do_and_throw(ada):
    program = """
      const seen = [];
      for (let i = 0; i < 3; i++) {
        try { seen.push(await codemode.add({ a: i, b: 0 })); }
        catch (error) { seen.push([error.status, error.data.retry_after > 0, error.tool]); }
      }
      return seen;
    """
    with limit(add="3/h"):
        assert MCPClient(ada).call_tool("add", {"a": 1, "b": 1}).text == "2"
        assert MCPClient(ada, "code").run(program).data == {"results": [0, 1, [429, True, "add"]]}
        assert MCPClient(ada).call_tool("add", {"a": 1, "b": 1}).is_error


@pytest.mark.proves("G08a")
async def test_async_tools_are_counted_in_the_async_view(ada):
    with limit(default="2/m"):
        client = AsyncMCPClient(ada)
        assert [(await client.call_tool("aecho", {"text": text})).text[:5] for text in ("x", "no", "x")] == [
            "x", "[409]", "[429]"
        ]  # fmt: skip


def test_calls_with_wrong_arguments_count_and_unknown_names_do_not_reach_the_counter(ada):
    with limit(default="1/m"):
        client = MCPClient(ada)
        assert client.call_tool("add", {"a": "x"}).text.startswith("[400]")
        assert client.call_tool("add", {"a": 1, "b": 1}).text.startswith("[429]")


def test_people_without_a_sign_in_are_counted_by_their_address():
    with limit(default="1/m"):
        client = MCPClient(endpoint="open")
        assert [client.call_tool("add", {"a": 1, "b": 1}).is_error for _ in range(2)] == [False, True]
        assert (
            MCPClient(User.objects.create_user("ada"), "open").call_tool("add", {"a": 1, "b": 1}).text == "2"
        )


@pytest.mark.proves("G08b")
def test_the_admin_s_row_decides_over_the_setting_at_the_next_call(ada):
    client = MCPClient(ada)
    with limit(default="1/h"):
        Limits.objects.create(endpoint="default", rate_limits={"default": "2/d"})
        assert [client.call_tool("add", {"a": 1, "b": 1}).is_error for _ in range(3)] == [False, False, True]
        Limits.objects.update(rate_limits={"add": "4/d"})
        assert [client.call_tool("add", {"a": 1, "b": 1}).is_error for _ in range(2)] == [False, True]
    Limits.objects.all().delete()
    assert not client.call_tool("add", {"a": 1, "b": 1}).is_error


def test_a_refused_call_is_in_the_log_as_rate_limited(ada):
    with limit(default="1/m"):
        client = MCPClient(ada)
        for _ in range(2):
            client.call_tool("add", {"a": 1, "b": 1})
    assert list(ToolCall.objects.order_by("started").values_list("status", "error_status")) == [
        ("ok", None), ("rate_limited", 429)
    ]  # fmt: skip


def test_a_rate_of_none_lets_nothing_through_and_an_unreadable_one_lets_all(ada):
    client = MCPClient(ada)
    with limit(add="0/m"):
        assert client.call_tool("add", {"a": 1, "b": 1}).text.startswith("[429]")
    with limit(add="often"):
        assert client.call_tool("add", {"a": 1, "b": 1}).text == "2"


@pytest.mark.parametrize("backend", ["files", "database"])
def test_every_backend_that_keeps_values_counts(ada, tmp_path, backend):
    from django.core.management import call_command

    caches_setting = {
        "files": {"default": {"BACKEND": FILES, "LOCATION": str(tmp_path)}},
        "database": {
            "default": {"BACKEND": "django.core.cache.backends.db.DatabaseCache", "LOCATION": "cache_rates"}
        },
    }[backend]
    with override_settings(CACHES=caches_setting), limit(default="2/m"):
        if backend == "database":
            call_command("createcachetable")
        client = MCPClient(ada)
        assert [client.call_tool("add", {"a": 1, "b": 1}).is_error for _ in range(3)] == [False, False, True]


def found() -> dict[str, str]:
    return {item.id: item.msg for item in run_checks() if item.id and item.id.startswith("mcp_toolkit")}


@pytest.mark.proves("G08c")
def test_a_cache_that_keeps_nothing_is_a_check_error_and_one_per_process_is_said(ada):
    with override_settings(CACHES=DUMMY), limit(default="1/m"):
        assert "limit nothing" in found()["mcp_toolkit.E011"]
        client = MCPClient(ada)
        assert [client.call_tool("add", {"a": 1, "b": 1}).is_error for _ in range(2)] == [False, False]
    with override_settings(CACHES=MEMORY), limit(default="1/m"):
        assert "per process" in found()["mcp_toolkit.W007"]
    with override_settings(CACHES={"default": {"BACKEND": FILES, "LOCATION": "x"}}), limit(default="1/m"):
        assert found().keys() & {"mcp_toolkit.E011", "mcp_toolkit.W007"} == set()
    with override_settings(CACHES=DUMMY):
        assert "mcp_toolkit.E011" not in found()


def test_rates_that_cannot_be_read_and_rates_of_no_tool_are_found_by_check():
    with limit(add="often", nobody="1/m", code="1/m"):
        messages = found()
    assert "'add'" in messages["mcp_toolkit.E012"]
    assert "60/m" in messages["mcp_toolkit.E012"]
    assert "'nobody'" in messages["mcp_toolkit.W008"]
