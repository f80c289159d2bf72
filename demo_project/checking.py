"""One round through a demo that runs in a process of its own, with the official client in both protocol eras."""

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from http.cookiejar import CookieJar
from pathlib import Path
from typing import Any
from urllib.parse import urlencode
from urllib.request import HTTPCookieProcessor, OpenerDirector, build_opener

from django.conf import settings
from django.core.management import CommandError

from demo_project.accounts import STAFF

PROGRAMS = Path(__file__).parent / "programs"
ERAS = {"2025": "legacy", "2026": "auto"}
END_OF_INTRODUCTION = "Ctrl-C ends the demo."
Write = Callable[[str], object]
Servers = dict[str, dict[str, Any]]


def check_demo(write: Write) -> None:
    """Start a demo with a database of its own, list, call, run, look at the admin, and stop it with Ctrl-C.

    Raises:
        CommandError: what did not hold.
    """
    with running_demo() as servers:
        write(f"started     {servers['demo']['url']}")
        run_check(check_endpoints(servers, write))
        check_admin(servers["demo"]["url"].removesuffix("/mcp"), write)
    write("stopped     Ctrl-C, exit code 0")


def run_check(check: Coroutine[Any, Any, None]) -> None:
    """Run a check that uses the SDK's client, whose task groups wrap what goes wrong.

    Raises:
        CommandError: what did not hold.
    """
    try:
        asyncio.run(check)
    except BaseExceptionGroup as group:
        error: BaseException = group
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        raise CommandError(f"The demo does not work: {type(error).__name__}: {error}") from group


@contextmanager
def running_demo() -> Iterator[Servers]:
    """Give the staff user's client configuration of a demo that runs within the block, on a free port.

    Raises:
        CommandError: when it does not start, or does not end cleanly.
    """
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, str(settings.BASE_DIR / "manage.py"), "demo", "--port", "0"]
        environment = {**os.environ, "DEMO_DATABASE": str(Path(folder) / "demo.sqlite3")}
        process = subprocess.Popen(
            command, env=environment, stdout=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL
        )
        try:
            yield _read_introduction(process)
            process.send_signal(signal.SIGINT)
            _require(process.wait(timeout=30) == 0, f"it ended with exit code {process.returncode}")
        finally:
            process.kill()
            process.communicate()


def _read_introduction(process: "subprocess.Popen[str]") -> Servers:
    """Return the first client configuration that the demo prints."""
    lines = []
    for line in process.stdout or ():
        lines.append(line)
        if END_OF_INTRODUCTION in line:
            break
    else:
        raise CommandError(f"The demo did not start: exit code {process.wait()}\n{''.join(lines)}")
    text = "".join(lines)
    servers: Servers = json.JSONDecoder().raw_decode(text, text.index("{"))[0]["mcpServers"]
    return servers


async def check_endpoints(servers: Servers, write: Write) -> None:
    """List, call and run code in both protocol eras.

    Raises:
        CommandError: what did not hold.
    """
    # The SDK takes long to import; only this check needs it.
    import httpx2
    from mcp.client import Client
    from mcp.client.streamable_http import streamable_http_client

    for era, mode in ERAS.items():
        for check, server in ((_check_tools, servers["demo"]), (_check_code, servers["demo-code"])):
            async with (
                httpx2.AsyncClient(headers=server["headers"], timeout=60) as http,
                Client(streamable_http_client(server["url"], http_client=http), mode=mode) as client,
            ):
                await check(client, f"({client.protocol_version}, era {era})", write)


async def _check_tools(client: Any, era: str, write: Write) -> None:
    names = [tool.name for tool in (await client.list_tools()).tools]
    _require({"list-users", "delete-user", "order-stats"} <= set(names), f"the list of tools is {names}")
    write(f"tools/list  {len(names)} tools {era}")
    result = await client.call_tool("get-user", {"id": "123"})
    _require(not result.is_error and result.structured_content["id"] == "123", f"get-user returned {result}")
    write(f"tools/call  get-user: {result.structured_content['name']} {era}")


async def _check_code(client: Any, era: str, write: Write) -> None:
    result = await client.call_tool("code", {"code": (PROGRAMS / "parallel.js").read_text()})
    _require(not result.is_error, f"the program failed: {result}")
    _require(
        result.structured_content["userCount"] == 50, f"the program returned {result.structured_content}"
    )
    write(f"code run    {json.dumps(result.structured_content)} {era}")


def check_admin(address: str, write: Write) -> None:
    """Sign in as staff, and look at the style sheet and the runs.

    Raises:
        CommandError: what did not hold.
    """
    opener = build_opener(HTTPCookieProcessor(CookieJar()))
    form = _get(opener, f"{address}/admin/login/?next=/admin/")
    token = _find(r'name="csrfmiddlewaretoken" value="(\w+)"', form)
    answer = {
        "username": STAFF.username,
        "password": STAFF.password,
        "csrfmiddlewaretoken": token,
        "next": "/admin/",
    }
    with opener.open(f"{address}/admin/login/", urlencode(answer).encode()) as response:
        page = response.read().decode()
    _require("/admin/logout/" in page, "signing in to the admin failed")
    _get(opener, address + _find(r'href="(/static/[^"]+\.css)"', page))
    runs = _get(opener, address + _find(r'href="(/admin/mcp_toolkit/coderun/)"', page))
    _require(
        "/admin/mcp_toolkit/coderun/" in _find(r'<table id="result_list">(.*?)</table>', runs),
        "no run is listed",
    )
    write("admin       signed in, style sheet served, the runs are listed")


def _get(opener: OpenerDirector, url: str) -> str:
    with opener.open(url) as response:
        text: str = response.read().decode()
    return text


def _find(pattern: str, page: str) -> str:
    found = re.search(pattern, page, re.DOTALL)
    if found is None:
        raise CommandError(f"The demo does not work: {pattern} is not on the page.")
    return found[1]


def _require(condition: bool, otherwise: str) -> None:
    if not condition:
        raise CommandError(f"The demo does not work: {otherwise}.")
