"""What this process says of itself every few seconds, for the admin's overview (contract A05)."""

import atexit
import logging
import os
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from django.db import DatabaseError, InterfaceError, connections, router
from django.utils import timezone

from mcp_server.models import Process
from mcp_server.models.processes import BEAT

logger = logging.getLogger("mcp_server.heartbeat")

Report = Callable[[], Any]

_reports: dict[str, Report] = {}
_restarts: list[Callable[[], None]] = []


class Heart:
    """Writes this process's row until it ends. A thread of its own: the log's writer may wait for long."""

    def __init__(self) -> None:
        self.name = process_name()
        self._started = timezone.now()
        self._stopped = threading.Event()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Begin to beat, once."""
        if self._thread is None:
            with self._lock:
                if self._thread is None:
                    self._thread = threading.Thread(target=self._run, name="mcp-heartbeat", daemon=True)
                    # The interpreter may be about to end, and starts no threads any more.
                    with suppress(RuntimeError):
                        self._thread.start()

    def beat(self) -> None:
        """Write the row, and do what staff asked for in it.

        Raises:
            django.db.Error: when the database is away.
        """
        asked = Process.objects.filter(name=self.name).values_list("restart_requested", flat=True).first()
        if asked is not None:
            for restart in _restarts:
                restart()
        row = {
            "host": socket.gethostname()[:100],
            "pid": os.getpid(),
            "version": _version(),
            "started": self._started,
            "seen": timezone.now(),
            "state": {name: report() for name, report in _reports.items()},
            "restart_requested": None,
        }
        # Not `update_or_create`, which reads first: SQLite refuses at once to write where a transaction began by
        # reading and another has written since.
        if not Process.objects.filter(name=self.name).update(**row):
            Process.objects.create(name=self.name, **row)

    def stop(self) -> None:
        """Take the row away: a process that ends by itself is not missed."""
        if self._thread is None:
            return
        self._stopped.set()
        try:
            Process.objects.filter(name=self.name).delete()
        except (DatabaseError, InterfaceError) as error:
            logger.debug("The row of this process stays: %s", type(error).__name__)

    def _run(self) -> None:
        while True:
            try:
                self.beat()
            except Exception:
                # A report of another room failed, or the database is away: the next beat may do better.
                logger.exception("The heartbeat of this process could not be written")
            finally:
                connections[router.db_for_write(Process)].close()
            if self._stopped.wait(BEAT.total_seconds()):
                return


def process_name() -> str:
    """Return the name under which this process and its runs are shown."""
    return f"{socket.gethostname()[:80]}:{os.getpid()}"


def add_report(name: str, report: Report) -> None:
    """Show under `name` what `report` returns, JSON values, at each beat."""
    _reports[name] = report


def on_restart(restart: Callable[[], None]) -> None:
    """Call `restart` when staff ask for the workers of this process to be ended."""
    _restarts.append(restart)


def start() -> None:
    """Begin to beat, once in this process; costs nothing after that."""
    _heart.start()


def _version() -> str:
    try:
        return version("django-mcp-toolkit")
    except PackageNotFoundError:
        return ""


_heart = Heart()


def _begin_anew() -> None:
    global _heart  # noqa: PLW0603 - one heart per process
    _heart = Heart()


def _end() -> None:
    _heart.stop()


atexit.register(_end)
os.register_at_fork(after_in_child=_begin_anew)
