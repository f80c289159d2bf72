"""One run in the worker: pump texts between the realm and the host until the program is done or a limit ends it."""

import json
import os
import time
from typing import Any, Final, NoReturn

from mcp_server.codemode.worker.channel import Channel
from mcp_server.codemode.worker.monitor import Monitor
from mcp_server.codemode.worker.realm import NO_MESSAGES, Realm, RealmError, Turn
from mcp_server.codemode.worker.terms import DONE, LIMIT_OF_CAUSE, MESSAGES, REPLY, Cause
from mcp_server.codemode.worker.v8 import Kind

_MOST_REPLIES: Final = 256
_MOST_ERROR_TEXT: Final = 8192


class Run:
    """Drives one program; every way out sends one DONE frame, and a limit also ends the process."""

    def __init__(self, channel: Channel, monitor: Monitor, realm: Realm) -> None:
        self._channel = channel
        self._monitor = monitor
        self._realm = realm
        self._last: Turn | None = None

    def execute(self, settings: dict[str, object], code: str) -> None:
        """Run `code` to its end and tell the host how it ended."""
        try:
            kind, text = self._pump(self._realm.start(settings, code))
        except RealmError as error:
            kind, text = self._explain(error)
        verdict = Cause.MEMORY if self._realm.isolate.out_of_memory() else None
        if (verdict := self._monitor.finish() or verdict) is not None:
            self._end_at_limit(verdict)
        self._channel.send(DONE, self._head(kind), text)

    def _pump(self, turn: Turn) -> tuple[str, bytes]:
        while True:
            self._forward(turn)
            if self._monitor.verdict is not None or self._realm.isolate.out_of_memory():
                return "limit", b""
            if turn.state == "more":
                turn = self._realm.look()
            elif turn.state != "running":
                return turn.state, self._realm.result()
            elif turn.pending == 0 and turn.due < 0:
                return "never_settles", b""
            else:
                turn = self._realm.turn(*self._await(turn))

    def _forward(self, turn: Turn) -> None:
        self._last = turn
        if turn.messages == NO_MESSAGES:
            return
        # With the end in its hands the host starts none of the calls that the program did not wait for: whether such a
        # call takes place would be a matter of microseconds otherwise.
        send = self._channel.send if turn.state in ("running", "more") else self._channel.hold
        send(MESSAGES, turn.messages)

    def _await(self, turn: Turn) -> tuple[float, list[bytes]]:
        """Wait for answers or the next timer; return the time and the answers."""
        timeout = None if turn.due < 0 else max(0.0, min(turn.due - self._now(), 1e9)) / 1000
        replies: list[bytes] = []
        frame = self._channel.receive(timeout)
        while frame is not None and len(replies) < _MOST_REPLIES:
            if frame[:1] != REPLY:
                os._exit(Cause.PROTOCOL)
            replies.append(frame[1:])
            frame = self._channel.receive(0)
        return self._now(), replies

    def _now(self) -> float:
        return self._monitor.spent()[1] * 1000

    def _explain(self, error: RealmError) -> tuple[str, bytes]:
        if error.turn is not None:
            self._forward(error.turn)
        match error.result.kind:
            case Kind.SYNTAX:
                return "syntax", error.result.text[:_MOST_ERROR_TEXT]
            case Kind.OUT_OF_MEMORY:
                self._end_at_limit(Cause.MEMORY)
            case Kind.TERMINATED:
                # Only the monitor interrupts; it may not have written its verdict yet when V8 answers.
                self._end_at_limit(self._monitor.verdict or Cause.MEMORY)
        return "thrown", error.result.text[:_MOST_ERROR_TEXT]

    def _end_at_limit(self, verdict: Cause) -> NoReturn:
        try:
            while True:
                turn = self._realm.look()
                self._forward(turn)
                if turn.state != "more":
                    break
        except RealmError:
            # A heap that is full cannot drain its console.
            messages, _ = self._realm.unread()
            if messages != NO_MESSAGES:
                self._channel.send(MESSAGES, messages)
        self._channel.send(DONE, self._head("limit", LIMIT_OF_CAUSE[verdict]))
        time.sleep(0)
        os._exit(verdict)

    def _head(self, kind: str, limit: str = "") -> bytes:
        cpu, wall = self._monitor.spent()
        head: dict[str, Any] = {
            "kind": kind,
            "limit": limit,
            "cpu": cpu,
            "wall": wall,
            "peak": self._monitor.peak,
        }
        if self._last is not None:
            head["refused_calls"] = self._last.refused_calls
            head["refused_bytes"] = self._last.refused_bytes
            head["dropped_logs"] = self._last.dropped_logs
            head["left_over"] = self._last.left_over
        return json.dumps(head).encode() + b"\n"
