"""What needs apps that the demo does without: django-oauth-toolkit and REST framework, in a process of their own."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
CASES = sorted((ROOT / "tests/access/extras").glob("cases_*.py"))
SETTINGS = "tests.access.extras.settings"


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        env={**os.environ, **environment},
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=300,
    )


def test_tokens_of_an_oauth_server_and_of_rest_framework_sign_in():
    options = ["-q", "--no-header", "-p", "no:cacheprovider", "-p", "no:xdist", f"--ds={SETTINGS}"]
    ended = run("-m", "pytest", *options, *map(str, CASES))
    assert ended.returncode == 0, ended.stdout


def test_a_project_that_names_it_without_the_extra_is_told_by_check(tmp_path):
    hidden = tmp_path / "sitecustomize.py"
    hidden.write_text("import sys; sys.modules['oauth2_provider'] = None\n")
    (tmp_path / "without_oauth.py").write_text(
        "from tests.settings import *\n"
        "MCP_SERVER = {'AUTHENTICATION': ['mcp_server.access.oauth.OAuthAuthentication']}\n"
    )
    path = os.pathsep.join([str(tmp_path), str(ROOT)])
    ended = run("-m", "django", "check", "--settings=without_oauth", PYTHONPATH=path)
    assert ended.returncode == 1
    assert "mcp_toolkit.E001" in ended.stdout
    assert "oauth2_provider" in ended.stdout
