"""The wheel in an empty environment: its files, its public names, and a foreign project that follows the README."""

import subprocess
import sys
import tempfile
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NEEDED = {
    "py.typed": "mcp_server/py.typed",
    "migrations": "mcp_server/migrations/0001",
    "templates": "mcp_server/templates/admin/",
    "static files": "mcp_server/static/mcp_toolkit/",
    "translations": "mcp_server/locale/zh_Hans/LC_MESSAGES/django.mo",
    "the worker": "mcp_server/codemode/worker/",
    "the worker's JavaScript": "mcp_server/codemode/worker/runtime/",
    "commands": "mcp_server/management/commands/mcp_token.py",
}
IMPORT_ALL = "import mcp_server; print(len([getattr(mcp_server, name) for name in mcp_server.__all__]), 'public names')"
RUN_ONE = """
from mcp_server import codemode
from django.contrib.auth.models import User
user = User.objects.create_superuser("ada")
outcome = codemode.run("return await codemode.count_users()", user=user, endpoint="code")
assert outcome.value == "1", outcome
print("code run: 1 user")
"""


def main() -> None:
    wheel = Path(sys.argv[1]).resolve()
    check_contents(wheel)
    with tempfile.TemporaryDirectory() as folder:
        python = install(wheel, Path(folder) / "environment")
        run(python, "-c", IMPORT_ALL, folder=folder)
        try_in_a_project(python, Path(folder) / "site")


def check_contents(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    missing = [what for what, start in NEEDED.items() if not any(name.startswith(start) for name in names)]
    foreign = [name for name in names if not name.startswith(("mcp_server/", "django_mcp_toolkit-"))]
    assert not missing, f"not in the wheel: {missing}"
    assert not foreign, f"should not be in the wheel: {foreign[:5]}"
    print(f"{wheel.name}: {len(names)} files")


def install(wheel: Path, folder: Path) -> Path:
    venv.create(folder, with_pip=True)
    python = folder / "bin/python"
    run(python, "-m", "pip", "install", "-q", str(wheel), folder=folder)
    return python


def try_in_a_project(python: Path, site: Path) -> None:
    """Follow the README's three steps in a new project, whose own settings must not make our migrations change."""
    site.mkdir()
    run(python, "-m", "django", "startproject", "site_of_mine", ".", folder=site)
    run(python, "manage.py", "startapp", "sums", folder=site)
    settings = site / "site_of_mine/settings.py"
    settings.write_text(
        settings.read_text()
        + 'INSTALLED_APPS += ["mcp_server", "sums"]\nLANGUAGE_CODE = "de"\nUSE_TZ = False\n'
        + 'DEFAULT_AUTO_FIELD = "django.db.models.AutoField"\n'
    )
    examples = ROOT / "docs/examples/start"
    (site / "site_of_mine/urls.py").write_text((examples / "urls.py").read_text())
    (site / "sums/mcp_tools.py").write_text((examples / "mcp_tools.py").read_text())
    for arguments in (
        ("check", "--fail-level", "WARNING"),
        ("makemigrations", "--check", "--dry-run"),
        ("migrate", "-v", "0"),
        ("mcp_tools",),
        ("shell", "-c", RUN_ONE),
        ("mcp_token", "create", "ada", "--name", "laptop"),
    ):
        run(python, "manage.py", *arguments, folder=site)


def run(python: Path, *arguments: str, folder) -> None:
    done = subprocess.run(
        [python, "-I" if arguments[0] == "-c" else "-B", *arguments],
        cwd=folder, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False,
    )  # fmt: skip
    assert done.returncode == 0, f"{arguments[:3]}: {done.stdout}{done.stderr}"
    print(f"{' '.join(arguments[:3])[:60]}: {done.stdout.strip().splitlines()[-1:] or 'ok'}")


if __name__ == "__main__":
    main()
