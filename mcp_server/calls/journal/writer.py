"""The thread that writes the log: one per process, made when first needed, in batches, never in a call's way."""

import logging
import random
import threading
import time
from collections import deque
from collections.abc import Sequence
from itertools import chain, repeat

from django.db import Error, InterfaceError, OperationalError, connections, router

from mcp_server.calls.journal.records import CallRecord, Record
from mcp_server.calls.journal.writing import announce, write_batch
from mcp_server.conf import options
from mcp_server.models import ToolCall
from mcp_server.policy.retention import Pruned, Pruning, Retention

logger = logging.getLogger("mcp_server.journal")

BATCH_ROWS = 500
MAX_QUEUED_ROWS = 50_000
MAX_QUEUED_BYTES = 64 * 1024 * 1024
LINGER_SECONDS = 0.1
IDLE_SECONDS = 10.0
RETRY_SECONDS = (0.2, 0.5, 1.0, 2.0, 5.0)
SAY_AGAIN_SECONDS = 10.0
PRUNE_FIRST_SECONDS = 60.0
PRUNE_EVERY_SECONDS = 3600.0
PRUNE_AGAIN_SECONDS = 1.0
PRUNE_BATCH = 500
PRUNE_BATCHES = 20


class Writer:
    """A bounded queue and the thread that empties it.

    While the database is away the queue fills; when it is full, records are dropped, counted in `lost`, and the log says so.
    """

    def __init__(self) -> None:
        self.lost = 0
        self._queue: deque[Record] = deque()
        self._bytes = 0
        self._added = 0
        self._settled = 0
        self._hurried = 0
        self._changed = threading.Condition()
        self._asleep = False
        self._connected = False
        self._said = -SAY_AGAIN_SECONDS
        # Processes that start together need not prune together.
        self._prune_at = time.monotonic() + PRUNE_FIRST_SECONDS * (1 + random.random())  # noqa: S311 - no secret
        self._thread: threading.Thread | None = None

    @property
    def queued(self) -> int:
        """How many records are not written yet."""
        return self._added - self._settled

    def put(self, record: Record) -> None:
        """Queue a record, which costs a lock and no database."""
        size = _size(record)
        with self._changed:
            if len(self._queue) >= MAX_QUEUED_ROWS or self._bytes + size > MAX_QUEUED_BYTES:
                self.lose(1, "the queue is full")
                return
            self._queue.append(record)
            self._bytes += size
            self._added += 1
            if self._thread is None:
                self._start()
            elif self._asleep:
                self._changed.notify_all()

    def flush(self, timeout: float) -> bool:
        """Return True when all that is queued now is written, or given up, within `timeout` seconds."""
        with self._changed:
            goal = self._added
            self._hurried += 1
            self._changed.notify_all()
            try:
                return self._changed.wait_for(lambda: self._settled >= goal, timeout)
            finally:
                self._hurried -= 1

    def lose(self, rows: int, reason: str) -> None:
        """Count rows that will never be written, and say so every ten seconds at most."""
        self.lost += rows
        if time.monotonic() - self._said >= SAY_AGAIN_SECONDS:
            self._said = time.monotonic()
            logger.error("Rows of the MCP log are lost, %d since this process began: %s", self.lost, reason)

    def _start(self) -> None:
        thread = threading.Thread(target=self._run, name="mcp-journal", daemon=True)
        try:
            thread.start()
        except RuntimeError:
            # The interpreter is about to end and starts no threads any more; `_stop` counts what is left.
            return
        self._thread = thread

    def _run(self) -> None:
        while True:
            batch = self._next_batch()
            if batch:
                self._handle(batch)
            else:
                # Quiet for a while: an idle process holds no connection for its log.
                connections.close_all()
                self._connected = False

    def _handle(self, batch: Sequence[Record]) -> None:
        try:
            for record in batch:
                announce(record)
            self._write(batch)
            self._prune_now_and_then()
        except Exception:
            # The thread must outlive whatever a router or a database backend raises: it is the only one.
            logger.exception("The MCP log could not write %d rows", len(batch))
            self.lose(len(batch), "an error that the log above shows")
        finally:
            with self._changed:
                self._settled += len(batch)
                self._changed.notify_all()

    def _next_batch(self) -> list[Record]:
        """Wait for records and return some, or none when it stays quiet; a backlog is not waited for."""
        with self._changed:
            self._asleep = True
            self._changed.wait_for(lambda: bool(self._queue), IDLE_SECONDS if self._connected else None)
            self._asleep = False
            if 0 < len(self._queue) < BATCH_ROWS:
                # Others may come in a moment, and one transaction for all is cheaper.
                self._changed.wait_for(lambda: bool(self._hurried), LINGER_SECONDS)
            batch = [self._queue.popleft() for _ in range(min(BATCH_ROWS, len(self._queue)))]
            self._bytes -= sum(map(_size, batch))
            return batch

    def _prune_now_and_then(self) -> None:
        if not options().log.auto_prune or time.monotonic() < self._prune_at:
            return
        try:
            pruned = Pruning(
                retention=Retention.from_settings(), batch=PRUNE_BATCH, max_batches=PRUNE_BATCHES
            ).run()
        except Error as error:
            logger.warning("The MCP log could not be pruned: %s", type(error).__name__)
            self._forget_connection()
            pruned = Pruned()
        # What is left over is taken soon, a little at a time, so that the queue never waits for long.
        self._prune_at = time.monotonic() + (PRUNE_EVERY_SECONDS if pruned.finished else PRUNE_AGAIN_SECONDS)

    def _write(self, batch: Sequence[Record]) -> None:
        """Write a batch; wait for a database that is away, and leave out only the rows that it refuses."""
        for pause in chain(RETRY_SECONDS, repeat(RETRY_SECONDS[-1])):
            try:
                self._write_at_once(batch)
            except (OperationalError, InterfaceError) as error:
                logger.warning("The MCP log waits for its database: %s", type(error).__name__)
                self._forget_connection()
                time.sleep(pause)
            except (Error, ArithmeticError, TypeError, ValueError):
                self._write_singly(batch)
                return
            else:
                return

    def _write_singly(self, batch: Sequence[Record]) -> None:
        for record in batch:
            try:
                self._write_at_once([record])
            except (Error, ArithmeticError, TypeError, ValueError) as error:
                logger.exception("A row of the MCP log was refused: %s %s", type(record).__name__, record.id)
                self.lose(1, f"the database refuses them ({type(error).__name__})")

    def _write_at_once(self, batch: Sequence[Record]) -> None:
        self._connected = True
        alias = router.db_for_write(ToolCall)
        write_batch(alias, batch)
        # With DEBUG, Django keeps what it sent until a request begins; on this thread none ever does.
        connections[alias].queries_log.clear()

    def _forget_connection(self) -> None:
        connections[router.db_for_write(ToolCall)].close()


def _size(record: Record) -> int:
    if isinstance(record, CallRecord):
        return 500 + len(record.arguments) + len(record.error)
    return 1000 + len(record.code) + len(record.result)
