"""What host and worker agree on: frames, causes of an end, and the version that says whether they still do."""

import struct
from enum import IntEnum
from typing import Final

VERSION: Final = "0.1.0/2"
"""Sent in the worker's first frame: files may be upgraded under a running host, which then must refuse the worker."""

HEADER: Final = struct.Struct(">I")
"""Length of a frame's payload; the payload's first byte is its kind."""

# From the host.
JOB: Final = b"J"
REPLY: Final = b"R"

# From the worker.
HELLO: Final = b"H"
MESSAGES: Final = b"M"
DONE: Final = b"D"


class Cause(IntEnum):
    """Why a worker ended itself: its exit code, beside the frame that may get lost (contract S06)."""

    CPU = 71
    MEMORY = 72
    WALL = 73
    PROTOCOL = 74
    START = 75


LIMIT_OF_CAUSE: Final = {
    Cause.CPU: "cpu_time_limit_ms",
    Cause.MEMORY: "memory_limit_mb",
    Cause.WALL: "wall_time_limit_ms",
}

RESERVED: Final = {"$search": ("query", "options"), "$describe": ("name",)}
"""Names that the host answers in every run without counting them as tool calls, with their parameters in order."""

MAX_RESERVED_CALLS: Final = 100
MAX_DEPTH: Final = 200
"""Nesting of JSON in either direction; deeper text is refused before any parser sees it."""

CODE_NAME: Final = "code.js"
"""The name of the user's program in stack traces; its line 1 is line 2 of what is compiled."""
