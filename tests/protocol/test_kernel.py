"""What is loaded when, and what we lean on (Q08)."""

import os
import subprocess
import sys

import pytest

from mcp_server.protocol import kernel


def loaded_after(code: str) -> set[str]:
    """The packages that a fresh interpreter has loaded after `code`."""
    script = f"{code}\nimport sys\nprint(*{{name.partition('.')[0] for name in sys.modules}})"
    # Django 6.1's checks ask the database for its version.
    environment = {**os.environ, "TEST_DATABASE": ":memory:"}
    done = subprocess.run(
        [sys.executable, "-c", script], check=True, capture_output=True, text=True, env=environment
    )
    return set(done.stdout.split())


def test_every_kernel_name_is_there() -> None:
    assert all(hasattr(kernel, name) for name in kernel.__all__)


@pytest.mark.proves("Q08a")
def test_importing_the_package_loads_neither_the_sdk_nor_v8_nor_pydantic() -> None:
    found = loaded_after("import mcp_server")
    assert not found & {
        "mcp",
        "mcp_types",
        "pydantic",
        "pydantic_core",
        "py_mini_racer",
        "channels",
        "starlette",
    }


@pytest.mark.proves("Q08b")
def test_checking_a_project_with_its_urls_loads_neither_the_sdk_nor_v8() -> None:
    found = loaded_after(
        "import os; os.environ['DJANGO_SETTINGS_MODULE'] = 'tests.protocol.project.settings'\n"
        "import django; django.setup()\n"
        "from django.core.management import call_command; call_command('check', verbosity=0)\n"
        "from django.urls import resolve; assert resolve('/mcp').url_name == 'mcp'"
    )
    assert not found & {"mcp", "mcp_types", "py_mini_racer", "starlette"}
