"""The limits of a run, each with its own meaning, and exactly at each of them (contract C11, C13)."""

import asyncio
import json
import time

import pytest

from mcp_server.codemode.executor import ToolSuccess
from tests.codemode.sandbox import error, run, value


@pytest.mark.proves("C13a", "S04a")
async def test_processor_time_ends_the_run_and_cannot_be_caught():
    outcome = await run("try { for (;;); } catch { return 1 } finally { return 2 }", cpu_time_limit_ms=200)
    assert (outcome.status, outcome.limit) == ("limit", "cpu_time_limit_ms")
    assert "200 ms" in outcome.error.message
    assert 200 <= outcome.cpu_ms <= 700


@pytest.mark.proves("S04b")
async def test_sleeping_is_not_processor_time():
    assert (
        await value("await new Promise(r => setTimeout(r, 3000)); return 'rested'", cpu_time_limit_ms=1000)
        == "rested"
    )


@pytest.mark.proves("C13a", "C13e")
async def test_the_wall_limit_cancels_a_waiting_tool_with_status_408():
    cancelled = asyncio.Event()

    async def slow(name, arguments):
        try:
            await asyncio.sleep(30)
        finally:
            cancelled.set()
        return ToolSuccess(None)

    begun = time.monotonic()
    outcome = await run(
        "try { await codemode.slow() } catch { return 'caught' }", call=slow, wall_time_limit_ms=300
    )
    assert (outcome.status, outcome.limit, outcome.error.status) == ("limit", "wall_time_limit_ms", 408)
    assert cancelled.is_set()
    assert time.monotonic() - begun < 5


@pytest.mark.proves("C13a", "S05a")
@pytest.mark.parametrize(
    "code",
    [
        "const a = []; for (;;) a.push({x: [1, 2, 3]})",
        "await 1; const a = []; for (;;) a.push({x: [1, 2, 3]})",
        "let s = 'x'.repeat(1e6); const a = []; for (let i = 0; ; i++) a.push((s + i).toUpperCase())",
    ],
)
async def test_memory_ends_the_run(code):
    outcome = await run(code, cpu_time_limit_ms=20_000)
    assert (outcome.status, outcome.limit) == ("limit", "memory_limit_mb")
    assert "64 MB" in outcome.error.message


async def test_memory_follows_the_limit_of_the_run():
    code = "const a = []; for (let i = 0; i < 1e6; i++) a.push({i}); return a.length"
    assert await value(code, memory_limit_mb=256, cpu_time_limit_ms=20_000) == 1_000_000
    assert (await run(code, memory_limit_mb=16, cpu_time_limit_ms=20_000)).limit == "memory_limit_mb"


@pytest.mark.proves("C13b", "C13f")
async def test_one_call_too_many_throws_429_and_the_run_goes_on():
    outcome = await run(
        "const r = []; for (let i = 0; i < 5; i++) try { r.push((await codemode.echo({i})).i) } catch (e) { r.push([e.status, e.message]) } return r",
        max_tool_calls=3,
    )
    got = json.loads(outcome.value)
    assert got[:3] == [0, 1, 2]
    assert [item[0] for item in got[3:]] == [429, 429]
    assert "at most 3 tool calls" in got[3][1]
    assert (outcome.status, outcome.limit, outcome.calls) == ("ok", "max_tool_calls", 5)


async def test_one_call_too_many_that_nobody_catches_fails_the_run():
    outcome = await run("await codemode.echo(); await codemode.echo()", max_tool_calls=1)
    assert (outcome.status, outcome.error.status, outcome.limit) == ("error", 429, "max_tool_calls")


@pytest.mark.proves("C13c", "C13f")
async def test_an_argument_one_byte_too_large_throws_413_and_counts_as_a_call():
    code = "const send = n => codemode.echo({s: 'é'.repeat(n) }).then(() => 'sent', e => e.status); return [await send(46), await send(47), await send(1e6)]"
    # {"s":"..."} has 8 bytes beside the text, and é has two.
    outcome = await run(code, max_request_bytes=100)
    assert json.loads(outcome.value) == ["sent", 413, 413]
    assert (outcome.limit, outcome.calls) == ("max_request_bytes", 3)


@pytest.mark.proves("C13b")
async def test_refused_arguments_count_against_the_number_of_calls():
    code = "const r = []; for (let i = 0; i < 3; i++) await codemode.echo({s: 'x'.repeat(200)}).catch(e => r.push(e.status)); return r"
    assert await value(code, max_request_bytes=100, max_tool_calls=2) == [413, 413, 429]


@pytest.mark.proves("C13d", "C13f", "C11a")
@pytest.mark.parametrize(("size", "whole"), [(64, True), (65, False)])
async def test_a_result_exactly_at_the_limit_is_whole(size, whole):
    outcome = await run(f"return 'x'.repeat({size - 2})", max_result_bytes=64)
    assert len(outcome.value.encode()) <= 64
    assert (outcome.value_dropped == "", outcome.limit == "") == (whole, whole)


