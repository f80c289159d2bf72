"""Small projects on disk, for what happens when Django starts: discovery and checks."""

import json
import os
import subprocess
import sys
from pathlib import Path
from textwrap import dedent
from typing import Any

ROOT = Path(__file__).resolve().parents[2]

SETTINGS = """
SECRET_KEY = "x" * 50
ALLOWED_HOSTS = ["testserver"]
ROOT_URLCONF = "urls"
USE_TZ = True
INSTALLED_APPS = ["django.contrib.auth", "django.contrib.contenttypes", "mcp_server", *{apps!r}]
DATABASES = {{"default": {{"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}}}}
MCP_SERVER = {options!r}
"""

LIST = """
import json, logging
import django
django.setup()
from django.core.management import call_command
call_command("migrate", verbosity=0)
from mcp_server.testing import MCPClient, MCPError
try:
    print(json.dumps(MCPClient().list_tools()))
except MCPError as error:
    print(json.dumps([error.status, str(error)]))
"""

NAMES = """
import json
import django
django.setup()
from mcp_server.definitions.registry import registry
print(json.dumps(list(registry.endpoint("default").tools)))
"""


class Project:
    """A folder with a settings module and apps."""

    def __init__(self, folder: Path, *apps: str, **options: Any) -> None:
        self.folder = folder
        options.setdefault("ENDPOINTS", {"default": {"LOGIN_REQUIRED": False}})
        self.write("settings.py", SETTINGS.format(apps=list(apps), options=options))
        self.write("urls.py", 'from mcp_server import mcp_urls\nurlpatterns = [*mcp_urls("mcp")]\n')
        for app in apps:
            self.write(f"{app}/__init__.py", "")

    def write(self, name: str, text: str) -> None:
        """Write a file of the project."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text), encoding="utf-8")

    @property
    def environment(self) -> dict[str, str]:
        """Return the variables with which Python finds the project."""
        paths = os.pathsep.join([str(self.folder), str(ROOT)])
        return {**os.environ, "DJANGO_SETTINGS_MODULE": "settings", "PYTHONPATH": paths}

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run Python there."""
        return subprocess.run(
            [sys.executable, *arguments],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    def check(self) -> str:
        """Return all that `manage.py check` prints, on one line each."""
        done = self.run("-m", "django", "check")
        return done.stderr + done.stdout

    def listed(self) -> tuple[Any, str]:
        """Return what a client's list says, by name, and the log."""
        done = self.run("-c", LIST)
        assert done.returncode == 0, done.stderr
        found = json.loads(done.stdout.splitlines()[-1])
        tools = {item["name"]: item for item in found} if found and isinstance(found[0], dict) else found
        return tools, done.stderr

    def names(self) -> list[str]:
        """Return the names of the default endpoint's tools, without a request."""
        done = self.run("-c", NAMES)
        assert done.returncode == 0, done.stderr
        found: list[str] = json.loads(done.stdout)
        return found
