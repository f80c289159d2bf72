"""What this machine has and permits; what is missing is installed where that is allowed."""

import os
import shutil
import subprocess
from pathlib import Path

from tests.deploy.situation import NotRun, Stage

_WHERE = ("/usr/sbin", "/usr/bin", "/usr/local/bin")


def program(stage: Stage, name: str, package: str) -> str:
    """Return the path of a program, installing its Debian package where that is allowed.

    Raises:
        NotRun: it is not there.
    """
    found = _find(name)
    if found is None and stage.install and os.geteuid() == 0:
        _install(package)
        found = _find(name)
    if found is None:
        raise NotRun(f"{name} is not installed (Debian: apt-get install {package}, or --install as root)")
    return found


def _find(name: str) -> str | None:
    for pattern in (*(f"{folder}/{name}" for folder in _WHERE), f"/usr/lib/postgresql/*/bin/{name}"):
        for path in sorted(Path("/").glob(pattern.lstrip("/"))):
            return str(path)
    return shutil.which(name)


def _install(package: str) -> None:
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive", "RUNLEVEL": "1"}
    for command in (["apt-get", "update", "-qq"], ["apt-get", "install", "-y", "-qq", package]):
        try:
            subprocess.run(
                command,
                env=environment,
                check=False,
                timeout=120,
                stdin=subprocess.DEVNULL,
                capture_output=True,
            )
        except (OSError, subprocess.TimeoutExpired):
            return


def need_root(for_what: str) -> None:
    """Stop where the situation needs rights that this user has not.

    Raises:
        NotRun: we are not root.
    """
    if os.geteuid() != 0:
        raise NotRun(f"{for_what} needs root")


def need_mounts() -> None:
    """Stop where no private view of the file system can be made.

    Raises:
        NotRun: mounts are not permitted here.
    """
    need_root("a mount namespace")
    done = subprocess.run(
        ["unshare", "--mount", "mount", "-t", "tmpfs", "none", "/mnt"], check=False, capture_output=True
    )
    if done.returncode != 0:
        raise NotRun(f"mounts are not permitted here: {done.stderr.decode().strip()[:100]}")


def need_module(name: str) -> None:
    """Stop where a Python package is missing.

    Raises:
        NotRun: it cannot be imported.
    """
    import importlib.util

    if importlib.util.find_spec(name) is None:
        raise NotRun(f"{name} is not installed (the `deploy` group of pyproject.toml)")