@pytest.mark.proves("C11a", "C13d")
async def test_a_large_result_is_shortened_and_says_what_was_dropped():
    outcome = await run(
        "return {users: Array.from({length: 5000}, (_, id) => ({id, name: 'é' + id})), total: 5000}",
        max_result_bytes=1000,
    )
    got = json.loads(outcome.value)
    assert outcome.status == "ok"
    assert len(outcome.value.encode()) <= 1000
    assert got["total"] == 5000
    assert got["users"][0] == {"id": 0, "name": "é0"}
    assert outcome.value_dropped == f"result.users kept {len(got['users'])} of 5000 items"
    assert outcome.limit == "max_result_bytes"


@pytest.mark.proves("C11b", "C13d")
async def test_a_large_tool_response_keeps_its_type_and_warns():
    outcome = await run(
        "const r = await codemode.big({rows: 1000}); return [Array.isArray(r), r.length]",
        max_tool_response_bytes=1000,
    )
    is_list, length = json.loads(outcome.value)
    assert is_list
    assert 10 < length < 1000
    assert [entry.level for entry in outcome.logs] == ["warn"]
    assert f"kept {length} of 1000 items" in outcome.logs[0].text


@pytest.mark.proves("C13d", "C13f")
async def test_console_lines_beyond_the_limit_are_counted():
    outcome = await run("for (let i = 0; i < 10; i++) console.log(i)", max_log_entries=4)
    assert [entry.text for entry in outcome.logs] == ["0", "1", "2", "3"]
    assert outcome.dropped_logs == 6
    assert (await run("for (let i = 0; i < 4; i++) console.log(i)", max_log_entries=4)).dropped_logs == 0


ENDLESS = {
    "a loop of promise jobs": ("for (;;) await null", "cpu_time_limit_ms"),
    "promise jobs that start others": ("const f = () => Promise.resolve().then(f); await f()", "cpu_time_limit_ms"),
    "a loop": ("for (;;);", "cpu_time_limit_ms"),
    "memory": ("const a = []; for (;;) a.push(new Array(1e4).fill({}))", "memory_limit_mb"),
    "memory in promise jobs": ("const a = []; for (;;) a.push(await new Array(1e4).fill({}))", "memory_limit_mb"),
}  # fmt: skip


@pytest.mark.proves("C10b", "C12c")
@pytest.mark.parametrize("name", sorted(ENDLESS))
@pytest.mark.parametrize("pause", ["", "await codemode.echo();"])
async def test_console_lines_come_along_when_a_limit_ends_the_run(name, pause):
    code, limit = ENDLESS[name]
    cpu = 400 if limit == "cpu_time_limit_ms" else 6000
    before = "console.log('first'); console.warn('€', '\\ud800', '\\u{1F600}\\n2');"
    outcome = await run(f"console.info('zero'); {pause} {before} {code}", cpu_time_limit_ms=cpu)
    assert (outcome.status, outcome.limit) == ("limit", limit)
    lines = [(entry.level, entry.text) for entry in outcome.logs]
    assert lines == [("info", "zero"), ("log", "first"), ("warn", "€ \ufffd \U0001f600\n2")]


@pytest.mark.proves("C10b", "C13d")
@pytest.mark.parametrize("size", [10, 8000])
async def test_console_lines_of_a_loop_of_promise_jobs_are_kept_within_the_limits_and_counted(size):
    flood = f"for (let n = 0; ; n++) {{ await null; console.log(n, 'x'.repeat({size})) }}"
    outcome = await run(flood, cpu_time_limit_ms=400, max_log_entries=50)
    assert outcome.limit == "cpu_time_limit_ms"
    kept = len(outcome.logs)
    assert [entry.text.split()[0] for entry in outcome.logs] == [str(n) for n in range(kept)]
    assert kept == 50 if size == 10 else 5 <= kept < 50
    assert outcome.dropped_logs > 50


async def test_a_long_console_line_is_cut():
    [entry] = (await run("console.log('x'.repeat(1e6))")).logs
    assert len(entry.text) < 9000
    assert entry.text.endswith("more characters)")


async def test_searches_are_not_tool_calls_but_have_a_limit_of_their_own():
    code = "const r = await Promise.allSettled(Array.from({length: 110}, () => codemode.$search('x'))); return r.filter(x => x.status === 'rejected').map(x => x.reason.status)"
    outcome = await run(code, max_tool_calls=0)
    assert json.loads(outcome.value) == [429] * 10
    assert (outcome.calls, outcome.limit) == (0, "")


@pytest.mark.proves("S09")
async def test_a_promise_that_can_never_settle_is_reported_at_once():
    await value("return 1")
    outcome = await run("console.log('waiting'); await new Promise(() => {})")
    assert outcome.error.kind == "never_settles"
    assert outcome.wall_ms < 1000
    assert [entry.text for entry in outcome.logs] == ["waiting"]


@pytest.mark.proves("S03")
async def test_nothing_of_one_run_is_visible_to_another():
    await value(
        "globalThis.secret = 1; Object.prototype.leak = 2; Array.prototype.map = null; codemode.echo.x = 3"
    )
    assert await value(
        "return [typeof secret, ({}).leak === undefined, typeof [].map, codemode.echo.x === undefined]"
    ) == ["undefined", True, "function", True]


async def test_an_interval_without_end_ends_at_the_wall_limit():
    assert (
        await error("setInterval(() => {}, 1); await new Promise(() => {})", wall_time_limit_ms=300)
    ).status == 408
