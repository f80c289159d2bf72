"""Frames from a worker, read as the hostile input they may be (contract S07)."""

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from pydantic_core import from_json

from mcp_server.codemode.outcome import LogEntry
from mcp_server.codemode.safety import safe_text
from mcp_server.codemode.worker.terms import HEADER, LIMIT_OF_CAUSE, RESERVED, VERSION

_MAX_HEAD: Final = 1 << 18
_LEVELS: Final = frozenset({"log", "info", "warn", "error", "debug", "trace"})
_ENDS: Final = frozenset(
    {"ok", "undefined", "error", "oversize", "never_settles", "syntax", "thrown", "limit"}
)
_LIMITS: Final = frozenset({"", *LIMIT_OF_CAUSE.values()})


class Violation(Exception):
    """The worker broke the protocol; the reason is for the server's log only."""


@dataclass(frozen=True, slots=True)
class CallRequest:
    """The program calls a tool: `target` is its place in the job's tools or a reserved name; arguments are JSON text."""

    number: int
    target: int | str
    arguments: str


@dataclass(frozen=True, slots=True)
class Ending:
    """The last frame of a run: how it ended, what it used (seconds, bytes), and the value or error as raw text.

    `left_over` has the numbers of the calls that the program did not wait for.
    """

    kind: str
    limit: str
    text: bytes
    cpu: float
    wall: float
    peak: int
    refused_calls: int
    refused_bytes: int
    dropped_logs: int
    left_over: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Hello:
    """The first frame of a worker: who it is and what it could take away from itself."""

    pid: int
    confinement: dict[str, Any]


def frame(kind: bytes, payload: bytes) -> bytes:
    """Return one frame for the worker."""
    return HEADER.pack(len(payload) + 1) + kind + payload


def reply_frame_parts(number: int, body: bytes) -> bytes:
    """Return the payload that answers call `number`; `body` is `"v":...` or `"e":...` as JSON text."""
    return b'{"i":%d,%s}' % (number, body)


def read_hello(payload: bytes) -> Hello:
    """Return the worker's greeting.

    Raises:
        Violation: it is malformed.
        VersionMismatch: its files are of another version than this process.
    """
    found = _object(payload)
    if found.get("version") != VERSION:
        raise VersionMismatch
    confinement = found.get("confinement")
    if not isinstance(confinement, dict):
        raise Violation("greeting without a confinement report")
    return Hello(pid=_whole(found, "pid"), confinement=confinement)


class VersionMismatch(Exception):
    """The package was upgraded under the running server."""


def read_messages(payload: bytes) -> Iterator[CallRequest | LogEntry]:
    """Return the calls and console lines of one frame, in order."""
    found = _parse(payload)
    if not isinstance(found, list) or not found:
        raise Violation("messages are not a list")
    for item in found:
        if not isinstance(item, dict):
            raise Violation("message is not an object")
        if item.get("t") == "log":
            yield _log(item)
        elif item.get("t") == "call":
            yield _call(item)
        else:
            raise Violation("message of unknown type")


def read_ending(payload: bytes) -> Ending:
    """Return how the run ended."""
    head, newline, text = payload.partition(b"\n")
    if not newline or len(head) > _MAX_HEAD:
        raise Violation("ending without a head")
    found = _object(head)
    kind, limit = found.get("kind"), found.get("limit", "")
    if kind not in _ENDS or limit not in _LIMITS or (kind == "limit") != bool(limit):
        raise Violation("ending of unknown kind")
    return Ending(
        kind=kind,
        limit=limit,
        text=text,
        cpu=_seconds(found, "cpu"),
        wall=_seconds(found, "wall"),
        peak=_whole(found, "peak"),
        refused_calls=_whole(found, "refused_calls"),
        refused_bytes=_whole(found, "refused_bytes"),
        dropped_logs=_whole(found, "dropped_logs"),
        left_over=_numbers(found, "left_over"),
    )


def read_error(text: bytes) -> dict[str, Any]:
    """Return the error that a program ended with, as the runtime describes it."""
    return _object(text)


def encode_job(code: str, *, cpu_ms: int, wall_ms: int, runtime: dict[str, Any]) -> bytes:
    """Return the payload that starts a run."""
    job = {"code": safe_text(code), "cpu_ms": cpu_ms, "wall_ms": wall_ms, "runtime": runtime}
    return json.dumps(job, separators=(",", ":")).encode()


def _log(item: dict[str, Any]) -> LogEntry:
    level, text = item.get("l"), item.get("m")
    if level not in _LEVELS or not isinstance(text, str):
        raise Violation("malformed console line")
    return LogEntry(level, safe_text(text))


def _call(item: dict[str, Any]) -> CallRequest:
    target, arguments = item.get("n"), item.get("a")
    known = target in RESERVED if isinstance(target, str) else _is_whole(target)
    if not known or not isinstance(arguments, str):
        raise Violation("malformed call")
    return CallRequest(_whole(item, "i", least=1), target, arguments)  # type: ignore[arg-type]


def _object(payload: bytes) -> dict[str, Any]:
    found = _parse(payload)
    if not isinstance(found, dict):
        raise Violation("frame is not an object")
    return found


def _parse(payload: bytes) -> Any:
    try:
        return from_json(payload, allow_inf_nan=False)
    except ValueError as error:
        raise Violation("frame is not JSON") from error


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53


def _whole(found: dict[str, Any], name: str, *, least: int = 0) -> int:
    value = found.get(name, 0)
    if not _is_whole(value) or value < least:
        raise Violation(f"{name} is not a number in range")
    return int(value)


def _numbers(found: dict[str, Any], name: str) -> tuple[int, ...]:
    values = found.get(name, [])
    if not isinstance(values, list) or not all(map(_is_whole, values)) or len(set(values)) != len(values):
        raise Violation(f"{name} is not a list of different numbers")
    return tuple(values)


def _seconds(found: dict[str, Any], name: str) -> float:
    value = found.get(name)
    if (
        isinstance(value, bool)
        or not isinstance(value, int | float)
        or not math.isfinite(value)
        or not 0 <= value < 1e6
    ):
        raise Violation(f"{name} is not a time")
    return float(value)
