"""Programs that a situation starts, and what is known of the processes below them."""

import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

PATIENCE = 30.0
_T = TypeVar("_T")


@dataclass(slots=True)
class Program:
    """A started program, in a session of its own; its output is in `log`."""

    process: subprocess.Popen[bytes]
    log: Path

    @property
    def pid(self) -> int:
        """Return the id of its first process."""
        return self.process.pid

    def said(self) -> str:
        """Return what it wrote until now."""
        return self.log.read_text(errors="replace")

    def stop(self, number: int = signal.SIGTERM, seconds: float = PATIENCE) -> None:
        """Signal it and wait for its end.

        Raises:
            TimeoutError: it is still there; it is killed then.
        """
        if self.process.poll() is None:
            self.process.send_signal(number)
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.kill()
            raise TimeoutError(f"it did not end within {seconds:.0f} s of signal {number}") from None

    def kill(self) -> None:
        """End it and whatever is left of its group."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


def start(command: Sequence[str], log: Path, environment: Mapping[str, str], cwd: Path) -> Program:
    """Return the program, started."""
    with log.open("ab") as output:
        process = subprocess.Popen(
            list(command),
            cwd=cwd,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    return Program(process, log)


def run(command: Sequence[str], environment: Mapping[str, str], cwd: Path, seconds: float = 120) -> str:
    """Return what a command printed.

    Raises:
        RuntimeError: it failed; the text is what it printed last.
    """
    done = subprocess.run(
        list(command), cwd=cwd, env=dict(environment), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, timeout=seconds, check=False,
    )  # fmt: skip
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)[:200]} failed: {done.stdout[-3000:]}")
    return done.stdout


def wait_for(condition: Callable[[], _T], what: str, seconds: float = PATIENCE) -> _T:
    """Return what the condition returns once it is true.

    Raises:
        TimeoutError: it did not become true in time.
    """
    end = time.monotonic() + seconds
    while not (found := condition()):
        if time.monotonic() > end:
            raise TimeoutError(f"waited {seconds:.0f} s for {what}")
        time.sleep(0.05)
    return found


def free_port() -> int:
    """Return a port of the loopback interface that is free now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def accepts(port: int) -> bool:
    """Return whether somebody listens at a port."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def descendants(parent: int) -> list[int]:
    """Return the processes below one."""
    below: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        fields = _fields(stat)
        if fields:
            below.setdefault(int(fields[1]), []).append(int(stat.parent.name))
    return _deep(below, parent)


def _deep(below: Mapping[int, list[int]], parent: int) -> list[int]:
    found = []
    for child in below.get(parent, []):
        found += [child, *_deep(below, child)]
    return found


def code_workers(parent: int) -> list[int]:
    """Return the processes below one that run programs of models."""
    return [pid for pid in descendants(parent) if b"worker/launch.py" in command_of(pid)]


def alive(pid: int) -> bool:
    """Return whether a process runs (one that only waits to be reaped does not)."""
    fields = _fields(Path(f"/proc/{pid}/stat"))
    return bool(fields) and fields[0] != "Z"


def command_of(pid: int) -> bytes:
    """Return the command line of a process, nothing if it ended."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""  # it ended while we looked


def _fields(stat: Path) -> list[Any]:
    try:
        return stat.read_text().rpartition(")")[2].split()
    except OSError:
        return []
