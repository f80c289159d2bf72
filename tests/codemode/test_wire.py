"""A worker that says anything but what ours say is killed, and nothing of it gets out of the host (contract S07)."""

import asyncio
import json
import random
import socket
import struct
import subprocess
import threading

import pytest

from mcp_server.codemode.conversation import Conversation
from mcp_server.codemode.executor import Job, ToolSuccess, converse
from mcp_server.codemode.pool import Pool
from mcp_server.codemode.process import StartError, Worker
from mcp_server.codemode.wire import VersionMismatch, Violation, read_hello
from mcp_server.codemode.worker.terms import VERSION
from mcp_server.conf import SandboxOptions
from mcp_server.policy.limits import Limits

LIMITS = Limits(wall_time_limit_ms=1500, max_tool_calls=3, max_log_entries=3, max_request_bytes=200)
DONE = b'D{"kind":"ok","limit":"","cpu":0.1,"wall":0.1,"peak":1,"refused_calls":0,"refused_bytes":0,"dropped_logs":0}\n'
STATUSES = {"ok", "error", "limit", "crashed", "violation"}


def frame(payload):
    return struct.pack(">I", len(payload)) + payload


def messages(*items):
    return frame(b"M" + json.dumps(items).encode())


def done(**more):
    return DONE[:-2] + b"," + json.dumps(more).encode()[1:] + b"\n"


def call(number=1, target=0, arguments="{}"):
    return {"t": "call", "i": number, "n": target, "a": arguments}


