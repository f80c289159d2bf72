"""What the worker takes away from itself, as far as the system allows, with a report for the host (contract S02, S13)."""

import contextlib
import os
import resource
import time
from typing import Any, Final

from mcp_server.codemode.worker import kernel, landlock, seccomp
from mcp_server.codemode.worker.memory import STATISTICS, data_bytes

_MIB: Final = 1 << 20
_DATA_SLACK: Final = 48 * _MIB
_MOST_FILES: Final = 64
_HARMLESS: Final = frozenset({"LC_CTYPE"})
"""Python itself sets this one where no locale is named."""


def before_v8() -> dict[str, Any]:
    """Lower what can be lowered before V8 starts; return which measures took effect."""
    surroundings = {
        "empty environment": not os.environ.keys() - _HARMLESS,
        "no other descriptors": _only_standard_descriptors(),
    }
    os.environ["TZ"] = "UTC"
    time.tzset()
    for limit, value in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_NOFILE, _MOST_FILES),
    ):
        resource.setrlimit(limit, (value, value))
    if not kernel.LINUX:
        return {**surroundings, "resource limits": True}
    return {
        **surroundings,
        "resource limits": True,
        "no new privileges": kernel.process_control(kernel.PR_SET_NO_NEW_PRIVS, 1),
        "not dumpable": kernel.process_control(kernel.PR_SET_DUMPABLE, 0),
        "first to go when memory is short": _volunteer(),
    }


def restrict_files() -> dict[str, Any]:
    """Close the file system and the network by Landlock; holds for threads that are made from now on."""
    return {"landlock": landlock.restrict() if kernel.LINUX else "not on this system"}


def restrict_calls(memory: int, *, executable_memory: bool) -> dict[str, Any]:
    """Bound the memory and filter the system calls of all threads, once V8 has what it needs."""
    if not kernel.LINUX:
        return {"data limit": "not on this system", "seccomp": "not on this system"}
    return {
        "data limit": _limit_data(2 * memory + _DATA_SLACK),
        "seccomp": seccomp.restrict(executable_memory=executable_memory),
    }


def _only_standard_descriptors() -> bool:
    """Return whether nothing was inherited but standard input (the socket), output and error; ours come on top."""
    own = {0, 1, 2, *STATISTICS}
    return all(not _is_open(number) for number in range(256) if number not in own)


def _is_open(number: int) -> bool:
    try:
        os.fstat(number)
    except OSError:
        return False
    return True


def _volunteer() -> bool:
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:  # noqa: PTH123 - pathlib is not loaded for it
        file.write("1000")
        return True
    return False


def _limit_data(extra: int) -> int | str:
    # RLIMIT_AS would stop V8 from starting: it reserves far more address space than it uses.
    used = data_bytes()
    if used is None:
        return "the system does not tell how much is used"
    resource.setrlimit(resource.RLIMIT_DATA, (used + extra, used + extra))
    return used + extra
