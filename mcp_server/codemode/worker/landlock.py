"""Landlock: this process and its later threads may reach no file, no TCP port and no process outside (Linux 5.13+)."""

import ctypes
import os
import struct
from typing import Final

from mcp_server.codemode.worker.kernel import error_text, system_call

_CREATE_RULESET: Final = 444
_RESTRICT_SELF: Final = 446
_VERSION: Final = 1
_FILES_SINCE: Final = ((1, 13), (2, 14), (3, 15), (5, 16))
"""ABI version -> how many kinds of access to files it knows; the bits follow one another."""


def restrict() -> int | str:
    """Return the ABI version under which everything it knows is now refused, or why there is none."""
    version = system_call(_CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(_VERSION))
    if version < 1:
        return error_text(version)
    attributes = _attributes(version)
    ruleset = system_call(_CREATE_RULESET, attributes, ctypes.c_size_t(len(attributes)), ctypes.c_uint32(0))
    if ruleset < 0:
        return error_text(ruleset)
    done = system_call(_RESTRICT_SELF, ctypes.c_int(ruleset), ctypes.c_uint32(0))
    os.close(ruleset)
    return version if done == 0 else error_text(done)


def _attributes(version: int) -> bytes:
    files = max(bits for since, bits in _FILES_SINCE if version >= since)
    words = [(1 << files) - 1]
    if version >= 4:
        words.append(0b11)  # bind and connect TCP
    if version >= 6:
        words.append(0b11)  # abstract sockets and signals to processes outside
    return struct.pack(f"{len(words)}Q", *words)
