"""Settings for the tests: the demo project's, with a database on file so that threads see each other's rows."""

import os
import sys
import tempfile
from pathlib import Path

from demo_project.settings import *  # noqa: F403
from demo_project.settings import BASE_DIR, DATABASES, MCP_SERVER

_worker = os.environ.get("PYTEST_XDIST_WORKER", "main")
_folder = Path(tempfile.gettempdir()) / f"django-mcp-toolkit-tests-{os.getuid()}"
_folder.mkdir(exist_ok=True)
DATABASES["default"]["TEST"] = {"NAME": str(_folder / f"test-{_worker}-{os.getpid()}.sqlite3")}
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
if folder := os.environ.get("COVERAGE_OF_WORKERS"):
    # Only where CI measures them: a worker under a tracer is slower, and not what is deployed.
    COMMAND = [sys.executable, str(BASE_DIR / "tests/worker_coverage.py"), folder]
    MCP_SERVER["SANDBOX"] = {"COMMAND": COMMAND}
