"""The next release over a site that runs: its rows, its sessions, its workers, and both releases side by side."""

import json
import os
import shutil
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.deploy import probe, processes
from tests.deploy.probe import connect, play
from tests.deploy.served import ROOT, Served, Site, environment, serve, sqlite, uvicorn
from tests.deploy.situation import NotRun, Stage, situation

_ACCEPT = {"Accept": "application/json, text/event-stream"}
_FOREIGN = """
SECRET_KEY = "x" * 50
INSTALLED_APPS = ["django.contrib.auth", "django.contrib.contenttypes", "mcp_server"]
DATABASES = {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": "foreign.sqlite3"}}
DEFAULT_AUTO_FIELD = "django.db.models.AutoField"
LANGUAGE_CODE = "de"
USE_TZ = False
MCP_SERVER = {"LIMITS": {"memory_limit_mb": 32}}
"""


@situation("upgrade from the previous release")
@pytest.mark.proves("D07c", "P07a", "S06b")
def upgrade(stage: Stage) -> None:
    """Old server, then new files under it, then both side by side on one database, then the new one alone."""
    old, new = _install(stage, _previous()), _install(stage, "HEAD")
    installed = stage.folder / "installed"
    shutil.copytree(old, installed)
    site = _site(stage, installed)
    before = serve(stage, site, uvicorn())
    probe.check(before)
    session = _open_session(before)
    _replace(installed, new)
    _check_old_host(before)
    site.python("-m", "django", "makemigrations", "--check", "--dry-run")
    site.python("-m", "django", "migrate", "-v", "0")
    after = serve(stage, site, uvicorn())
    for served in (before, after, before):
        probe.check(served)
        _check_session(served, session)
    _check_session(before, _open_session(after))
    before.stop()
    probe.check(after)
    after.stop()
    _check_rows(site)


@situation("worker files of another version")
@pytest.mark.proves("S06b")
def mixed_worker(stage: Stage) -> None:
    """A host whose files were upgraded says so in its log, starts no worker of the other version, and serves on."""
    installed = stage.folder / "installed"
    installed.mkdir()
    # The installed package and its site stand elsewhere, so that changing them changes nothing here.
    shutil.copytree(
        ROOT / "mcp_server", installed / "mcp_server", ignore=shutil.ignore_patterns("__pycache__")
    )
    site = _site(stage, installed)
    served = serve(stage, site, uvicorn())
    play(probe.try_code(served.url, site.token))
    terms = installed / "mcp_server/codemode/worker/terms.py"
    changed = terms.read_text().replace('VERSION: Final = "', 'VERSION: Final = "next-')
    assert changed != terms.read_text()
    terms.write_text(changed)
    # A worker that runs is of the old version and goes on serving; the next one would not be.
    play(probe.try_code(served.url, site.token))
    _kill_workers(served)
    play(_check_refusal(served))
    play(probe.try_calls(served.url, site.token, "auto"))
    served.stop()
    assert "restart the server" in served.program.said()


@situation("no migration for a foreign project")
@pytest.mark.proves("D07c")
def foreign_project(stage: Stage) -> None:
    """Settings that differ from ours make no model change."""
    (stage.folder / "foreign.py").write_text(_FOREIGN)
    variables = {**os.environ, "DJANGO_SETTINGS_MODULE": "foreign", "PYTHONPATH": str(ROOT)}
    for arguments in (["makemigrations", "--check", "--dry-run"], ["migrate", "-v", "0"], ["check"]):
        processes.run([sys.executable, "-m", "django", *arguments], variables, stage.folder)


def _previous() -> str:
    """Return the revision to upgrade from: the last tag, or the commit before this one."""
    for command in (["describe", "--tags", "--abbrev=0", "HEAD~1"], ["rev-parse", "--verify", "HEAD~1"]):
        done = subprocess.run(["git", *command], cwd=ROOT, capture_output=True, text=True, check=False)
        if done.returncode == 0:
            return done.stdout.strip()
    raise NotRun("there is no earlier commit here")


