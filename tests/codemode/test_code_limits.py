"""The limits of a run as a client meets them: each ends or refuses what it must, and the program or the next run goes on."""

import asyncio
import threading

import pytest
from django.contrib.auth.models import User

from mcp_server import endpoint, tool
from mcp_server.models import Limits
from mcp_server.testing import MCPClient


def limit(**values: int) -> None:
    Limits.objects.create(endpoint="code", **values)


@pytest.mark.proves("C13b", "C13f", "C12c")
def test_the_call_after_the_last_allowed_one_throws_429_and_the_program_goes_on(ada: MCPClient) -> None:
    limit(max_tool_calls=3)

    @tool
    def step(n: int) -> int:
        return n

    result = ada.run("""
        const seen = [];
        for (let n = 1; n <= 5; n++) {
            try { seen.push(await codemode.step({n})) } catch (e) { seen.push(e.status) }
        }
        return seen;
    """)
    assert result.data == {"results": [1, 2, 3, 429, 429]}
    failed = ada.run("for (let n = 1; n <= 4; n++) await codemode.step({n})")
    assert "max_tool_calls" in failed.text
    assert "3" in failed.text
    assert "step 3 times" in failed.text


@pytest.mark.proves("C13c")
def test_an_oversized_argument_throws_413_and_the_program_goes_on(ada: MCPClient) -> None:
    limit(max_request_bytes=1000)

    @tool
    def measure(text: str) -> int:
        return len(text)

    result = ada.run("""
        const sizes = [];
        for (const n of [900, 2000, 10]) {
            try { sizes.push(await codemode.measure({text: "x".repeat(n)})) } catch (e) { sizes.push(e.status) }
        }
        return sizes;
    """)
    assert result.data == {"results": [900, 413, 10]}


@pytest.mark.proves("C13d", "C11a")
def test_results_responses_and_logs_are_shortened_to_their_limits(ada: MCPClient) -> None:
    limit(max_result_bytes=2000, max_tool_response_bytes=3000, max_log_entries=2)

    @tool
    def many() -> list[str]:
        return [f"row {number:04}" for number in range(1000)]

    result = ada.run("""
        const rows = await codemode.many();
        for (let n = 0; n < 5; n++) console.log(n);
        return {kept: rows.length, rows};
    """)
    assert 0 < result.structured["kept"] < 1000
    assert 0 < len(result.structured["rows"]) < result.structured["kept"]
    assert len(result.content[0]["text"].encode()) <= 2000
    assert "max_result_bytes = 2000" in result.text
    assert "4 more lines were dropped" in result.text


@pytest.mark.proves("C13e")
@pytest.mark.django_db(transaction=True)
def test_a_wall_limit_cancels_an_async_tool_and_undoes_a_sync_one(isolated: None) -> None:
    limit(wall_time_limit_ms=1000)
    ended, release, done = [], threading.Event(), threading.Event()

    @tool
    async def wait_long() -> str:
        try:
            await asyncio.sleep(30)
        except asyncio.CancelledError:
            ended.append("cancelled")
            raise
        return "late"

    @tool(atomic=True)
    def write_slowly() -> str:
        try:
            User.objects.create_user("written-too-late")
            release.wait(30)
            return "late"
        finally:
            done.set()

    client = MCPClient(User.objects.create_user("ada"), "code")
    result = client.run("return await codemode.wait_long()")
    assert result.is_error
    assert "wall_time_limit_ms" in result.text
    assert "1000" in result.text
    assert ended == ["cancelled"]
    assert client.run("return await codemode.write_slowly()").is_error
    release.set()
    assert done.wait(10)
    # The handler's own thread rolls back after its last line; the next run proves that nothing is left of it.
    for _ in range(100):
        if client.run("return 1").data == {"result": 1} and not User.objects.filter(
            username="written-too-late"
        ):
            break
    assert not User.objects.filter(username="written-too-late").exists()


@pytest.mark.proves("C13g", "A01c")
def test_limits_are_separate_for_each_endpoint_and_read_at_each_run(ada: MCPClient) -> None:
    endpoint("other", code_mode="on")

    @tool
    def step() -> int:
        return 1

    program = "let n = 0; try { for (;;) n += await codemode.step() } catch (e) { return n }"
    limit(max_tool_calls=2)
    Limits.objects.create(endpoint="other", max_tool_calls=4)
    assert ada.run(program).data == {"result": 2}
    assert MCPClient(ada.user, "other").run(program).data == {"result": 4}
    Limits.objects.filter(endpoint="code").update(max_tool_calls=5)
    assert ada.run(program).data == {"result": 5}


@pytest.mark.proves("C13h")
def test_code_over_its_size_is_refused_with_the_limit(ada: MCPClient) -> None:
    limit(max_code_bytes=100)

    @tool
    def step() -> int:
        return 1

    assert ada.run("return 1 //" + "x" * 80).data == {"result": 1}
    refused = ada.run("return 1 //" + "é" * 80)
    assert refused.is_error
    assert "max_code_bytes = 100" in refused.text
