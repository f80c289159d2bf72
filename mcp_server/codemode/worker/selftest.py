"""What a confined worker still can do, found by trying; a report that is not tried is only a hope (contract S02, S13)."""

import mmap
import os
import socket
import sys
from collections.abc import Callable, Iterator
from typing import Final

from mcp_server.codemode.worker.v8 import Isolate, Kind

_FOREIGN: Final = frozenset({"django", "mcp", "pydantic", "mcp_server.conf", "py_mini_racer"})
_FLAG_PROBES: Final = {
    "no WebAssembly": (b"typeof WebAssembly", b"undefined"),
    "no SharedArrayBuffer": (b"typeof SharedArrayBuffer", b"undefined"),
    "no code from text": (
        b"(() => { try { return String(Function('return 1')()); } catch (e) { return e.name; } })()",
        b"EvalError",
    ),
    "regular expressions end": (b"String(/^(a+)+$/.test('a'.repeat(40) + 'b'))", b"false"),
}


def system_tests(*, executable_memory: bool) -> dict[str, bool]:
    """Return, by name, whether the system refused each thing that a worker must not do."""
    attempts: dict[str, Callable[[], object]] = {
        "read a file": lambda: os.close(os.open("/etc/passwd", os.O_RDONLY)),
        "write a file": lambda: os.close(os.open("/dev/null", os.O_WRONLY)),
        "list a folder": lambda: os.listdir("/"),  # noqa: PTH208 - the system call itself is tried
        "open a socket": lambda: socket.socket().close(),
        "start a process": _fork,
        "run a program": lambda: os.execv("/nowhere", ["nowhere"]),  # noqa: S606 - it must be refused
        "signal another process": lambda: os.kill(os.getppid(), 0),
    }
    if not executable_memory:
        attempts["make memory executable"] = _executable_page
    return {name: _is_refused(attempt) for name, attempt in attempts.items()} | {
        "load Django": not _FOREIGN & sys.modules.keys()
    }


def flag_tests(isolate: Isolate, *, jitless: bool) -> dict[str, bool]:
    """Return, by name, whether each of V8's flags has its effect; needs an isolate that is still untouched."""
    return dict(_flag_results(isolate, jitless=jitless))


def _flag_results(isolate: Isolate, *, jitless: bool) -> Iterator[tuple[str, bool]]:
    for name, (source, expected) in _FLAG_PROBES.items():
        if name == "no WebAssembly" and not jitless:
            continue  # only --jitless takes it out of V8; the runtime deletes its name in any case
        [result] = isolate.evaluate(source)
        yield name, result.kind is Kind.STRING and result.text == expected


def _is_refused(attempt: Callable[[], object]) -> bool:
    try:
        attempt()
    except PermissionError:
        return True
    except OSError:
        return False
    return False


def _fork() -> None:
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)


def _executable_page() -> None:
    mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_EXEC).close()
