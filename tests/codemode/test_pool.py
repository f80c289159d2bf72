"""Workers are lent fairly, started and ended as needed, and never outlive what they are for (contract S06, S10, S11)."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest
from asgiref.sync import async_to_sync

from mcp_server.codemode import executor
from mcp_server.codemode.executor import ToolSuccess
from mcp_server.codemode.pool import Busy, Pool, Unavailable
from mcp_server.codemode.process import StartError, start_worker
from mcp_server.conf import SandboxOptions
from tests.codemode.sandbox import HARMLESS, eventually, run, value

OPTIONS = SandboxOptions()


def is_alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.fixture
def pool():
    made = Pool(OPTIONS)
    yield made
    made.close()


async def borrow(pool, owner="someone", most=1, seconds=20.0, memory_mb=64):
    return await pool.acquire(owner, memory_mb, most=most, seconds=seconds)


@pytest.mark.proves("C13h", "S06c")
async def test_a_run_that_finds_no_place_in_time_is_told_busy():
    held = asyncio.ensure_future(run("await codemode.slow()", max_concurrent_runs=1, owner="a"))
    await eventually(lambda: any(worker.state == "running" for worker in executor.workers()))
    outcome = await run("return 1", max_concurrent_runs=1, max_queue_ms=50, owner="b")
    held.cancel()
    assert (outcome.status, outcome.error.kind, outcome.error.status) == ("busy", "busy", 503)
    await asyncio.wait([held])


async def test_no_wait_at_all_still_starts_the_first_worker(pool):
    worker = await borrow(pool, seconds=0.0)
    with pytest.raises(Busy):
        await borrow(pool, seconds=0.0)
    pool.release(worker, healthy=True)
    pool.release(await borrow(pool, seconds=0.0), healthy=True)


async def test_too_many_that_wait_are_told_busy_at_once(pool):
    worker = await borrow(pool)
    waiting = [asyncio.ensure_future(borrow(pool, seconds=30)) for _ in range(256)]
    await asyncio.sleep(0)
    with pytest.raises(Busy):
        await borrow(pool, seconds=30)
    for task in waiting:
        task.cancel()
    await asyncio.wait(waiting)
    pool.release(worker, healthy=True)
    pool.release(await borrow(pool), healthy=True)


async def test_one_user_does_not_hold_all_workers_while_others_wait(pool):
    first, second = await borrow(pool, "greedy", most=2), await borrow(pool, "greedy", most=2)
    order = []

    async def want(owner):
        worker = await borrow(pool, owner, most=2)
        order.append(owner)
        pool.release(worker, healthy=True)

    waiting = [asyncio.ensure_future(want(owner)) for owner in ("greedy", "greedy", "modest")]
    await asyncio.sleep(0)
    pool.release(first, healthy=True)
    await asyncio.wait(waiting)
    pool.release(second, healthy=True)
    assert order[0] == "modest"


async def test_a_worker_is_kept_for_the_next_run_and_replaced_after_so_many(pool):
    pool.options = replace(OPTIONS, recycle_runs=2)
    pids = []
    for _ in range(3):
        worker = await borrow(pool)
        pids.append(worker.hello.pid)
        pool.release(worker, healthy=True)
    assert pids[0] == pids[1] != pids[2]
    await eventually(lambda: not is_alive(pids[0]))


@pytest.mark.proves("S06a")
async def test_an_unhealthy_worker_is_killed_and_replaced(pool):
    worker = await borrow(pool)
    pool.release(worker, healthy=False)
    await eventually(lambda: not is_alive(worker.hello.pid) and len(pool.states()) == 1)


async def test_idle_workers_end_after_a_while(pool):
    pool.options = replace(OPTIONS, idle_seconds=0)
    worker = await borrow(pool)
    pool.release(worker, healthy=True)
    await eventually(lambda: not pool.states() and not is_alive(worker.hello.pid))


async def test_a_minimum_of_workers_stays(pool):
    pool.options = replace(OPTIONS, idle_seconds=0, min_workers=1)
    first, second = await borrow(pool, most=2), await borrow(pool, most=2)
    pool.release(first, healthy=True)
    pool.release(second, healthy=True)
    await eventually(lambda: len(pool.states()) == 1)


async def test_an_idle_worker_that_died_is_never_lent(pool):
    worker = await borrow(pool)
    pool.release(worker, healthy=True)
    os.kill(worker.hello.pid, signal.SIGKILL)
    # Its first thread is a zombie while others still hold the socket: wait for the whole process.
    await eventually(lambda: worker.process.poll() is not None)
    other = await borrow(pool)
    assert other.hello.pid != worker.hello.pid
    pool.release(other, healthy=True)


async def test_a_worker_has_the_memory_limit_that_was_asked_for(pool):
    worker = await borrow(pool, memory_mb=32)
    pool.release(worker, healthy=True)
    other = await borrow(pool, memory_mb=64)
    assert (worker.memory_mb, other.memory_mb) == (32, 64)
    pool.release(other, healthy=True)
    await eventually(lambda: not is_alive(worker.hello.pid))


@pytest.mark.proves("S06b")
async def test_a_start_that_fails_is_told_and_not_tried_again_at_once():
    starts = []

    def fail(options, memory_mb):
        starts.append(memory_mb)
        raise StartError("no V8 here")

    pool = Pool(OPTIONS, starter=fail)
    for _ in range(20):
        with pytest.raises(Unavailable, match="no V8 here"):
            await borrow(pool)
    assert len(starts) == 1
    await asyncio.sleep(0.6)  # the first back-off is half a second
    with pytest.raises(Unavailable):
        await borrow(pool)
    assert len(starts) == 2


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"python": "/nowhere/python"}, "cannot be run"),
        ({"python": "/bin/false"}, "did not start"),
        ({"command": ("/bin/echo",)}, "did not start"),
        ({"python": "/bin/sh"}, "did not start"),
    ],
)
def test_an_interpreter_that_is_none_is_a_clear_error(options, reason):
    with pytest.raises(StartError, match=reason):
        start_worker(replace(OPTIONS, **options), 64)


@pytest.mark.proves("S13c")
def test_a_command_stands_before_the_worker():
    worker = start_worker(replace(OPTIONS, command=("/usr/bin/env", "X=1")), 64)
    try:
        assert worker.hello.confinement["measures"]["empty environment"] is False
    finally:
        worker.discard()


@pytest.mark.proves("S13b")
def test_confinement_that_is_required_and_missing_refuses_the_worker():
    options = replace(OPTIONS, command=("/usr/bin/env", "X=1"), require_confinement=True)
    with pytest.raises(StartError, match="empty environment"):
        start_worker(options, 64)


def test_confinement_that_is_required_and_there_lets_the_worker_start():
    start_worker(replace(OPTIONS, require_confinement=True), 64).discard()


def test_machine_code_can_be_allowed():
    worker = start_worker(replace(OPTIONS, jitless=False), 64)
    try:
        assert "make memory executable" not in worker.hello.confinement["refused"]
        assert all(worker.hello.confinement["refused"].values())
    finally:
        worker.discard()


@pytest.mark.proves("C15b")
async def test_a_cancelled_run_leaves_no_worker_and_no_call_behind():
    stopped = asyncio.Event()

    async def wait(name, arguments):
        try:
            await asyncio.sleep(60)
        finally:
            stopped.set()

    task = asyncio.ensure_future(run("await codemode.slow()", call=wait, owner="leaver"))
    await eventually(lambda: any(worker.state == "running" for worker in executor.workers()))
    [pid] = [worker.pid for worker in executor.workers() if worker.state == "running"]
    await asyncio.sleep(0.05)
    begun = time.monotonic()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await eventually(lambda: not is_alive(pid))
    assert time.monotonic() - begun < 3
    assert stopped.is_set()
    assert await value(HARMLESS) == 42


@pytest.mark.proves("S06a")
@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGSEGV])
async def test_a_worker_that_dies_in_a_run_gives_one_clear_error(sent):
    async def kill(name, arguments):
        [pid] = [worker.pid for worker in executor.workers() if worker.state == "running"]
        os.kill(pid, sent)
        await asyncio.sleep(60)

    outcome = await run("await codemode.slow()", call=kill)
    assert (outcome.status, outcome.error.kind) == ("crashed", "crashed")
    assert await value(HARMLESS) == 42


@pytest.mark.proves("S06a")
async def test_an_abort_for_lack_of_memory_is_named_so():
    async def abort(name, arguments):
        [pid] = [worker.pid for worker in executor.workers() if worker.state == "running"]
        os.kill(pid, signal.SIGTRAP)
        await asyncio.sleep(60)

    assert (await run("await codemode.slow()", call=abort)).limit == "memory_limit_mb"


@pytest.mark.proves("S10a")
async def test_workers_ignore_what_a_service_manager_sends_to_the_group():
    async def send(name, arguments):
        for worker in executor.workers():
            os.kill(worker.pid, signal.SIGTERM)
            os.kill(worker.pid, signal.SIGINT)
        return await asyncio.sleep(0.05, result=ToolSuccess(b"1"))

    assert await value("return await codemode.slow()", call=send) == 1


@pytest.mark.proves("C18b")
async def test_shutdown_ends_all_workers_and_runs_and_the_next_run_starts_anew():
    await value("return 1")
    running = asyncio.ensure_future(run("await codemode.slow()"))
    await eventually(lambda: any(worker.state == "running" for worker in executor.workers()))
    pids = [worker.pid for worker in executor.workers()]
    executor.shutdown()
    outcome = await running
    assert outcome.status == "crashed"
    assert "restarting" in outcome.error.message
    assert executor.workers() == []
    await eventually(lambda: not any(is_alive(pid) for pid in pids))
    assert await value("return 2") == 2


@pytest.mark.proves("S11")
def test_one_pool_serves_threads_with_event_loops_of_their_own():
    results = []

    def serve(number):
        for _ in range(3):
            results.append(
                async_to_sync(value)(f"return (await codemode.echo({{n: {number}}})).n", owner=number)
            )

    threads = [threading.Thread(target=serve, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert sorted(results) == sorted([number for number in range(6) for _ in range(3)])
    assert len(executor.workers()) <= 2


_HOST = """
import asyncio, json, os, sys, time
import django
from django.conf import settings
settings.configure(INSTALLED_APPS=["django.contrib.contenttypes", "django.contrib.auth", "mcp_server"], SECRET_KEY="x")
django.setup()
from mcp_server.codemode.executor import Job, ToolSuccess, execute, workers
from mcp_server.policy.limits import Limits

