"""The worker's one connection: frames to and from the host over the socket that stands in for standard input."""

import os
import select
import socket
import threading

from mcp_server.codemode.worker.terms import HEADER

_CHUNK = 1 << 18


class Channel:
    """Length-prefixed frames over a blocking socket; two threads may send, one receives."""

    def __init__(self, descriptor: int) -> None:
        self.socket = socket.socket(fileno=descriptor)
        self.lock = threading.Lock()
        self._buffer = bytearray()
        self._held = b""
        self._readable = select.poll()
        self._readable.register(self.socket, select.POLLIN)

    def send(self, kind: bytes, *parts: bytes) -> None:
        """Write one frame whole, after those that are held; the worker ends when the host is gone."""
        frame = _frame(kind, parts)
        with self.lock:
            held, self._held = self._held, b""
            try:
                self.socket.sendall(held + frame if held else frame)
            except OSError:
                os._exit(0)

    def hold(self, kind: bytes, *parts: bytes) -> None:
        """Keep a frame until the next one is sent, so that the host gets both at once."""
        with self.lock:
            self._held += _frame(kind, parts)

    def receive(self, timeout: float | None = None) -> bytes | None:
        """Return the next payload, or None after `timeout` seconds; the worker ends when the host hung up."""
        while (frame := self._take()) is None:
            if timeout is not None and not self._readable.poll(max(0.0, timeout) * 1000):
                return None
            try:
                data = self.socket.recv(_CHUNK)
            except OSError:
                data = b""
            if not data:
                os._exit(0)
            self._buffer += data
        return frame

    def _take(self) -> bytes | None:
        if len(self._buffer) < HEADER.size:
            return None
        end = HEADER.size + HEADER.unpack_from(self._buffer)[0]
        if len(self._buffer) < end:
            return None
        frame = bytes(self._buffer[HEADER.size : end])
        del self._buffer[:end]
        return frame


def _frame(kind: bytes, parts: tuple[bytes, ...]) -> bytes:
    return b"".join((HEADER.pack(len(kind) + sum(map(len, parts))), kind, *parts))
