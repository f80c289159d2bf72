"""`mcp_server.testing`: what its clients give and raise."""

import subprocess
import sys
from pathlib import Path

import pytest
from django.contrib.auth.models import User

from mcp_server import ToolError, tool
from mcp_server.definitions.registry import registry
from mcp_server.testing import AsyncMCPClient, MCPClient, MCPError
from mcp_server.testing.replies import read_message

pytestmark = pytest.mark.proves("D04a")


@pytest.fixture
def ada(db) -> User:
    return User.objects.create_user("ada")


@pytest.fixture
def tools():
    with registry.isolated(empty=True):

        @tool
        def divide(a: float, b: float) -> float:
            return a / b

        @tool
        def refuse() -> None:
            raise ToolError("Not today", 403, data={"try": "tomorrow"})

        yield


def test_what_a_tool_raises_unexpectedly_is_raised_in_the_test(tools, ada):
    with pytest.raises(ZeroDivisionError):
        MCPClient(ada).call_tool("divide", {"a": 1, "b": 0})


def test_without_raising_a_client_gets_what_a_real_one_gets(tools, ada):
    result = MCPClient(ada, raise_tool_exceptions=False).call_tool("divide", {"a": 1, "b": 0})
    assert result.is_error
    assert "ZeroDivision" not in result.text


@pytest.mark.django_db
async def test_the_async_client_does_the_same(tools):
    ada = await User.objects.acreate_user("ada")
    client = AsyncMCPClient(ada)
    assert [tool["name"] for tool in await client.list_tools()] == ["divide", "refuse"]
    assert (await client.call_tool("divide", {"a": 1, "b": 4})).data == 0.25
    with pytest.raises(ZeroDivisionError):
        await client.call_tool("divide", {"a": 1, "b": 0})


def test_an_expected_error_is_a_result_whose_data_is_not_read_by_mistake(tools, ada):
    result = MCPClient(ada).call_tool("refuse")
    assert (result.is_error, result.text.split("\n")[0]) == (True, "[403] Not today")
    with pytest.raises(AssertionError, match="Not today"):
        _ = result.data


def test_an_unknown_tool_and_an_unknown_method_are_protocol_errors(tools, ada):
    client = MCPClient(ada)
    with pytest.raises(MCPError) as unknown:
        client.call_tool("multiply")
    assert unknown.value.code == -32602
    with pytest.raises(MCPError) as unknown:
        client.request("no/such")
    assert unknown.value.code == -32601


def test_a_client_without_a_user_is_refused(tools, db):
    with pytest.raises(MCPError) as refused:
        MCPClient().list_tools()
    assert refused.value.status == 401


def test_an_endpoint_that_is_not_there_is_an_error(tools, ada):
    with pytest.raises(MCPError) as missing:
        MCPClient(ada, "nowhere").list_tools()
    assert missing.value.status == 404


@pytest.mark.parametrize("body", [b"<html>Not found</html>", b"[]", b"", b"\xff"])
def test_an_answer_that_is_no_message_is_an_error_with_its_status(body):
    with pytest.raises(MCPError) as error:
        read_message(502, body)
    assert (error.value.code, error.value.status) == (502, 502)


@pytest.mark.proves("D04b")
def test_fixtures_make_clients_for_a_user(outcomes):
    assert outcomes == {"passed": 2}


@pytest.fixture
def outcomes(tmp_path) -> dict[str, int]:
    """Return the outcomes of a small suite that uses the fixtures, run as a project's own is."""
    (tmp_path / "conftest.py").write_text('pytest_plugins = ["mcp_server.testing.fixtures"]\n')
    (tmp_path / "test_it.py").write_text(
        "from django.contrib.auth.models import User\n"
        "def test_sync(mcp_client):\n"
        "    assert len(mcp_client(User.objects.create_user('ada')).list_tools()) == 7\n"
        "def test_async(async_mcp_client):\n"
        "    from asgiref.sync import async_to_sync\n"
        "    client = async_mcp_client(User.objects.create_user('ada'))\n"
        "    assert len(async_to_sync(client.list_tools)()) == 7\n"
    )
    root = str(Path(__file__).parents[2])
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:anyio",
        "--rootdir",
        str(tmp_path),
    ]
    environment = {"PYTHONPATH": root, "DJANGO_SETTINGS_MODULE": "tests.settings", "PATH": "/usr/bin"}
    done = subprocess.run(
        [*command, str(tmp_path)], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    count, word = done.stdout.splitlines()[-1].split()[:2]
    return {word: int(count)}