async def converse_with(*sent, calls=None):
    """Return the outcome of a run whose worker is us: the job is read, then `sent` is written and the end closed."""
    ours, theirs = socket.socketpair()
    process = subprocess.Popen(
        ["/bin/cat"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, start_new_session=True
    )
    ours.setblocking(False)
    pool = Pool(SandboxOptions(), starter=_refuse)
    worker = Worker(process, ours, 64)
    pool._busy[worker] = "fuzz"

    def speak():
        with theirs:
            theirs.recv(65536)
            try:
                theirs.sendall(b"".join(sent))
                process.stdin.close()
                theirs.shutdown(socket.SHUT_WR)
                while theirs.recv(65536):
                    pass
            except OSError:
                pass

    thread = threading.Thread(target=speak)
    thread.start()

    async def answer(name, arguments):
        if calls is not None:
            calls.append((name, arguments))
        return ToolSuccess(b"1")

    job = Job(code="return 1", tools={"echo": "echo"}, limits=LIMITS)
    conversation = Conversation(worker, job, answer, None)
    outcome = await converse(pool, worker, conversation, job)
    pool.close()
    ours.close()
    thread.join(10)
    assert not thread.is_alive()
    process.stdin.close()
    process.wait(10)
    assert [task for task in asyncio.all_tasks() if task is not asyncio.current_task()] == []
    return outcome


def _refuse(options, memory_mb):
    raise StartError("no more workers in this test")


VIOLATIONS = {
    "no JSON": [frame(b"M[{")],
    "bad UTF-8": [frame(b'M[{"t":"log","l":"log","m":"\xff\xfe"}]')],
    "unknown kind of frame": [frame(b"Xhello")],
    "empty frame": [struct.pack(">I", 0)],
    "frame of 4 GB": [b"\xff\xff\xff\xff"],
    "greeting in the middle": [frame(b'H{"version":"x"}')],
    "no list": [frame(b'M{"t":"log"}')],
    "empty list": [frame(b"M[]")],
    "items that are no objects": [frame(b"M[1]")],
    "unknown message": [messages({"t": "exec"})],
    "deep": [frame(b"M" + b"[" * 5000 + b"]" * 5000)],
    "number of 5000 digits": [frame(b'M[{"t":"call","i":' + b"9" * 5000 + b',"n":0,"a":"{}"}]')],
    "lone surrogate": [frame(b'M[{"t":"log","l":"log","m":"\\ud800"}]')],
    "unknown level": [messages({"t": "log", "l": "fatal", "m": "x"})],
    "text that is none": [messages({"t": "log", "l": "log", "m": 1})],
    "console beyond the limit": [messages(*[{"t": "log", "l": "log", "m": "x"}] * 4)],
    "console line beyond the limit": [messages({"t": "log", "l": "log", "m": "x" * 100_000})],
    "tool of another run": [messages(call(target=1))],
    "negative tool": [messages(call(target=-1))],
    "tool by name": [messages(call(target="echo"))],
    "tool that is true": [messages(call(target=True))],
    "call number used twice": [messages(call(1), call(1))],
    "call number that is none": [messages(call("1"))],
    "calls beyond the limit": [messages(*[call(n) for n in range(1, 6)])],
    "searches beyond the limit": [messages(*[call(n, "$search") for n in range(1, 200)])],
    "arguments beyond the limit": [messages(call(arguments='"' + "x" * 300 + '"'))],
    "arguments that are no text": [messages(call(arguments={}))],
    "end without a head": [frame(b"D")],
    "end that is no JSON": [frame(b"D{\n1")],
    "end of unknown kind": [frame(b'D{"kind":"root"}\n')],
    "end at an unknown limit": [frame(b'D{"kind":"limit","limit":"mercy","cpu":0,"wall":0}\n')],
    "end with endless time": [frame(b'D{"kind":"ok","cpu":1e999,"wall":0}\n1')],
    "end with a time before it began": [frame(b'D{"kind":"ok","cpu":-1,"wall":0}\n1')],
    "end without times": [frame(b'D{"kind":"ok"}\n1')],
    "end with a call that was never made": [messages(call(1)), frame(done(left_over=[2]) + b"1")],
    "end with a call made twice": [messages(call(1)), frame(done(left_over=[1, 1]) + b"1")],
    "end with a call that is no number": [messages(call(1)), frame(done(left_over=[True]) + b"1")],
    "end with a call that is a list": [messages(call(1)), frame(done(left_over=[[1]]) + b"1")],
    "end with calls that are no list": [messages(call(1)), frame(done(left_over={"1": 1}) + b"1")],
    "value that is no JSON": [frame(DONE + b"{")],
    "value that is two values": [frame(DONE + b"1 2")],
    "value that is not a number": [frame(DONE + b"NaN")],
    "value that is deep": [frame(DONE + b"[" * 100_000 + b"]" * 100_000)],
    "value with a number of 5000 digits": [frame(DONE + b"9" * 5000)],
    "value that is bad UTF-8": [frame(DONE + b'"\xff"')],
    "error that is no object": [frame(DONE.replace(b'"ok"', b'"error"') + b"[]")],
}  # fmt: skip


@pytest.mark.proves("S07a", "S07b")
@pytest.mark.parametrize("name", sorted(VIOLATIONS))
async def test_a_forged_frame_ends_in_kill_and_protocol_violation(name):
    calls = []
    outcome = await converse_with(*VIOLATIONS[name], calls=calls)
    assert (outcome.status, outcome.error.kind) == ("violation", "violation")
    assert outcome.value is None
    assert len(calls) <= 3


async def test_what_ours_would_say_passes():
    calls = []
    outcome = await converse_with(
        messages({"t": "log", "l": "info", "m": "hi"}, call(1)), frame(DONE + b'{"a":[1]}'), calls=calls
    )
    assert (outcome.status, outcome.value, outcome.logs[0].text, outcome.calls) == (
        "ok",
        '{"a":[1]}',
        "hi",
        1,
    )


async def test_arguments_that_no_tool_should_see_are_refused_as_a_tool_would():
    calls = []
    outcome = await converse_with(
        messages(call(1, arguments="[1]"), call(2, arguments="{"), call(3, arguments="[" * 199)), calls=calls
    )
    assert outcome.status == "crashed"
    assert calls == []


@pytest.mark.proves("S07a")
async def test_mutated_frames_never_raise_out_of_the_host():
    generator = random.Random(20260728)
    seeds = [
        messages({"t": "log", "l": "log", "m": "hello"}, call(1, arguments='{"a":1}')),
        messages(call(1), call(2)),
        frame(DONE + b'{"value":[1,2,3]}'),
        frame(DONE.replace(b'"ok"', b'"error"') + b'{"name":"Error","message":"m","stack":"at program:1:2"}'),
        frame(DONE.replace(b'"ok"', b'"syntax"') + b"code.js:2: SyntaxError: x\nlet\n   ^\n"),
    ]
    before = threading.active_count()
    for _ in range(400):
        data = bytearray(b"".join(generator.choice(seeds) for _ in range(generator.randrange(1, 4))))
        for _ in range(generator.randrange(1, 6)):
            position = generator.randrange(len(data))
            action = generator.randrange(4)
            if action == 0:
                data[position] = generator.randrange(256)
            elif action == 1:
                del data[position : position + generator.randrange(1, 8)]
            elif action == 2:
                data[position:position] = generator.randbytes(generator.randrange(1, 8))
            else:
                data[position:position] = data[: generator.randrange(1, 60)]
            data = data or bytearray(b"\0")
        outcome = await converse_with(bytes(data))
        assert outcome.status in STATUSES
    for _ in range(200):
        if threading.active_count() <= before + 1:
            break
        await asyncio.sleep(0.01)
    assert threading.active_count() <= before + 1


@pytest.mark.parametrize("payload", [b"", b"[]", b'{"version":1}', b"\xff"])
def test_a_greeting_that_is_none_is_refused(payload):
    with pytest.raises((Violation, VersionMismatch)):
        read_hello(payload)


def test_a_worker_of_another_version_is_refused():
    with pytest.raises(VersionMismatch):
        read_hello(json.dumps({"version": VERSION + "x", "pid": 1, "confinement": {}}).encode())
