"""Clients that send one HTTP request again and again, as fast as one process can."""

import asyncio
import time
from typing import Any

import uvloop

OK = b"HTTP/1.1 200"


class Load(asyncio.Protocol):
    """One kept-alive connection. All answers are as long as the first, which is read whole."""

    def __init__(self, message: bytes, deadline: float) -> None:
        self._message = message
        self._deadline = deadline
        self._buffer = b""
        self._size: int | None = None
        self.done: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self.answer = b""
        self._count = 0

    def connection_made(self, transport: Any) -> None:
        self.transport = transport
        transport.write(self._message)

    def data_received(self, data: bytes) -> None:
        self._buffer = self._buffer + data if self._buffer else data
        if self._size is None:
            self._size = measure(self._buffer)
        if self._size is None or len(self._buffer) < self._size:
            return
        if len(self._buffer) != self._size or not self._buffer.startswith(OK):
            self._fail(RuntimeError(f"Another answer than before: {self._buffer[:500]!r}"))
            return
        self.answer, self._buffer = self._buffer, b""
        self._count += 1
        if time.perf_counter() < self._deadline:
            self.transport.write(self._message)
        elif not self.done.done():
            self.done.set_result(self._count)

    def connection_lost(self, error: Exception | None) -> None:
        self._fail(error or RuntimeError("The server closed the connection."))

    def _fail(self, error: Exception) -> None:
        if not self.done.done():
            self.done.set_exception(error)


def measure(answer: bytes) -> int | None:
    """Return the bytes of a whole answer, None where more must come before it can be told."""
    head, found, rest = answer.partition(b"\r\n\r\n")
    lower = head.lower()
    if not found:
        return None
    if b"content-length: " in lower:
        return len(head) + 4 + int(lower.split(b"content-length: ")[1].split(b"\r\n")[0])
    return len(answer) if rest.endswith(b"0\r\n\r\n") else None


def request_rate(port: int, message: bytes, connections: int, seconds: float, expected: str) -> float:
    """Return the requests per second that a server answers.

    Args:
        port: of the server, on this machine.
        message: the request, whole.
        connections: how many clients ask at once.
        seconds: for how long.
        expected: a text that a right answer holds.

    Raises:
        RuntimeError: when an answer is wrong.
    """
    return uvloop.run(_load(port, message, connections, seconds, expected))


async def _load(port: int, message: bytes, connections: int, seconds: float, expected: str) -> float:
    loop = asyncio.get_running_loop()
    started = time.perf_counter()
    made = [
        (await loop.create_connection(lambda: Load(message, started + seconds), "127.0.0.1", port))[1]
        for _ in range(connections)
    ]
    counts = await asyncio.gather(*(item.done for item in made))
    elapsed = time.perf_counter() - started
    if expected.encode() not in made[0].answer:
        raise RuntimeError(f"A wrong answer: {made[0].answer[:500]!r}")
    for item in made:
        item.transport.close()
    return sum(counts) / elapsed
