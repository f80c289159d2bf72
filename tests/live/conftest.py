"""The demo in two web processes that share a database and a Redis, and nothing else."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.protocol.conftest import redis
from tests.protocol.servers import free_port, wait_until_up

__all__ = ["pair", "redis"]

ROOT = Path(__file__).resolve().parents[2]
PREPARE = """
import django; django.setup()
from django.core.management import call_command
call_command("migrate", verbosity=0)
from django.contrib.auth.models import User
from django.test import Client
from mcp_server.models import Token
ada = User.objects.create_superuser("ada")
client = Client()
client.force_login(ada)
print(Token.objects.issue(ada, "tests")[1], client.cookies["sessionid"].value)
"""


@dataclass(frozen=True)
class Pair:
    """The two servers' addresses, and how the one person of the site signs in to both."""

    first: str
    second: str
    token: str
    session: str


@pytest.fixture
def pair(redis: str, tmp_path: Path) -> Iterator[Pair]:
    environment = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "tests.live.settings",
        "DEMO_DATABASE": str(tmp_path / "live.sqlite3"),
        "LIVE_REDIS": redis,
    }
    done = subprocess.run(
        [sys.executable, "-c", PREPARE],
        env=environment,
        cwd=ROOT,
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    with ExitStack() as stack:
        first, second = (stack.enter_context(_serving(environment)) for _ in range(2))
        yield Pair(first, second, *done.stdout.split())


@contextmanager
def _serving(environment: dict[str, str]) -> Iterator[str]:
    port = free_port()
    command = ["-m", "uvicorn", "demo_project.asgi:application", "--port", str(port)]
    more = ["--log-level", "warning", "--timeout-graceful-shutdown", "2"]
    process = subprocess.Popen([sys.executable, *command, *more], env=environment, cwd=ROOT)
    try:
        wait_until_up(process, port, f"http://127.0.0.1:{port}/mcp")
        yield f"127.0.0.1:{port}"
        process.send_signal(signal.SIGTERM)
        process.wait(15)
    finally:
        process.kill()
        process.wait()
