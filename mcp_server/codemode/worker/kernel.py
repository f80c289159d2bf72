"""Calls of the Linux kernel that Python has no function for; each returns what the kernel did, none raises."""

import ctypes
import os
import platform
import sys
from typing import Final

LINUX: Final = sys.platform == "linux"
MACHINE: Final = platform.machine()
PR_SET_DUMPABLE: Final = 4
PR_SET_NO_NEW_PRIVS: Final = 38

_library = ctypes.CDLL(None, use_errno=True)


def process_control(option: int, value: int) -> bool:
    """Return whether `prctl` accepted the option."""
    numbers = [ctypes.c_ulong(number) for number in (option, value, 0, 0, 0)]
    return bool(_library.prctl(*numbers) == 0)


def system_call(number: int, *arguments: object) -> int:
    """Return the call's result, or the negative error number."""
    result = int(_library.syscall(ctypes.c_long(number), *arguments))
    return -ctypes.get_errno() if result < 0 else result


def error_text(result: int) -> str:
    """Return the words for a negative result."""
    return os.strerror(-result)
