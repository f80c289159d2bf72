"""Settings for the tests: the demo project's, with a database on file so that threads see each other's rows."""

import os
import tempfile
from pathlib import Path

from demo_project.settings import *  # noqa: F403
from demo_project.settings import DATABASES

_worker = os.environ.get("PYTEST_XDIST_WORKER", "main")
_folder = Path(tempfile.gettempdir()) / f"django-mcp-toolkit-tests-{os.getuid()}"
_folder.mkdir(exist_ok=True)
DATABASES["default"]["TEST"] = {"NAME": str(_folder / f"test-{_worker}-{os.getpid()}.sqlite3")}
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
