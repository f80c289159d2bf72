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
def another_user(stage: Stage) -> None:
    """Nobody's rights: the code can be read, nothing belongs to the user, there is no home."""
    machine.need_mounts()
    site = prepare({"default": services.postgresql(stage).make("another_user")})
    user = ["setpriv", f"--reuid={_NOBODY}", f"--regid={_NOBODY}", "--clear-groups", "--no-new-privs"]
    command = _within(_opening(stage), *user, sys.executable)
    served = serve(stage, site.having(HOME="/nonexistent"), uvicorn(), prefix=command)
    probe.check(served)
    assert {Path(f"/proc/{pid}").stat().st_uid for pid in processes.code_workers(served.program.pid)} == {
        _NOBODY
    }
    served.stop()


def _opening(stage: Stage) -> str:
    """Return a script that shows interpreter and code to everybody, as in a container's image: here they may be root's."""
    origins = {Path(found).resolve() for found in (sys.base_prefix, sys.prefix, ROOT)}
    closed = {_closed_folder(origin) for origin in origins} - {None}
    script = ["mount --make-rprivate /"]
    holders = {origin: stage.folder / f"held-{number}" for number, origin in enumerate(sorted(origins))}
    for origin, holder in holders.items():
        holder.mkdir()
        script.append(f"mount --bind '{origin}' '{holder}'")
    script += [f"mount -t tmpfs -o mode=755 none '{folder}'" for folder in closed]
    for origin, holder in holders.items():
        if _closed_folder(origin) is not None:
            script += [f"mkdir -p '{origin}'", f"mount --bind '{holder}' '{origin}'"]
    return "\n".join([*script, f"cd '{ROOT}'"])


def _closed_folder(path: Path) -> Path | None:
    """Return the topmost folder above a path that others may not enter."""
    above = reversed(path.parents)
    return next((folder for folder in above if not folder.stat().st_mode & 0o001), None)


@situation("no /proc")
@pytest.mark.proves("S13b")
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
@pytest.mark.proves("S06b")
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
@pytest.mark.proves("S06b", "S13b")
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
@pytest.mark.proves("S05b")
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
