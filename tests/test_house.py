"""Rules of the house that no other tool keeps."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from django.core.management import call_command

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
SOURCES = sorted(
    path
    for folder in ("mcp_server", "demo_project", "tests", "docs", "benchmarks", ".ci")
    for path in (ROOT / folder).rglob("*.py")
    if not {"migrations", "venvs", "cache"} & set(path.parts)
)
FOREIGN_PROJECT = """
import django
from django.conf import settings
from django.core.management import call_command
settings.configure(
    INSTALLED_APPS=["django.contrib.auth", "django.contrib.contenttypes", "mcp_server"],
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}},
    LANGUAGE_CODE="de", USE_TZ=False, DEFAULT_AUTO_FIELD="django.db.models.AutoField",
    MCP_SERVER={"LIMITS": {"max_tool_calls": 7}, "ENDPOINTS": {"code": {"CODE_MODE": "on"}}},
)
django.setup()
call_command("makemigrations", "--check", "--dry-run")
"""


def name_of(requirement: str) -> str:
    return re.split(r"[\[<>=!~ ]", requirement, maxsplit=1)[0]


def test_what_the_readme_installs_holds_every_dependency_of_the_package_unchanged():
    listed = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    assert set(PROJECT["project"]["dependencies"]) <= set(listed)


def test_every_requirement_has_a_floor():
    everything = [line for line in (ROOT / "requirements.txt").read_text().splitlines() if line[0] != "#"]
    everything += [line for group in PROJECT["dependency-groups"].values() for line in group]
    assert [line for line in everything if "==" not in line and ">=" not in line] == []


def test_no_module_is_too_long():
    """400 lines for what is shipped and shown; tests, which are lists of cases, get half as much again."""
    lengths = {path.relative_to(ROOT): len(path.read_text(encoding="utf-8").splitlines()) for path in SOURCES}
    most = {path: 600 if path.parts[0] == "tests" else 400 for path in lengths}
    assert {str(path): length for path, length in lengths.items() if length > most[path]} == {}


def test_no_module_has_a_name_that_says_nothing():
    assert [
        path for path in SOURCES if path.stem in {"utils", "helpers", "helper", "misc", "common", "manager"}
    ] == []


@pytest.mark.django_db
def test_no_migration_is_missing():
    call_command("makemigrations", "--check", "--dry-run")


@pytest.mark.proves("D07c")
def test_a_foreign_project_sees_no_pending_migration():
    command = [sys.executable, "-c", FOREIGN_PROJECT]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, "No changes detected"), done.stderr


@pytest.mark.proves("D07b", "Q08a")
def test_public_names_import_without_django_and_loading_the_package_loads_nothing_heavy():
    script = (
        "import sys, mcp_server\n"
        "heavy = {'mcp', 'mcp_types', 'py_mini_racer', 'pydantic', 'channels', 'django'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
        "names = [getattr(mcp_server, name) for name in mcp_server.__all__]\n"
        "assert not {'mcp', 'mcp_types', 'py_mini_racer'} & set(sys.modules)\n"
        "assert set(mcp_server.__all__) <= set(dir(mcp_server))\n"
        "try:\n    mcp_server.no_such_name\nexcept AttributeError as error:\n    print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.stdout.strip() == "module 'mcp_server' has no attribute 'no_such_name'", done.stderr


@pytest.mark.proves("Q08b", "S01")
def test_checking_the_project_loads_neither_v8_nor_the_sdk_nor_a_parser():
    script = (
        "import os, sys, django\n"
        "os.environ['DJANGO_SETTINGS_MODULE'] = 'demo_project.settings'\n"
        "django.setup()\n"
        "from django.core.management import call_command\n"
        "call_command('check')\n"
        "assert not {'mcp', 'mcp_types', 'py_mini_racer', 'tree_sitter'} & set(sys.modules)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
