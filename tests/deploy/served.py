"""The site: its environment, its prepared databases, and the web servers that serve it."""

import json
import os
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tests.deploy import processes
from tests.deploy.processes import Program
from tests.deploy.situation import Stage

ROOT = Path(__file__).resolve().parents[2]
ASGI = "tests.deploy.site.asgi:application"
WSGI = "tests.deploy.site.wsgi:application"

Command = Callable[[int], list[str]]


def uvicorn(*options: str) -> Command:
    """Return the command of uvicorn on a port."""
    graceful = ("--timeout-graceful-shutdown", "3", "--log-level", "warning")
    return lambda port: ["-m", "uvicorn", ASGI, "--port", str(port), *graceful, *options]


def daphne(port: int) -> list[str]:
    """Return the command of daphne on a port."""
    return ["-m", "daphne", "-b", "127.0.0.1", "-p", str(port), "-v", "1", ASGI]


def gunicorn(*options: str) -> Command:
    """Return the command of gunicorn's threads on a port."""
    threads = ("-k", "gthread", "--threads", "8", "--graceful-timeout", "3", "--log-level", "warning")
    return lambda port: ["-m", "gunicorn", WSGI, "-b", f"127.0.0.1:{port}", *threads, *options]


@dataclass(frozen=True, slots=True)
class Site:
    """A prepared site: databases with tables and a user, whose token is at hand; it runs in `folder`."""

    environment: Mapping[str, str]
    token: str = ""
    folder: Path = ROOT

    def having(self, **variables: str) -> "Site":
        """Return the same site with more in its environment."""
        return replace(self, environment={**self.environment, **variables})

    def python(self, *arguments: str, seconds: float = 120) -> str:
        """Return what a Python command of the site printed."""
        return processes.run([sys.executable, *arguments], self.environment, self.folder, seconds)

    def shell(self, program: str) -> str:
        """Return what a program printed that runs after `django.setup()`."""
        return self.python("-c", f"import django; django.setup()\n{program}").strip()


@dataclass(slots=True)
class Served:
    """A running web server of the site."""

    site: Site
    port: int
    program: Program
    address: str

    @property
    def url(self) -> str:
        """Return the address of the default endpoint."""
        return f"{self.address}/mcp"

    def family(self) -> list[int]:
        """Return all processes below the server now."""
        return processes.descendants(self.program.pid)

    def stop(self) -> None:
        """End the server as a service manager would; it and everything below it must end (contract S10)."""
        family = self.family()
        self.program.stop()
        processes.wait_for(
            lambda: not [pid for pid in family if processes.alive(pid)],
            "all workers to end with the server",
            5,
        )


def environment(databases: Mapping[str, Any], **more: str) -> dict[str, str]:
    """Return the environment of a site on these databases."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in {"PYTHONPATH", "DJANGO_SETTINGS_MODULE"}
    }
    return {
        **kept,
        "DJANGO_SETTINGS_MODULE": "tests.deploy.site.settings",
        "SITE_DATABASES": json.dumps(databases),
        "PYTHONDONTWRITEBYTECODE": "1",
        **more,
    }


def prepare(databases: Mapping[str, Any]) -> Site:
    """Return the site with its tables and its user."""
    site = Site(environment(databases))
    return replace(site, token=site.python("-m", "tests.deploy.site.prepare").split()[-1])


def sqlite_site(stage: Stage) -> Site:
    """Return a site on a fresh SQLite database: a copy of one that is prepared once."""
    ready: Path = stage.shared.folder / "site.sqlite3"
    token = stage.shared.get("sqlite token", lambda: prepare({"default": sqlite(ready)}).token)
    own = stage.folder / "site.sqlite3"
    shutil.copy(ready, own)
    return Site(environment({"default": sqlite(own)}), token)


def sqlite(path: Path) -> dict[str, Any]:
    """Return Django's settings for an SQLite file that several processes share."""
    pragmas = "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;"
    options = {"transaction_mode": "IMMEDIATE", "timeout": 20, "init_command": pragmas}
    return {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": str(path),
        "ATOMIC_REQUESTS": True,
        "OPTIONS": options,
    }


def serve(stage: Stage, site: Site, command: Command, *, port: int = 0, prefix: Sequence[str] = ()) -> Served:
    """Start a web server and wait until it listens.

    Args:
        stage: where its log goes and who ends it.
        site: what it serves.
        command: Python's arguments for a port.
        port: 0 for any free one.
        prefix: a command that starts the server in other surroundings.
    """
    port = port or processes.free_port()
    log = stage.folder / f"server-{port}.log"
    arguments = [sys.executable, *command(port)] if not prefix else [*prefix, *command(port)]
    program = processes.start(arguments, log, site.environment, site.folder)
    stage.stack.callback(program.kill)
    processes.wait_for(
        lambda: processes.accepts(port) or program.process.poll() is not None, "the web server"
    )
    if program.process.poll() is not None:
        raise RuntimeError(f"the web server did not start: {program.said()[-2000:]}")
    return Served(site, port, program, f"http://127.0.0.1:{port}")
