"""Surroundings that take something away: files, rights, /proc, file descriptors, address space, memory."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.deploy import machine, probe, processes, services
from tests.deploy.probe import connect, play
from tests.deploy.served import ROOT, Site, gunicorn, prepare, serve, sqlite_site, uvicorn
from tests.deploy.situation import NotRun, Stage, situation

_CGROUPS = Path("/sys/fs/cgroup")
_NOBODY = 65534


def _within(script: str, *command: str) -> list[str]:
    """Return a command that runs another in a mount namespace of its own, which the script changes first."""
    return ["unshare", "--mount", "sh", "-ec", f'{script}\nexec "$@"', "sh", *command]


@situation("a read-only file system")
@pytest.mark.proves("S02")
def read_only(stage: Stage) -> None:
    """Nothing can be written but what the database server writes elsewhere."""
    machine.need_mounts()
    site = prepare({"default": services.postgresql(stage).make("read_only")})
    script = "mount --make-rprivate /; mount -o remount,bind,ro /"
    command = _within(
        f"{script}; if touch {ROOT}/written {stage.folder}/written 2>/dev/null; then exit 9; fi",
        sys.executable,
    )
    # Workers of gunicorn prove that they live by a file; memory will do (its documentation says so, too).
    served = serve(stage, site, gunicorn("-w", "1", "--worker-tmp-dir", "/dev/shm"), prefix=command)
    probe.check(served)
    served.stop()


@situation("another system user")
@pytest.mark.proves("S02")
def another_user(stage: Stage) -> None:
    """Nobody's rights: the code can be read, nothing belongs to the user, there is no home."""
    machine.need_mounts()
    site = prepare({"default": services.postgresql(stage).make("another_user")})
    python, packages = stage.folder / "python", stage.folder / "packages"
    source = stage.folder / "source"
    script = []
    for target, origin in ((python, sys.base_prefix), (packages, _site_packages()), (source, ROOT)):
        target.mkdir()
        script.append(f"mount --bind '{origin}' '{target}'")
    # Interpreter and code as they would be in a container's image, since this machine's may belong to root alone.
    name = f"python{sys.version_info.major}.{sys.version_info.minor}"
    user = ["setpriv", f"--reuid={_NOBODY}", f"--regid={_NOBODY}", "--clear-groups", "--no-new-privs"]
    command = _within("\n".join(script) + f"\ncd '{source}'", *user, str(python / "bin" / name))
    there = site.having(PYTHONPATH=f"{source}:{packages}", HOME="/nonexistent", PYTHONNOUSERSITE="1")
    served = serve(stage, there, uvicorn(), prefix=command)
    probe.check(served)
    assert {os.stat(f"/proc/{pid}").st_uid for pid in processes.code_workers(served.program.pid)} == {_NOBODY}
    served.stop()


def _site_packages() -> str:
    import django

    return str(Path(django.__file__).resolve().parent.parent)


@situation("no /proc")
@pytest.mark.proves("S02", "S13b")
def without_proc(stage: Stage) -> None:
    """Some hardened hosts do not mount it; the workers measure their memory all the same."""
    machine.need_mounts()
    site = sqlite_site(stage)
    command = _within("mount --make-rprivate /; mount -t tmpfs none /proc", sys.executable)
    served = serve(stage, site, uvicorn(), prefix=command)
    probe.check(served)
    bomb = "const kept = []; for (;;) kept.push(new Array(1e5).fill(1.5))"
    play(_check_limit(served.url, site.token, bomb, "memory"))
    served.stop()


async def _check_limit(url: str, token: str, program: str, word: str) -> None:
    async with connect(f"{url}/code", token) as client:
        result = await client.call_tool("code", {"code": program})
        assert result.is_error
        assert word in result.content[0].text.lower(), result.content[0].text
    await probe.try_code(url, token)


@situation("few file descriptors")
@pytest.mark.proves("S06")
def few_descriptors(stage: Stage) -> None:
    """With 64 descriptors a server works; when clients take them all it recovers after they left."""
    site = sqlite_site(stage)
    served = serve(stage, site, uvicorn(), prefix=["prlimit", "--nofile=64:64", sys.executable])
    probe.check(served)
    play(_crowd(served.port))
    play(probe.until(lambda: probe.try_everything(served.url, site.token), 30), 90)
    served.stop()


async def _crowd(port: int) -> None:
    """Hold more connections than the server can have, until it was refused or kept waiting once."""
    import asyncio

    held = []
    for _ in range(80):
        try:
            held.append(await asyncio.wait_for(asyncio.open_connection("127.0.0.1", port), 1))
        except (OSError, TimeoutError):
            break
    for _, writer in held:
        writer.close()


@situation("ulimit -v: V8 cannot start")
@pytest.mark.proves("S06", "S13b")
def limited_address_space(stage: Stage) -> None:
    """Calls are served; `code` and the doctor say what is wrong, at once and every time."""
    site = sqlite_site(stage)
    limited = ["prlimit", f"--as={4 << 30}", sys.executable]
    served = serve(stage, site, uvicorn(), prefix=limited)
    play(probe.try_calls(served.url, site.token, "auto"))
    for _ in range(3):
        play(_check_unavailable(served.url, site.token))
    play(probe.try_calls(served.url, site.token, "legacy"))
    advice = _doctor(site, limited)
    served.stop()
    assert "ulimit -v" in served.program.said(), served.program.said()[-1000:]
    assert "ulimit -v" in advice, advice


async def _check_unavailable(url: str, token: str) -> None:
    async with connect(f"{url}/code", token) as client:
        result = await client.call_tool("code", {"code": "return 1"})
    text = result.content[0].text
    assert result.is_error
    assert "cannot be run on this server now" in text, text


def _doctor(site: Site, prefix: Sequence[str]) -> str:
    try:
        return processes.run([*prefix, "-m", "django", "mcp_doctor"], site.environment, ROOT)
    except RuntimeError as error:
        return str(error)


@situation("a memory-limited group")
@pytest.mark.proves("S05")
def limited_memory(stage: Stage) -> None:
    """A container with 400 MB: a program that takes all it can ends alone, its server and neighbours stay."""
    machine.need_root("a control group")
    group, limit = _group()
    group.mkdir()
    stage.stack.callback(_remove_group, group)
    (group / limit).write_text(str(400 << 20))
    site = sqlite_site(stage)
    command = ["sh", "-ec", f'echo $$ > {group}/cgroup.procs; exec "$@"', "sh", sys.executable]
    served = serve(stage, site, uvicorn(), prefix=command)
    probe.check(served)
    bomb = "const kept = []; for (;;) kept.push(new Array(1e5).fill(1.5))"
    for _ in range(3):
        play(_check_limit(served.url, site.token, bomb, "memory"))
    assert "memory" in _doctor(site, command)
    served.stop()


def _group() -> tuple[Path, str]:
    name = f"mcp-deploy-{os.getpid()}"
    if (_CGROUPS / "memory/memory.limit_in_bytes").exists() and os.access(_CGROUPS / "memory", os.W_OK):
        return _CGROUPS / "memory" / name, "memory.limit_in_bytes"
    if "memory" in _text(_CGROUPS / "cgroup.subtree_control").split():
        return _CGROUPS / name, "memory.max"
    raise NotRun("this machine lets nobody make control groups")


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""


def _remove_group(group: Path) -> None:
    processes.wait_for(lambda: not _text(group / "cgroup.procs").split(), "the group to be empty", 10)
    group.rmdir()
