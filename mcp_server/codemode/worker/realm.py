"""One realm of one run: an isolate with the runtime loaded, driven by texts that go in and come out."""

import codecs
import ctypes
import json
import secrets
from pathlib import Path
from typing import Final, NamedTuple

from mcp_server.codemode.worker.terms import CODE_NAME
from mcp_server.codemode.worker.v8 import Engine, Isolate, Kind, Result

_FAILURES: Final = frozenset({Kind.THROWN, Kind.SYNTAX, Kind.OUT_OF_MEMORY, Kind.TERMINATED})
_LARGE: Final = 16_384
_UNREAD_HEAD: Final = 8
NO_MESSAGES: Final = b"[]"
_FOLDER: Final = Path(__file__).resolve().parent / "runtime"


def read_runtime() -> bytes:
    """Return the runtime's parts in order, as the body of one function."""
    return b"\n".join(path.read_bytes() for path in sorted(_FOLDER.glob("*.js")))


class Turn(NamedTuple):
    """What the realm tells after each step; times are milliseconds since the run's start, -1 for none.

    `left_over` has the numbers of the calls that the program did not wait for, known once it is done.
    """

    state: str
    pending: int
    due: float
    refused_calls: int
    refused_bytes: int
    dropped_logs: int
    left_over: list[int]
    messages: bytes


class RealmError(Exception):
    """The realm gave no proper answer; `result` is what V8 said instead, `turn` what could still be drained."""

    def __init__(self, result: Result, turn: Turn | None = None) -> None:
        super().__init__(result.kind.name)
        self.result = result
        self.turn = turn


class Realm:
    """A fresh isolate whose runtime is reached under a name that the program cannot guess."""

    def __init__(self, engine: Engine, runtime: bytes, heap_bytes: int) -> None:
        self.isolate = Isolate(engine, heap_bytes)
        self._name = b"$" + secrets.token_hex(16).encode()
        source = b"const %s = (function () { 'use strict';\n%s\n})();\n//# sourceURL=runtime" % (
            self._name,
            runtime,
        )
        [result] = self.isolate.evaluate(source)
        if result.kind is not Kind.OTHER:
            raise RealmError(result)
        self._inbox = self.isolate.keep(b"%s.inbox" % self._name)
        self._unread, self._unread_bytes = self.isolate.memory(self.isolate.keep(b"%s.unread" % self._name))

    def start(self, settings: dict[str, object], code: str) -> Turn:
        """Run the program's first part; line N of `code` is line N + 1 of what V8 compiles."""
        prepare = b"%s.prepare(%s)" % (self._name, _literal(json.dumps(settings)))
        program = b"%s.start(async () => {\n%s\n})\n//# sourceURL=%s" % (
            self._name,
            code.encode(errors="replace"),
            CODE_NAME.encode(),
        )
        return self._step(prepare, program)

    def turn(self, now: float, replies: list[bytes]) -> Turn:
        """Hand in `replies` and fire the timer that is due."""
        text = b"[%s]" % b",".join(replies) if replies else b""
        if len(text) > _LARGE:
            self.isolate.hand_over(self._inbox, b"text", text)
            return self._step(b"%s.turn(%r,%s.inbox.text)" % (self._name, now, self._name))
        text = _literal(text.decode())
        return self._step(b"%s.turn(%r,%s)" % (self._name, now, text))

    def look(self) -> Turn:
        """Return the next messages without running anything."""
        return self._step()

    def result(self) -> bytes:
        """Return the value or error of the finished program as UTF-8."""
        [result] = self.isolate.evaluate(b"%s.result()" % self._name)
        return _text(result)

    def unread(self) -> tuple[bytes, int]:
        """Return the console entries that no turn brought, as messages, and how many were dropped.

        They are read from memory: V8 may be in a loop that never lets it answer, or have no memory left for it.
        """
        units, dropped = (ctypes.c_uint32 * 2).from_address(self._unread)
        size = min(units * 2, self._unread_bytes - _UNREAD_HEAD)
        data = ctypes.string_at(self._unread + _UNREAD_HEAD, size)
        # Not `decode`: a confined worker cannot load the module of a codec.
        text, _ = codecs.utf_16_le_decode(data, "replace", True)
        entries = [json.loads(line) for line in text.split("\n")[:-1]]
        return json.dumps(entries, separators=(",", ":")).encode(), dropped

    def probe(self, source: bytes) -> bytes:
        """Return the text that `source` evaluates to, to see V8's flags by their effect."""
        [result] = self.isolate.evaluate(source)
        return _text(result)

    def _step(self, *sources: bytes) -> Turn:
        *results, drained = self.isolate.evaluate(*sources, b"%s.drain()" % self._name)
        failed = next((result for result in results if result.kind in _FAILURES), None)
        if failed is not None:
            raise RealmError(failed, _turn(drained.text) if drained.kind is Kind.STRING else None)
        return _turn(_text(drained))


def _turn(text: bytes) -> Turn:
    head, _, messages = text.partition(b"\n")
    state, pending, due, calls, size, logs, numbers = head.split(b" ")
    left_over = [int(number) for number in numbers.split(b",") if number]
    return Turn(
        state.decode(), int(pending), float(due), int(calls), int(size), int(logs), left_over, messages
    )


def _literal(text: str) -> bytes:
    return json.dumps(text).encode()


def _text(result: Result) -> bytes:
    if result.kind is not Kind.STRING:
        raise RealmError(result)
    return result.text
