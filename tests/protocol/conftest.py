"""Real servers on free ports of this machine, each started when a test first asks for it."""

import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path

import httpx2
import pytest

from tests.protocol.servers import COMMANDS, START_SECONDS, answers, free_port, wait_until_up

ROOT = Path(__file__).resolve().parents[2]
SETTINGS = "tests.protocol.project.settings"

_PREPARE = """
import django; django.setup()
from django.core.management import call_command
call_command("migrate", verbosity=0)
from django.contrib.auth.models import User, Permission
from mcp_server.models import Token
staff = User.objects.create_user("staff")
plain = User.objects.create_user("plain")
staff.user_permissions.set(Permission.objects.filter(codename__in=["change_user", "add_group"]))
print(Token.objects.issue(staff, "tests")[1], Token.objects.issue(plain, "tests")[1])
"""


@dataclass(frozen=True)
class Site:
    """The prepared database, and tokens of its two users."""

    database: Path
    staff: str
    plain: str

    def groups(self, name: str) -> int:
        """How many groups of that name stand in the database."""
        with closing(sqlite3.connect(self.database)) as connection:
            found: int = connection.execute(
                "select count(*) from auth_group where name = ?", [name]
            ).fetchone()[0]
            return found

    def moment(self, name: str) -> float | None:
        """The time that a tool wrote behind this name, None as long as it did not."""
        with closing(sqlite3.connect(self.database)) as connection:
            row = connection.execute(
                "select name from auth_group where name like ? || ' %'", [name]
            ).fetchone()
            return float(row[0].rpartition(" ")[2]) if row else None

    def environment(self, **more: str) -> dict[str, str]:
        return {**os.environ, "DJANGO_SETTINGS_MODULE": SETTINGS, "TEST_DATABASE": str(self.database), **more}


def open_files(process: int, name: str) -> int:
    """How many open files of a process have a path that ends so."""
    paths = []
    for link in Path(f"/proc/{process}/fd").iterdir():
        with suppress(OSError):
            paths.append(str(link.readlink()))
    return sum(path.endswith(name) for path in paths)


def threads(process: int) -> int:
    """How many threads a process has."""
    return len(list(Path(f"/proc/{process}/task").iterdir()))


@dataclass(frozen=True)
class Served:
    """A running server."""

    kind: str
    root: str
    site: Site
    process: subprocess.Popen[bytes]
    log: Path

    @property
    def url(self) -> str:
        return f"{self.root}/mcp"


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    database = tmp_path_factory.mktemp("site") / "site.sqlite3"
    made = Site(database, "", "")
    run = subprocess.run(
        [sys.executable, "-c", _PREPARE],
        env=made.environment(),
        cwd=ROOT,
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    return Site(database, *run.stdout.split())


@pytest.fixture(scope="session")
def start(site: Site, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Served]]:
    """A function that starts a server of one kind, or gives the one that runs."""
    running: dict[str, Served] = {}

    def launch(kind: str, copy: str = "", **environment: str) -> Served:
        key = f"{kind} {copy} {environment}"
        if key not in running:
            running[key] = _launch(kind, site, tmp_path_factory.mktemp(kind) / "log", environment)
        return running[key]

    yield launch
    for served in running.values():
        served.process.send_signal(signal.SIGTERM)
    for served in running.values():
        try:
            served.process.wait(10)
        except subprocess.TimeoutExpired:
            served.process.kill()
            served.process.wait()


def _launch(kind: str, site: Site, log: Path, environment: dict[str, str]) -> Served:
    port = free_port()
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, *COMMANDS[kind](port)],
            env=site.environment(**environment),
            cwd=ROOT,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    served = Served(kind, f"http://127.0.0.1:{port}", site, process, log)
    try:
        wait_until_up(process, port, served.url)
    except RuntimeError as error:
        raise RuntimeError(f"{kind} did not start: {log.read_text()}") from error
    return served


@pytest.fixture(scope="session")
def redis(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a Redis server of our own."""
    port = free_port()
    folder = tmp_path_factory.mktemp("redis")
    process = subprocess.Popen(
        ["redis-server", "--port", str(port), "--save", "", "--dir", str(folder), "--bind", "127.0.0.1"],
        stdout=subprocess.DEVNULL,
    )
    deadline = time.monotonic() + START_SECONDS
    while not answers(port):
        if process.poll() is not None or time.monotonic() > deadline:
            raise RuntimeError("redis-server did not start")
        time.sleep(0.05)
    yield f"redis://127.0.0.1:{port}"
    process.terminate()
    process.wait()


@pytest.fixture(scope="session", params=["uvicorn", "door", "daphne", "gunicorn", "runserver"])
def served(request: pytest.FixtureRequest, start: Callable[..., Served]) -> Served:
    """Each kind of server in turn."""
    return start(request.param)


@pytest.fixture
def http() -> Iterator[httpx2.Client]:
    """A plain HTTP client, for what no MCP client would send."""
    with httpx2.Client(timeout=20) as client:
        yield client
