"""A rolling restart under constant load: no failed request but those that a closing server may refuse."""

import asyncio
import itertools
import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import httpx2
import pytest

from tests.deploy import probe, processes, services
from tests.deploy.probe import play
from tests.deploy.served import Command, Served, Site, gunicorn, serve, sqlite_site, uvicorn
from tests.deploy.situation import Stage, situation

CLIENTS = 8
# What the deployment page recommends: another server is asked where one did not take the request, and where none can
# know whether it did, the client is told when to ask again.
_CONFIGURATION = """
upstream site {{ {servers} }}
server {{
    listen 127.0.0.1:{port};
    location / {{
        proxy_pass http://site;
        proxy_http_version 1.1;
        proxy_set_header Host $http_host;
        proxy_read_timeout 60s;
        proxy_next_upstream error timeout;
        error_page 502 503 504 = @closing;
    }}
    location @closing {{
        internal;
        default_type application/json;
        add_header Retry-After 1 always;
        return 503 '{{"jsonrpc":"2.0","id":null,"error":{{"code":-32603,"message":"Restarting. Try again in a second."}}}}';
    }}
}}
"""


@dataclass
class Load:
    """What eight clients saw."""

    answered: Counter[str] = field(default_factory=Counter)
    closing: int = 0
    busy: int = 0
    wrong: list[str] = field(default_factory=list)
    over: bool = False

    @property
    def refused(self) -> int:
        """Return how many were told to come again."""
        return self.closing + self.busy


@situation("rolling restart under load, uvicorn")
@pytest.mark.proves("P07a", "A07b", "S10a")
def rolling_asgi(stage: Stage) -> None:
    """Three processes are replaced in turn, again and again; MCP is served by the view."""
    _roll(stage, sqlite_site(stage), uvicorn("--timeout-graceful-shutdown", "10"))


@situation("rolling restart under load, uvicorn and the ASGI door")
@pytest.mark.proves("P07a", "A07b", "S10a")
def rolling_door(stage: Stage) -> None:
    """The same, served by the door."""
    stage.need_time()
    _roll(stage, sqlite_site(stage).having(SITE_DOOR="1"), uvicorn("--timeout-graceful-shutdown", "10"))


@situation("rolling restart under load, gunicorn")
@pytest.mark.proves("P07a", "A07b", "S10a")
def rolling_wsgi(stage: Stage) -> None:
    """The same without an event loop."""
    stage.need_time()
    _roll(stage, sqlite_site(stage), gunicorn("-w", "1", "--graceful-timeout", "10"))


def _roll(stage: Stage, site: Site, command: Command) -> None:
    served = [serve(stage, site, command) for _ in range(3)]
    port = processes.free_port()
    servers = " ".join(f"server 127.0.0.1:{one.port} max_fails=0;" for one in served)
    services.nginx(stage, _CONFIGURATION.format(servers=servers, port=port), port)
    for one in served:
        probe.play(probe.try_code(one.url, site.token))
    url = f"http://127.0.0.1:{port}/mcp"
    load = play(
        _load(url, site, lambda: _replace_in_turn(stage, served, command), stage.seconds), stage.seconds + 90
    )
    for one in served:
        one.stop()
    assert not load.wrong, f"{len(load.wrong)} wrong, the first: {load.wrong[:3]}"
    _check_log(site, load)
    stage.note(
        f"{load.answered['add']} calls and {load.answered['code']} runs answered,"
        f" {load.closing} refused by a closing server and {load.busy} by a busy one, all with a retry hint"
    )


def _replace_in_turn(stage: Stage, served: list[Served], command: Command) -> None:
    """Stop each of the servers as a service manager does, and start the next release at its place."""
    for number, old in enumerate(list(served)):
        old.stop()
        served[number] = serve(stage, old.site, command, port=old.port)
        # The first request loads what a process loads once; a real roll-out asks its health check for the same.
        play_ready(served[number])


def play_ready(served: Served) -> None:
    """Wait until a server answers."""
    processes.wait_for(lambda: _answers(served), "the new server")


def _answers(served: Served) -> bool:
    try:
        return httpx2.get(f"{served.address}/mcp", timeout=10).status_code < 500
    except httpx2.HTTPError:
        return False


async def _load(url: str, site: Site, roll: Callable[[], None], seconds: float) -> Load:
    load = Load()
    clients = [asyncio.create_task(_client(url, site.token, load)) for _ in range(CLIENTS)]
    end = asyncio.get_running_loop().time() + seconds
    rounds = 0
    while rounds == 0 or asyncio.get_running_loop().time() < end:
        await asyncio.to_thread(roll)
        rounds += 1
    load.over = True
    await asyncio.gather(*clients)
    return load


async def _client(url: str, token: str, load: Load) -> None:
    """Call without a pause; every tenth request is a program that calls twice."""
    headers = {"Authorization": f"Bearer {token}", "Accept": "application/json, text/event-stream"}
    program = {"code": "return await codemode.add({a: 1, b: 1}) + await codemode.add({a: 1, b: 1})"}
    async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
        for number in itertools.count():
            if load.over:
                return
            name, address, arguments = (
                ("code", f"{url}/code", program) if number % 10 == 0 else ("add", url, {"a": 2, "b": 2})
            )
            params = {"name": name, "arguments": arguments}
            message = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}
            await _send(http, address, message, load)


async def _send(http: httpx2.AsyncClient, url: str, message: dict[str, Any], load: Load) -> None:
    try:
        answer = await http.post(url, json=message)
    except httpx2.HTTPError as error:
        load.wrong.append(f"{type(error).__name__}: {error}")
        return
    if answer.status_code == 503 and "retry-after" in answer.headers:
        load.closing += 1
        await asyncio.sleep(0.1)
        return
    name = message["params"]["name"]
    text = answer.text
    if answer.headers.get("content-type", "").startswith("text/event-stream"):
        text = next(line[6:] for line in text.splitlines() if line.startswith("data: {"))
    result = json.loads(text).get("result", {}) if answer.status_code == 200 else {}
    said = result.get("content", [{}])[0].get("text", "")
    if said == {"add": "4", "code": "4"}[name]:
        load.answered[name] += 1
    elif result.get("isError") and "Try again" in said and "max_concurrent_runs" in said:
        load.busy += 1
    elif result.get("isError") and "again in a moment" in said:
        load.closing += 1
    else:
        load.wrong.append(f"{name}: {answer.status_code} {text[:300]}")


def _check_log(site: Site, load: Load) -> None:
    """Each answered call and run stands in the log; one more may, whose answer a closing server could not send."""
    calls, runs = json.loads(
        site.shell(
            "import json; from mcp_server.models import CodeRun, ToolCall\n"
            "print(json.dumps([ToolCall.objects.filter(tool='add', run=None).count(),"
            " CodeRun.objects.filter(status='ok').count()]))"
        )
    )
    warmed = 3
    assert load.answered["add"] <= calls <= load.answered["add"] + load.refused, (calls, load)
    assert load.answered["code"] + warmed <= runs <= load.answered["code"] + warmed + load.refused, (
        runs,
        load,
    )