def _install(stage: Stage, revision: str) -> Path:
    """Return a folder with the wheel of a revision, built and installed without what it depends on."""
    source, target = stage.folder / f"source-{revision}", stage.folder / f"wheel-{revision}"
    source.mkdir()
    archive = subprocess.run(["git", "archive", revision], cwd=ROOT, capture_output=True, check=True).stdout
    subprocess.run(["tar", "-x", "-C", str(source)], input=archive, check=True)
    options = ["--quiet", "--no-deps", "--disable-pip-version-check", "--root-user-action=ignore"]
    command = [sys.executable, "-m", "pip", "install", *options, "--target", str(target), str(source)]
    processes.run(command, os.environ, stage.folder)
    return target


def _site(stage: Stage, installed: Path) -> Site:
    """Return the site, served from a folder of its own with the package of another."""
    folder = stage.folder / "site"
    (folder / "tests").mkdir(parents=True)
    shutil.copy(ROOT / "tests/__init__.py", folder / "tests")
    (folder / "tests/deploy").mkdir()
    shutil.copy(ROOT / "tests/deploy/__init__.py", folder / "tests/deploy")
    shutil.copytree(ROOT / "tests/deploy/site", folder / "tests/deploy/site")
    variables = environment({"default": sqlite(folder / "site.sqlite3")}, PYTHONPATH=str(installed))
    site = Site(variables, folder=folder)
    where = Path(site.shell("import mcp_server; print(mcp_server.__file__)"))
    assert installed in where.parents, f"the site uses {where}"
    return replace(site, token=site.python("-m", "tests.deploy.site.prepare").split()[-1])


def _replace(installed: Path, new: Path) -> None:
    """Do what `pip install --upgrade` does to files that are in use."""
    shutil.rmtree(installed / "mcp_server")
    shutil.copytree(new / "mcp_server", installed / "mcp_server")


def _check_old_host(served: Served) -> None:
    """Calls go on; a new worker either fits or is refused in words, and neither hangs."""
    play(probe.try_calls(served.url, served.site.token, "auto"))
    _kill_workers(served)
    try:
        play(probe.try_code(served.url, served.site.token))
    except Exception:
        play(_check_refusal(served))


def _kill_workers(served: Served) -> None:
    for pid in processes.code_workers(served.program.pid):
        os.kill(pid, signal.SIGKILL)
    processes.wait_for(lambda: not processes.code_workers(served.program.pid), "workers to be gone", 5)


async def _check_refusal(served: Served) -> None:
    async with connect(f"{served.url}/code", served.site.token) as client:
        result = await client.call_tool("code", {"code": "return 1"})
    assert result.is_error
    assert "cannot be run on this server now" in result.content[0].text, result.content[0].text


def _open_session(served: Served) -> str:
    params = {
        "protocolVersion": "2025-11-25",
        "capabilities": {"elicitation": {}},
        "clientInfo": {"name": "upgrade", "version": "1"},
    }
    answer = _post(served, {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}, {})
    session: str = answer.headers["mcp-session-id"]
    return session


def _check_session(served: Served, session: str) -> None:
    headers = {"Mcp-Session-Id": session, "Mcp-Protocol-Version": "2025-11-25"}
    answer = _post(served, {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}, headers)
    assert answer.status_code == 200, answer.text
    assert "add" in [tool["name"] for tool in answer.json()["result"]["tools"]]


def _post(served: Served, message: dict[str, Any], headers: dict[str, str]) -> httpx2.Response:
    given = {**_ACCEPT, "Authorization": f"Bearer {served.site.token}", **headers}
    return httpx2.post(served.url, json=message, headers=given, timeout=20)


def _check_rows(site: Site) -> None:
    """Rows of both releases are there and can be read."""
    counted = json.loads(
        site.shell(
            "import json; from mcp_server.models import CodeRun, ToolCall\n"
            "print(json.dumps([CodeRun.objects.filter(status='ok').count(), ToolCall.objects.exclude(run=None).count(),"
            " ToolCall.objects.filter(tool='ask', status='ok').count()]))"
        )
    )
    runs, inner, asked = counted
    assert runs >= 5, counted
    assert inner == 3 * runs, counted
    assert asked >= 10, counted
