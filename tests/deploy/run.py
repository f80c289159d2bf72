"""Try the product in the situations that deployments are made of.

    python -m tests.deploy.run                  what CI runs
    python -m tests.deploy.run --list
    python -m tests.deploy.run "nginx" "redis"  those whose name holds a word
    python -m tests.deploy.run --seconds 120    with two minutes of constant load
    python -m tests.deploy.run --install        as root: install missing Debian packages first

Each line is `name: passed`, `name: failed` or `name: not run (why)`; the exit code is 1 where one failed.
"""

import argparse
import importlib
import logging
import pkgutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import FrameType

from tests.deploy import situations as modules
from tests.deploy.situation import NotRun, Play, Shared, Stage, situations

LONGEST_SECONDS = 120


def main() -> int:
    """Play the wanted situations and return the exit code."""
    arguments = _parse()
    for module in pkgutil.iter_modules(modules.__path__):
        importlib.import_module(f"{modules.__name__}.{module.name}")
    wanted = {name: play for name, play in situations.items() if _is_wanted(name, arguments.names)}
    if arguments.list or not wanted:
        print(*situations, sep="\n")
        return 0 if wanted else 2
    signal.signal(signal.SIGALRM, _give_up)
    signal.signal(signal.SIGTERM, _give_up)
    # The client's library reports streams that a stopped server cut off.
    logging.disable(logging.ERROR)
    begun = time.monotonic()
    with _folder() as folder, ExitStack() as stack:
        shared = Shared(folder, stack)
        verdicts = [_judge(name, play, shared, arguments) for name, play in wanted.items()]
    failed, not_run = verdicts.count("failed"), verdicts.count("not run")
    summary = f"{verdicts.count('passed')} passed, {failed} failed, {not_run} not run"
    print(f"\n{summary}, in {time.monotonic() - begun:.0f} s", flush=True)
    return 1 if failed else 0


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", help="words of names; all situations if none")
    parser.add_argument("--list", action="store_true", help="print the names")
    parser.add_argument("--install", action="store_true", help="install missing Debian packages")
    parser.add_argument("--seconds", type=float, default=20, help="how long constant load lasts")
    return parser.parse_args()


def _is_wanted(name: str, words: list[str]) -> bool:
    return not words or any(word.lower() in name.lower() for word in words)


def _judge(name: str, play: Play, shared: Shared, arguments: argparse.Namespace) -> str:
    begun = time.monotonic()
    with _folder() as folder, ExitStack() as stack:
        stage = Stage(folder, stack, shared, arguments.install, arguments.seconds)
        verdict, why = "passed", ""
        signal.alarm(int(LONGEST_SECONDS + arguments.seconds))
        try:
            play(stage)
        except NotRun as reason:
            verdict, why = "not run", f" ({reason})"
        except Exception as error:
            verdict = "failed"
            for cause in _causes(error):
                traceback.print_exception(cause, limit=-6, chain=False)
            _show_logs(folder)
        finally:
            signal.alarm(0)
    notes = f": {'; '.join(stage.notes)}" if stage.notes else ""
    print(f"{name}: {verdict}{why}, {time.monotonic() - begun:.1f} s{notes}", flush=True)
    return verdict


def _causes(error: BaseException) -> list[BaseException]:
    """Return what really happened: the client's library wraps it in a group for each of its layers."""
    if isinstance(error, BaseExceptionGroup):
        return [cause for part in error.exceptions for cause in _causes(part)]
    return [error]


def _show_logs(folder: Path) -> None:
    for log in sorted(folder.rglob("*.log")):
        if text := log.read_text(errors="replace")[-3000:].strip():
            print(f"--- {log.name}\n{text}", file=sys.stderr)


def _give_up(number: int, frame: FrameType | None) -> None:
    raise TimeoutError("the situation took too long, or the run was ended")


@contextmanager
def _folder() -> Iterator[Path]:
    """Yield a folder that servers under other users can reach."""
    with tempfile.TemporaryDirectory(prefix="mcp-deploy-", ignore_cleanup_errors=True) as name:
        Path(name).chmod(0o755)
        yield Path(name)


if __name__ == "__main__":
    sys.exit(main())