async def call(name, arguments):
    print(json.dumps([worker.pid for worker in workers()]), flush=True)
    await asyncio.sleep(60)

def run(code):
    return asyncio.run(execute(Job(code=code, tools={"slow": "slow"}, limits=Limits()), call))
"""


def _host(script):
    return subprocess.Popen([sys.executable, "-c", _HOST + script], stdout=subprocess.PIPE, text=True)


@pytest.mark.proves("S10a")
@pytest.mark.parametrize(
    "code", ["await codemode.slow()", "codemode.slow(); await new Promise(r => setTimeout(r, 1)); for (;;);"]
)
async def test_a_host_that_is_killed_leaves_no_worker(code):
    with _host(f"run({code!r})") as host:
        pids = json.loads(host.stdout.readline())
        host.kill()
    begun = time.monotonic()
    await eventually(lambda: not any(is_alive(pid) for pid in pids))
    assert time.monotonic() - begun < 2


@pytest.mark.proves("S10b")
async def test_a_fork_does_not_harm_the_parents_workers_and_starts_its_own():
    script = """
assert run("return 1").value == "1"
pids = [worker.pid for worker in workers()]
child = os.fork()
if child == 0:
    assert workers() == []
    assert run("return 2").value == "2"
    assert not set(pids) & {worker.pid for worker in workers()}
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
assert run("return 3").value == "3"
assert pids == [worker.pid for worker in workers()]
child = os.fork()
if child == 0:
    time.sleep(60)
    os._exit(0)
