"""Clients that people have list and call on a running demo, on its plain and its code endpoint, with a bearer token."""

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
PACKAGES = HERE / "cache/clients"
FASTMCP = HERE / "cache/fastmcp/bin/python"
PATIENCE = 60


def main() -> None:
    sys.path.insert(0, str(ROOT))
    os.environ["DJANGO_SETTINGS_MODULE"] = "demo_project.settings"
    import django

    django.setup()
    from demo_project.checking import PROGRAMS, running_demo

    program = (PROGRAMS / "parallel.js").read_text()
    node = ["node", str(HERE / "clients.mjs")]
    # Each with the revision that it must reach: what a client speaks by itself, and the newest where it can.
    clients = {
        "TypeScript sdk": ("2025-11-25", run_program([*node, "sdk"])),
        "TypeScript client": ("2025-11-25", run_program([*node, "client"])),
        "TypeScript client, negotiating": ("2026-07-28", run_program([*node, "client-auto"])),
        "mcp-remote": ("2026-07-28", run_remote),
        "fastmcp": ("2026-07-28", run_program([FASTMCP, HERE / "clients_fastmcp.py"])),
    }
    with running_demo() as servers:
        failures = [
            name
            for name, (version, client) in clients.items()
            if not try_client(name, version, lambda client=client: client(servers, program))
        ]
    print(f"{len(clients) - len(failures)} passed, {len(failures)} failed")
    sys.exit(bool(failures))


def try_client(name: str, version: str, look) -> bool:
    start = time.monotonic()
    try:
        check(look(), version)
    except Exception as error:
        traceback.print_exception(error, file=sys.stdout)
        print(f"{name}: FAILED", flush=True)
        return False
    print(f"{name}: {version}, lists, calls, runs code, {time.monotonic() - start:.1f} s", flush=True)
    return True


def check(seen, version: str) -> None:
    """Hold what a client saw to what the demo has; each value came all the way through the client."""
    plain, code = seen["plain"], seen["code"]
    require((plain["version"], code["version"]) == (version, version), "revision", seen)
    require({"list-users", "delete-user", "get-user"} <= set(plain["tools"]), "tools", plain["tools"])
    require("code" in code["tools"] and "get-user" not in code["tools"], "tools for code", code["tools"])
    user, value = (one["result"] for one in (plain, code))
    require(not user.get("isError") and user["structuredContent"]["id"] == "123", "call", user)
    require(json.loads(user["content"][0]["text"]) == user["structuredContent"], "text of the call", user)
    require(not value.get("isError") and value["structuredContent"]["userCount"] == 50, "run", value)


def require(condition: bool, what: str, seen) -> None:
    if not condition:
        raise ValueError(f"unexpected {what}: {json.dumps(seen)[:2000]}")


def run_program(command):
    """Return a client that is a program: servers and code as JSON in, what it saw as JSON out."""

    def look(servers, program: str):
        given = json.dumps({"servers": servers, "program": program})
        done = subprocess.run(
            command, input=given, cwd=PACKAGES, capture_output=True, text=True, timeout=PATIENCE, check=False
        )
        if done.returncode:
            raise RuntimeError(f"exit code {done.returncode}\n{done.stdout}\n{done.stderr}")
        return json.loads(done.stdout)

    return look


def run_remote(servers, program: str):
    """Let the SDK's client talk over stdio to mcp-remote, which talks HTTP to the demo."""

    async def look():
        plain = await through_remote(servers["demo"], "get-user", {"id": "123"})
        return {"plain": plain, "code": await through_remote(servers["demo-code"], "code", {"code": program})}

    return asyncio.run(asyncio.wait_for(look(), PATIENCE))


async def through_remote(server, name: str, arguments):
    from mcp import StdioServerParameters
    from mcp.client import Client
    from mcp.client.stdio import stdio_client

    with tempfile.TemporaryDirectory() as folder, (Path(folder) / "log").open("w+") as log:
        headers = [
            part for key, value in server["headers"].items() for part in ("--header", f"{key}: {value}")
        ]
        remote = StdioServerParameters(
            command=str(PACKAGES / "node_modules/.bin/mcp-remote"),
            args=[server["url"], "--allow-http", "--transport", "http-only", *headers],
            # It would keep what it knows of servers in the home directory.
            env={"MCP_REMOTE_CONFIG_DIR": folder},
        )
        try:
            async with Client(stdio_client(remote, errlog=log)) as client:
                tools = [tool.name for tool in (await client.list_tools()).tools]
                result = await client.call_tool(name, arguments)
                found = result.model_dump(mode="json", by_alias=True)
                return {"version": client.protocol_version, "tools": tools, "result": found}
        except BaseException as error:  # a deadline cancels
            log.seek(0)
            error.add_note(log.read()[:2000])
            raise


if __name__ == "__main__":
    main()
