"""The worker's life: start V8, confine itself, say hello, then run one job after another until the host hangs up."""

import gc
import json
import os
import secrets
import signal
import sys
from typing import Any, Final

from mcp_server.codemode.worker import confinement, selftest, v8
from mcp_server.codemode.worker.channel import Channel
from mcp_server.codemode.worker.memory import resident_bytes
from mcp_server.codemode.worker.monitor import Bounds, Monitor
from mcp_server.codemode.worker.realm import Realm, read_runtime
from mcp_server.codemode.worker.run import Run
from mcp_server.codemode.worker.terms import HELLO, JOB, REPLY, VERSION, Cause

_MIB: Final = 1 << 20
_RESIDENT_SLACK: Final = 32 * _MIB


def main(text: str) -> None:
    """Serve jobs over standard input, which is a socket; `text` is the configuration as JSON."""
    config = json.loads(text)
    # A service manager signals the whole group; the host decides when a worker ends, by hanging up.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        _serve(Channel(0), config)
    except BaseException as error:  # noqa: BLE001 - whatever it is, the host must hear of it and the process must end
        sys.stderr.write(f"{type(error).__name__}: {error}\n")
        sys.stderr.flush()
        os._exit(Cause.START)


def _serve(channel: Channel, config: dict[str, Any]) -> None:
    memory, jitless = config["memory_mb"] * _MIB, config["jitless"]
    measures = confinement.before_v8()
    engine = v8.Engine(config["v8"], v8_flags(config["memory_mb"], jitless=jitless))
    runtime = read_runtime()
    measures |= confinement.restrict_files()
    monitor = Monitor(channel)
    monitor.start()
    flags = _test_flags(engine, memory, jitless=jitless)
    realm = Realm(engine, runtime, memory)
    measures |= confinement.restrict_calls(memory, executable_memory=not jitless)
    report = {
        "measures": measures,
        "flags": flags,
        "refused": selftest.system_tests(executable_memory=not jitless),
    }
    base = resident_bytes()
    gc.freeze()
    channel.send(HELLO, json.dumps({"version": VERSION, "pid": os.getpid(), "confinement": report}).encode())
    while True:
        frame = channel.receive()
        if frame is not None and frame[:1] == REPLY:
            continue  # the answer to a call that nobody waited for, on its way when the run ended
        if frame is None or frame[:1] != JOB:
            os._exit(Cause.PROTOCOL)
        job = json.loads(frame[1:])
        bounds = Bounds(job["cpu_ms"] / 1000, job["wall_ms"] / 1000, base + 2 * memory + _RESIDENT_SLACK)
        monitor.begin(bounds, realm)
        settings = {**job["runtime"], "seed": list(secrets.token_bytes(32))}
        Run(channel, monitor, realm).execute(settings, job["code"])
        realm.isolate.free()
        realm = Realm(engine, runtime, memory)


def _test_flags(engine: v8.Engine, memory: int, *, jitless: bool) -> dict[str, bool]:
    isolate = v8.Isolate(engine, memory)
    try:
        return selftest.flag_tests(isolate, jitless=jitless)
    finally:
        isolate.free()


def v8_flags(memory_mb: int, *, jitless: bool) -> tuple[str, ...]:
    """Return V8's flags; an unknown one is ignored by V8 with a line on stderr, so confinement tests their effect."""
    flags = (
        "--single-threaded",
        "--disallow-code-generation-from-strings",
        "--enable-sharedarraybuffer-per-context",
        "--enable-experimental-regexp-engine-on-excessive-backtracks",
        f"--max-heap-size={2 * memory_mb}",
        "--max-semi-space-size=4",
    )
    return (*flags, "--jitless") if jitless else flags
