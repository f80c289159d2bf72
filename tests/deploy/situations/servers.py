"""The web servers: each serves a plain client, a run, a question and a listen stream, and ends with its workers."""

import os
import signal
import sys

import pytest

from tests.deploy import machine, probe, processes
from tests.deploy.probe import play
from tests.deploy.served import ROOT, WSGI, Served, daphne, gunicorn, serve, sqlite_site, uvicorn
from tests.deploy.situation import Stage, situation


@situation("gunicorn, threads")
@pytest.mark.proves("P01c", "S10a")
def gunicorn_threads(stage: Stage) -> None:
    """Two processes; what needs one process is tried with one."""
    site = sqlite_site(stage)
    served = serve(stage, site, gunicorn("-w", "2"))
    probe.check(served, shared=False)
    served.stop()
    alone = serve(stage, site, gunicorn("-w", "1"))
    probe.check(alone)
    alone.stop()


@situation("gunicorn, preloaded")
@pytest.mark.proves("S10b")
def gunicorn_preloaded(stage: Stage) -> None:
    """The site is loaded once and forked: nothing that a thread or a socket holds may be shared."""
    served = serve(stage, sqlite_site(stage), gunicorn("-w", "2", "--preload"))
    for _ in range(3):
        probe.check(served, shared=False)
    served.stop()


@situation("uvicorn, 3 processes")
@pytest.mark.proves("P01c", "P07a")
def uvicorn_processes(stage: Stage) -> None:
    """Without a channel layer: sessions survive a change of process, and so do rounds of questions in 2026."""
    served = serve(stage, sqlite_site(stage), uvicorn("--workers", "3"))
    for _ in range(3):
        probe.check(served, shared=False)
    served.stop()


@situation("uvicorn, reloading")
@pytest.mark.proves("C18a")
def uvicorn_reloading(stage: Stage) -> None:
    """A changed file restarts the process; the workers of the old one go with it."""
    watched = stage.folder / "watched"
    watched.mkdir()
    served = serve(stage, sqlite_site(stage), uvicorn("--reload", "--reload-dir", str(watched)))
    probe.check(served)
    before = set(served.family())
    assert processes.code_workers(served.program.pid)

    def reloaded() -> bool:
        # Again and again: the watcher may have begun after the first change.
        (watched / "changed.py").write_text(f"# {os.urandom(4).hex()}\n")
        return bool(set(served.family()) - before)

    processes.wait_for(reloaded, "the server to reload")
    processes.wait_for(
        lambda: not [pid for pid in _old_workers(before) if processes.alive(pid)], "old workers", 10
    )
    play(probe.until(lambda: probe.try_code(served.url, served.site.token)))
    served.stop()


def _old_workers(family: set[int]) -> list[int]:
    # The watching process itself and its resource tracker stay.
    return [pid for pid in family if b"worker/launch.py" in processes.command_of(pid)]


@situation("daphne")
@pytest.mark.proves("P01c")
def daphne_alone(stage: Stage) -> None:
    """One process of daphne."""
    served = serve(stage, sqlite_site(stage), daphne)
    probe.check(served)
    served.stop()


@situation("uWSGI")
@pytest.mark.proves("P01c")
def uwsgi(stage: Stage) -> None:
    """Threads in one process, started by the master that forks it."""
    machine.need_module("pyuwsgi")
    served = serve(stage, sqlite_site(stage), uwsgi_command)
    probe.check(served)
    served.stop()


def uwsgi_command(port: int) -> list[str]:
    """Return the command of uWSGI on a port."""
    # It ends the connection after each answer, which clients must know before they send the next request on it.
    options = [
        *("--add-header", "Connection: close"),
        "--single-interpreter",
        "--master",
        "--enable-threads",
        "--threads",
        "8",
        "--die-on-term",
        "--need-app",
        "--disable-logging",
    ]
    return [
        *("-c", "import pyuwsgi; pyuwsgi.run()", "--http-socket", f"127.0.0.1:{port}", "--module", WSGI),
        *("--pythonpath", str(ROOT), "--home", sys.prefix, *options),
    ]


@situation("a killed server")
@pytest.mark.proves("S10a")
def killed(stage: Stage) -> None:
    """SIGKILL leaves the server no time: its workers end by themselves, within a second."""
    for command in (uvicorn(), gunicorn("-w", "1")):
        served = serve(stage, sqlite_site(stage), command)
        play(probe.try_code(served.url, served.site.token))
        _kill_host(served)


def _kill_host(served: Served) -> None:
    workers = processes.code_workers(served.program.pid)
    assert workers
    for pid in served.family():
        if pid not in workers:
            os.kill(pid, signal.SIGKILL)
    os.kill(served.program.pid, signal.SIGKILL)
    processes.wait_for(
        lambda: not [pid for pid in workers if processes.alive(pid)], "workers without a host", 2
    )