print(json.dumps([child, *pids]), flush=True)
os.kill(os.getpid(), 9)
"""
    with _host(script) as host:
        child, *pids = json.loads(host.stdout.readline())
    try:
        assert pids
        await eventually(lambda: not any(is_alive(pid) for pid in pids))
    finally:
        os.kill(child, signal.SIGKILL)


@pytest.mark.proves("S10c")
async def test_an_idle_worker_does_not_wake_up():
    await value("return 1")
    [pid] = [worker.pid for worker in executor.workers()][:1]
    switches = _switches(pid)
    await asyncio.sleep(0.5)
    before = _switches(pid)
    await asyncio.sleep(1.5)
    assert before > 0
    assert _switches(pid) == before, switches


def _switches(pid):
    total = 0
    for thread in Path(f"/proc/{pid}/task").iterdir():
        lines = (thread / "status").read_text().splitlines()
        total += sum(int(line.split()[1]) for line in lines if line.startswith("voluntary_ctxt_switches"))
    return total


@pytest.mark.parametrize("size", [10, 5_000_000])
async def test_answers_that_come_too_late_do_not_disturb_the_next_run(size):
    """The program ends while answers, small or half written, are on their way."""

    async def at_once(name, arguments):
        return ToolSuccess(b'"' + b"x" * size + b'"')

    for number in range(8):
        late = "codemode.echo(); codemode.echo(); await codemode.echo(); codemode.echo(); return 0"
        await value(late, call=at_once, max_tool_response_bytes=8_000_000, memory_limit_mb=256)
        assert await value(f"return {number}", memory_limit_mb=256) == number


async def test_a_tool_that_cannot_be_cancelled_answers_into_the_void():
    stubborn = asyncio.Event()

    async def refuse_to_go(name, arguments):
        while not stubborn.is_set():
            try:
                await asyncio.wait_for(stubborn.wait(), 30)
            except asyncio.CancelledError:
                continue
        return ToolSuccess(b'"late"')

    leave = "codemode.echo(); await new Promise(r => setTimeout(r, 50)); return 'early'"
    outcome = await run(leave, call=refuse_to_go)
    assert (outcome.value, outcome.unawaited) == ('"early"', ["echo"])
    next_run = asyncio.ensure_future(
        value("return await Promise.race([codemode.slow(), new Promise(r => setTimeout(r, 200, 'mine'))])")
    )
    await asyncio.sleep(0.05)
    stubborn.set()
    assert await next_run == "mine"
