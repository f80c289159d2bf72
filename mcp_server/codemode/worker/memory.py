"""How much memory the worker holds, read from files that are opened before confinement closes the file system."""

import contextlib
import os
import resource
import sys
from typing import Final

_PAGE: Final = resource.getpagesize()
_UNIT: Final = 1 if sys.platform == "darwin" else 1024


def _open(path: str) -> int | None:
    with contextlib.suppress(OSError):
        return os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    return None


_STATM: Final = _open("/proc/self/statm")
STATISTICS: Final = () if _STATM is None else (_STATM,)
"""Descriptors that the worker itself opened for this."""


def resident_bytes() -> int:
    """Return the resident memory now; where /proc is missing, the most that it has been."""
    if _STATM is not None:
        return int(os.pread(_STATM, 128, 0).split()[1]) * _PAGE
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _UNIT


def data_bytes() -> int | None:
    """Return the private writable memory that RLIMIT_DATA counts, or None where the system does not tell."""
    if _STATM is None:
        return None
    return int(os.pread(_STATM, 128, 0).split()[5]) * _PAGE
