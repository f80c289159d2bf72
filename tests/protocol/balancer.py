"""A balancer without stickiness, in front of several servers of one site."""

import asyncio
import threading
from collections import deque
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress


class Balancer:
    """Passes each connection on to the next server in turn, past those that are gone; each connection serves one request.

    `passed` holds the port of the server that each request went to, in order.
    """

    def __init__(self, ports: Sequence[int]) -> None:
        self.port = 0
        self.passed: list[int] = []
        self._turns = deque(ports)

    async def start(self) -> None:
        """Begin to listen, on a free port."""
        self._server = await asyncio.start_server(self._handle, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        """Listen no more, and end the connections that are still open."""
        self._server.close()
        left = asyncio.all_tasks() - {asyncio.current_task()}
        if left:
            await asyncio.wait(left, timeout=0.2)  # those that have been answered are about to end
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)

    async def _handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async with _closing(writer):
            with suppress(asyncio.IncompleteReadError, ConnectionError):
                head = await reader.readuntil(b"\r\n\r\n")
                from_server, to_server = await self._connect()
                async with _closing(to_server):
                    # One request a connection, so that the next one goes elsewhere.
                    lines = [
                        item for item in head.split(b"\r\n") if not item.lower().startswith(b"connection:")
                    ]
                    to_server.write(b"\r\n".join([lines[0], b"Connection: close", *lines[1:]]))
                    await asyncio.gather(_pump(reader, to_server), _pump(from_server, writer))

    async def _connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        for _ in range(len(self._turns)):
            port = self._turns[0]
            self._turns.rotate(-1)
            with suppress(ConnectionRefusedError):
                opened = await asyncio.open_connection("127.0.0.1", port)
                self.passed.append(port)
                return opened
        raise ConnectionError("No server is left.")


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(ConnectionError):
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    writer.close()


@asynccontextmanager
async def _closing(writer: asyncio.StreamWriter) -> AsyncIterator[None]:
    try:
        yield
    finally:
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()


@contextmanager
def balancing(ports: Sequence[int]) -> Iterator[Balancer]:
    """A balancer that runs on a thread of its own within the block."""
    loop = asyncio.new_event_loop()
    balancer = Balancer(ports)
    loop.run_until_complete(balancer.start())
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    try:
        yield balancer
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.run_until_complete(balancer.stop())
        loop.close()
