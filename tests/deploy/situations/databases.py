"""PostgreSQL with Django's pool and behind a pooler in transaction mode, and a site on two databases."""

import asyncio
import json
import sys
from typing import Any

import pytest

from tests.deploy import probe, processes, services
from tests.deploy.marking import LISTED
from tests.deploy.probe import call, connect, play, text_of, until
from tests.deploy.served import ROOT, Command, Site, environment, gunicorn, prepare, serve, uvicorn
from tests.deploy.situation import Stage, situation

Settings = dict[str, Any]


@situation("suite on PostgreSQL with Django's pool")
@pytest.mark.proves("P12c")
def suite_pooled(stage: Stage) -> None:
    """The marked part of the suite; each thread borrows its connection from a pool of the process."""
    server = services.postgresql(stage)
    _run_suite(
        stage, {**server.settings("suite_pooled"), "OPTIONS": {"pool": {"max_size": 12, "timeout": 10}}}
    )


@situation("suite on PostgreSQL behind PgBouncer in transaction mode")
@pytest.mark.proves("P12c")
def suite_bounced(stage: Stage) -> None:
    """The marked part of the suite; two transactions of a connection may meet different sessions of the server."""
    server = services.postgresql(stage)
    _run_suite(stage, bounced(server.settings("suite_bounced", services.pgbouncer(stage, server))))


def bounced(settings: Settings) -> Settings:
    """Return Django's settings for a database behind a pooler in transaction mode."""
    return {**settings, "DISABLE_SERVER_SIDE_CURSORS": True}


def _run_suite(stage: Stage, settings: Settings) -> None:
    # A connection of its own to make the test database with; the cluster is thrown away, and the database with it.
    settings = {
        **settings,
        "NAME": "postgres",
        "ATOMIC_REQUESTS": False,
        "TEST": {"NAME": f"test_{settings['NAME']}"},
    }
    options = ["-q", "-x", "-p", "tests.deploy.marking", "-m", "database", "--reuse-db", "--create-db"]
    said = processes.run(
        [sys.executable, "-m", "pytest", *options, "--ds=tests.deploy.settings_postgresql", *LISTED],
        environment({"default": settings}),
        ROOT,
    )
    stage.note(said.strip().splitlines()[-1])


@situation("two databases with a router, pooled by Django")
@pytest.mark.proves("P12a", "P12c")
def two_pooled(stage: Stage) -> None:
    """Rows of one tool go to two databases, both with ATOMIC_REQUESTS."""
    server = services.postgresql(stage)
    pooled = {"OPTIONS": {"pool": {"min_size": 1, "max_size": 8, "timeout": 10}}}
    databases = {
        "default": {**server.make("two_pooled"), **pooled},
        "parcels": {**server.make("parcels_pooled"), **pooled},
    }
    _check_two(stage, prepare(databases))


@situation("two databases with a router, behind PgBouncer")
@pytest.mark.proves("P12a", "P12c")
def two_bounced(stage: Stage) -> None:
    """The same behind a pooler in transaction mode."""
    server = services.postgresql(stage)
    port = services.pgbouncer(stage, server)
    server.make("two_bounced")
    server.make("parcels_bounced")
    databases = {"default": "two_bounced", "parcels": "parcels_bounced"}
    _check_two(
        stage, prepare({alias: bounced(server.settings(name, port)) for alias, name in databases.items()})
    )


def _check_two(stage: Stage, site: Site) -> None:
    for command, name in ((uvicorn(), "asgi"), (gunicorn("-w", "1"), "wsgi")):
        served = serve(stage, site, command)
        probe.check(served)
        play(_check_writes(served.url, site.token, name))
        served.stop()
    _check_rows(site)


async def _check_writes(url: str, token: str, name: str) -> None:
    """What succeeded is in both databases, what failed in none, from outside and inside code, many at once."""
    labels = [f"{name}-{number}" for number in range(12)]
    sent = [call(url, token, "send-parcel", {"label": label}) for label in labels]
    assert await asyncio.gather(*sent) == ["2"] * len(labels)
    program = (
        f"const failed = await Promise.all([1, 2, 3].map(n => codemode.send_parcel({{label: '{name}-failed', fail: true}})"
        f".catch(error => error.status)));\n"
        f"await codemode.send_parcel({{label: '{name}-from-code'}});\n"
        f"return [failed, await codemode.count_parcels({{label: '{name}-failed'}}),"
        f" await codemode.count_parcels({{label: '{name}-from-code'}})].join()"
    )
    assert await call(f"{url}/code", token, "code", {"code": program}) == "409,409,409,0,2"
    async with connect(url, token) as client:
        failed = await client.call_tool("send-parcel", {"label": f"{name}-direct", "fail": True})
        assert failed.is_error
        assert text_of(await client.call_tool("count-parcels", {"label": f"{name}-direct"})) == "0"


def _check_rows(site: Site) -> None:
    """Nothing that was answered is missing from the log (contract A07)."""
    rows = json.loads(
        site.shell(
            "import json; from mcp_server.models import CodeRun, ToolCall\n"
            "print(json.dumps([ToolCall.objects.filter(tool='send-parcel').count(),"
            " CodeRun.objects.filter(status='ok').count()]))"
        )
    )
    assert rows == [2 * (12 + 3 + 1 + 1), 2 * 2], rows


@situation("PostgreSQL stopped and started in the middle")
@pytest.mark.proves("A07b", "A07d")
def database_away(stage: Stage) -> None:
    """While it is away calls fail in words, none hangs or crashes; afterwards all is well, and no row is missing."""
    server = services.postgresql(stage)
    for command, name, options in (
        (uvicorn(), "away_asgi", {"OPTIONS": {"pool": {"min_size": 1, "max_size": 8, "timeout": 1}}}),
        (gunicorn("-w", "1"), "away_wsgi", {"CONN_MAX_AGE": 60, "CONN_HEALTH_CHECKS": True}),
    ):
        site = prepare({"default": {**server.make(name), **options}})
        _check_outage(stage, server, site, command)


def _check_outage(stage: Stage, server: services.PostgreSQL, site: Site, command: Command) -> None:
    served = serve(stage, site, command)
    probe.check(served)
    server.stop()
    try:
        refused = play(_refusal(served.url, site.token))
    finally:
        server.start()
    stage.note(f"while away: {refused}")
    play(until(lambda: probe.try_everything(served.url, site.token)))
    served.stop()
    _check_calls(site)


async def _refusal(url: str, token: str) -> str:
    """Return how a site without its database answers: in JSON, in time, without a word about the database."""
    import httpx2

    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    async with httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=20) as http:
        # For up to a second what is remembered of a token still holds.
        await asyncio.sleep(1.1)
        last = await http.post(url, json=message)
    assert "psycopg" not in last.text
    assert "127.0.0.1" not in last.text
    assert (last.status_code, "retry-after" in last.headers) == (503, True), (last.status_code, last.text)
    return f"{last.status_code} {last.json()['error']['message']}"


def _check_calls(site: Site) -> None:
    counted = site.shell(
        "from mcp_server.models import ToolCall; print(ToolCall.objects.filter(tool='add', run=None).count())"
    )
    assert int(counted) >= 4, counted
