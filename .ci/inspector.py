"""The official inspector lists and calls on a running demo, in both protocol eras, strictly."""

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
INSPECTOR = ROOT / ".ci/cache/npm/node_modules/.bin/mcp-inspector"


def main() -> None:
    sys.path.insert(0, str(ROOT))
    os.environ["DJANGO_SETTINGS_MODULE"] = "demo_project.settings"
    import django

    django.setup()
    from demo_project.checking import running_demo

    with running_demo() as servers:
        for era in ("legacy", "modern"):
            tools = inspect(servers["demo"], era, "--method", "tools/list", "--strict")["tools"]
            assert "list-users" in [tool["name"] for tool in tools], tools
            user = call(servers["demo"], era, "get-user", 'id="123"')
            assert json.loads(user)["id"] == "123", user
            value = call(
                servers["demo-code"], era, "code", "code=return (await codemode.list_users()).length"
            )
            assert "50" in value, value
            print(f"{era}: lists {len(tools)} tools, calls get-user, runs code")


def call(server, era: str, name: str, argument: str) -> str:
    result = inspect(server, era, "--method", "tools/call", "--tool-name", name, "--tool-arg", argument)
    assert not result.get("isError"), result
    return result["content"][0]["text"]


def inspect(server, era: str, *arguments: str):
    command = [INSPECTOR, "--cli", server["url"], "--transport", "http", "--protocol-era", era, *arguments]
    for name, value in server["headers"].items():
        command += ["--header", f"{name}: {value}"]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL, check=False
    )
    assert done.returncode == 0, f"{arguments}: exit code {done.returncode}\n{done.stdout}\n{done.stderr}"
    return json.loads(done.stdout)


if __name__ == "__main__":
    main()
