"""How each kind of server is started, for tests and for the conformance suite."""

import socket
import subprocess
import time
from collections.abc import Callable

import httpx2

from tests.protocol.wire import request

START_SECONDS = 30.0

COMMANDS: dict[str, Callable[[int], list[str]]] = {
    "uvicorn": lambda port: [
        "-m", "uvicorn", "tests.protocol.project.asgi:application", "--port", str(port), "--log-level", "warning",
        "--lifespan", "off", "--timeout-graceful-shutdown", "2",
    ],
    "door": lambda port: [
        "-m", "uvicorn", "tests.protocol.project.door:application", "--port", str(port), "--log-level", "warning",
        "--timeout-graceful-shutdown", "2",
    ],
    "daphne": lambda port: [
        "-m", "daphne", "-b", "127.0.0.1", "-p", str(port), "-v", "0", "tests.protocol.project.asgi:application",
    ],
    "gunicorn": lambda port: [
        "-m", "gunicorn", "tests.protocol.project.wsgi:application", "-b", f"127.0.0.1:{port}", "--threads", "8",
        "--log-level", "warning", "--graceful-timeout", "2",
    ],
    "runserver": lambda port: ["-m", "django", "runserver", f"127.0.0.1:{port}", "--noreload"],
}  # fmt: skip


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def answers(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def wait_until_up(process: subprocess.Popen[bytes], port: int, url: str) -> None:
    """Wait until the server has answered a first request, which loads the SDK.

    Raises:
        RuntimeError: when it ends, or does not answer in time.
    """
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        if answers(port):
            httpx2.post(url, json=request("ping"), timeout=START_SECONDS)
            return
        time.sleep(0.05)
    process.kill()
    process.wait()
    raise RuntimeError("The server did not start.")
