"""A seccomp filter over all threads: what V8 and the pump need is allowed, everything else gets EPERM."""

import ctypes
import errno
import os
import struct
from typing import Final

from mcp_server.codemode.worker.kernel import MACHINE, error_text, system_call

_LOAD, _EQUAL, _ANY_BIT, _RETURN = 0x20, 0x15, 0x45, 0x06
_ALLOW, _KILL, _ERROR = 0x7FFF0000, 0x80000000, 0x00050000
_REFUSED: Final = _ERROR | errno.EPERM
_SET_FILTER, _ALL_THREADS = 1, 1
_NUMBER, _ARCHITECTURE = 0, 4
_CLONE_THREAD: Final = 0x00010000
_PROT_EXEC: Final = 4
_NAME_MEMORY, _NAME_THREAD = 0x53564D41, 15

# Architecture's audit number, the number of seccomp itself, then of the calls that are allowed or looked into.
_X86_64: Final = (0xC000003E, 317, {
    "read": 0, "write": 1, "close": 3, "fstat": 5, "poll": 7, "lseek": 8, "mmap": 9, "mprotect": 10, "munmap": 11, "brk": 12,
    "rt_sigaction": 13, "rt_sigprocmask": 14, "rt_sigreturn": 15, "pread64": 17, "readv": 19, "writev": 20, "sched_yield": 24,
    "mremap": 25, "madvise": 28, "nanosleep": 35, "getpid": 39, "sendto": 44, "recvfrom": 45, "clone": 56, "exit": 60, "fcntl": 72,
    "gettimeofday": 96, "getrusage": 98, "sigaltstack": 131, "prctl": 157, "gettid": 186, "futex": 202, "sched_getaffinity": 204,
    "restart_syscall": 219, "clock_gettime": 228, "clock_getres": 229, "clock_nanosleep": 230, "exit_group": 231, "tgkill": 234,
    "ppoll": 271, "set_robust_list": 273, "prlimit64": 302, "getcpu": 309, "getrandom": 318, "membarrier": 324, "pkey_mprotect": 329,
    "rseq": 334, "clone3": 435, "futex_waitv": 449,
})  # fmt: skip
_AARCH64: Final = (0xC00000B7, 277, {
    "fcntl": 25, "close": 57, "lseek": 62, "read": 63, "write": 64, "readv": 65, "writev": 66, "pread64": 67, "ppoll": 73, "fstat": 80,
    "exit": 93, "exit_group": 94, "futex": 98, "set_robust_list": 99, "nanosleep": 101, "clock_gettime": 113, "clock_getres": 114,
    "clock_nanosleep": 115, "sched_getaffinity": 123, "sched_yield": 124, "restart_syscall": 128, "tgkill": 131, "sigaltstack": 132,
    "rt_sigaction": 134, "rt_sigprocmask": 135, "rt_sigreturn": 139, "getrusage": 165, "prctl": 167, "getcpu": 168, "gettimeofday": 169,
    "getpid": 172, "gettid": 178, "sendto": 206, "recvfrom": 207, "brk": 214, "munmap": 215, "mremap": 216, "clone": 220, "mmap": 222,
    "mprotect": 226, "madvise": 233, "prlimit64": 261, "getrandom": 278, "membarrier": 283, "pkey_mprotect": 288, "rseq": 293,
    "clone3": 435, "futex_waitv": 449,
})  # fmt: skip
_TABLES: Final = {"x86_64": _X86_64, "aarch64": _AARCH64}
_EXAMINED: Final = frozenset(
    {"clone", "clone3", "mmap", "mprotect", "pkey_mprotect", "prctl", "prlimit64", "tgkill"}
)


def restrict(*, executable_memory: bool) -> bool | str:
    """Return True when the filter holds for every thread, else why it does not."""
    table = _TABLES.get(MACHINE)
    if table is None:
        return f"no table of system calls for {MACHINE}"
    architecture, number, calls = table
    program = b"".join(_program(architecture, calls, executable_memory=executable_memory))
    buffer = ctypes.create_string_buffer(program)
    header = struct.pack("HxxxxxxQ", len(program) // 8, ctypes.addressof(buffer))
    result = system_call(number, ctypes.c_uint(_SET_FILTER), ctypes.c_uint(_ALL_THREADS), header)
    return (
        True if result == 0 else error_text(result) if result < 0 else f"thread {result} could not be reached"
    )


def _program(architecture: int, calls: dict[str, int], *, executable_memory: bool) -> list[bytes]:
    lines = [
        _line(_LOAD, _ARCHITECTURE),
        _line(_EQUAL, architecture, 1, 0),
        _line(_RETURN, _KILL),
        _line(_LOAD, _NUMBER),
    ]
    # libc falls back on clone, whose flags can be looked at, when clone3 does not exist.
    lines += _when(calls["clone3"], [_line(_RETURN, _ERROR | errno.ENOSYS)])
    lines += _when(calls["clone"], _if_bits(0, _CLONE_THREAD, then=_ALLOW, otherwise=_REFUSED))
    for name in ("mmap", "mprotect", "pkey_mprotect"):
        body = (
            [_line(_RETURN, _ALLOW)]
            if executable_memory
            else _if_bits(2, _PROT_EXEC, then=_REFUSED, otherwise=_ALLOW)
        )
        lines += _when(calls[name], body)
    lines += _when(
        calls["prctl"], _if_equal(0, _NAME_THREAD) + _if_equal(0, _NAME_MEMORY) + [_line(_RETURN, _REFUSED)]
    )
    lines += _when(calls["prlimit64"], _if_bits(2, 0xFFFFFFFF, then=_REFUSED, otherwise=_ALLOW))
    lines += _when(calls["tgkill"], [*_if_equal(0, os.getpid()), _line(_RETURN, _REFUSED)])
    for name, number in calls.items():
        if name not in _EXAMINED:
            lines += [_line(_EQUAL, number, 0, 1), _line(_RETURN, _ALLOW)]
    return [*lines, _line(_RETURN, _REFUSED)]


def _line(code: int, value: int, when_true: int = 0, when_false: int = 0) -> bytes:
    return struct.pack("HBBI", code, when_true, when_false, value)


def _when(number: int, body: list[bytes]) -> list[bytes]:
    return [_line(_EQUAL, number, 0, len(body)), *body]


def _load_argument(position: int) -> bytes:
    return _line(_LOAD, 16 + 8 * position)


def _if_bits(position: int, bits: int, *, then: int, otherwise: int) -> list[bytes]:
    return [
        _load_argument(position),
        _line(_ANY_BIT, bits, 0, 1),
        _line(_RETURN, then),
        _line(_RETURN, otherwise),
    ]


def _if_equal(position: int, value: int) -> list[bytes]:
    return [_load_argument(position), _line(_EQUAL, value, 0, 1), _line(_RETURN, _ALLOW)]
