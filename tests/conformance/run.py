"""Runs the official conformance suite against servers of our own: `python -m tests.conformance.run uvicorn door`.

Needs npm and the network the first time: the suite and the Node that it wants are installed into `--tools`, which CI
keeps. Each server is run for both revisions and bare. What may fail is in `expected-failures.yaml`, whose stale entries
the suite itself refuses.
"""

import argparse
import contextlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tests.protocol.balancer import balancing
from tests.protocol.servers import COMMANDS, free_port, wait_until_up

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
PACKAGES = ["@modelcontextprotocol/conformance@0.2.0-alpha.12", "node@24"]
LEGS = {
    "2025-11-25": ["--spec-version", "2025-11-25"],
    "2026-07-28": ["--spec-version", "2026-07-28"],
    "bare": [],
}
THREE = "three"
"""Three uvicorns behind Redis, without stickiness."""
SETTINGS = "tests.conformance.project.settings"


def install(tools: Path) -> None:
    """Install the suite, unless it is there."""
    if not (tools / "node_modules" / ".bin" / "conformance").exists():
        tools.mkdir(parents=True, exist_ok=True)
        subprocess.run(
            ["npm", "install", "--no-audit", "--no-fund", "--prefix", tools, *PACKAGES], check=True
        )


@contextlib.contextmanager
def serving(kind: str, database: Path) -> Iterator[str]:
    """Run one server and give its URL."""
    port = free_port()
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": SETTINGS, "TEST_DATABASE": str(database)}
    subprocess.run(
        [sys.executable, "-m", "django", "migrate", "-v", "0"], env=environment, cwd=ROOT, check=True
    )
    command = [
        part.replace("tests.protocol.project", "tests.conformance.project") for part in COMMANDS[kind](port)
    ]
    process = subprocess.Popen([sys.executable, *command], env=environment, cwd=ROOT)
    url = f"http://localhost:{port}/mcp"
    try:
        wait_until_up(process, port, url)
        yield url
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@contextlib.contextmanager
def three_behind_redis(database: Path) -> Iterator[str]:
    """Run three servers that share Redis and the database, and give the URL of a balancer without stickiness."""
    with contextlib.ExitStack() as stack:
        redis_port = free_port()
        redis = subprocess.Popen(
            ["redis-server", "--port", str(redis_port), "--save", "", "--bind", "127.0.0.1"],
            stdout=subprocess.DEVNULL,
        )
        stack.callback(redis.wait)
        stack.callback(redis.terminate)
        os.environ["TEST_REDIS"] = f"redis://127.0.0.1:{redis_port}"
        stack.callback(os.environ.pop, "TEST_REDIS")
        urls = [stack.enter_context(serving("uvicorn", database)) for _ in range(3)]
        ports = [int(url.split(":")[2].split("/")[0]) for url in urls]
        yield f"http://localhost:{stack.enter_context(balancing(ports)).port}/mcp"


def run_leg(tools: Path, url: str, leg: str, output: Path) -> bool:
    """Return whether one leg has no failure that is not expected."""
    binaries = [str(tools / "node_modules" / "node" / "bin"), str(tools / "node_modules" / ".bin")]
    command = [
        *["conformance", "server", "--url", url, "--suite", "all", *LEGS[leg]],
        *["--expected-failures", str(HERE / "expected-failures.yaml"), "--output-dir", str(output / leg)],
    ]
    environment = {**os.environ, "PATH": os.pathsep.join([*binaries, os.environ["PATH"]])}
    done = subprocess.run(command, env=environment, check=False)
    return done.returncode == 0


def main() -> int:
    """Run the suite and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kinds", nargs="*", default=["uvicorn"], choices=[*COMMANDS, THREE], metavar="kind")
    parser.add_argument("--tools", type=Path, default=Path(tempfile.gettempdir()) / "mcp-conformance")
    parser.add_argument("--leg", action="append", choices=list(LEGS))
    options = parser.parse_args()
    install(options.tools)
    failed = []
    with tempfile.TemporaryDirectory() as folder:
        for kind in options.kinds:
            database = Path(folder) / f"{kind}.sqlite3"
            with three_behind_redis(database) if kind == THREE else serving(kind, database) as url:
                for leg in options.leg or LEGS:
                    print(f"\n=== {kind}, {leg}", flush=True)
                    if not run_leg(options.tools, url, leg, Path(folder) / kind):
                        failed.append(f"{kind} {leg}")
    print(f"\nFailed: {', '.join(failed)}" if failed else "\nThe conformance suite passes.")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
