"""Three processes that share a Redis and nothing else but the database; any of them gets any request."""

import asyncio

import pytest

from tests.deploy import probe, processes, services
from tests.deploy.probe import call, connect, play, until
from tests.deploy.served import Command, Served, Site, gunicorn, serve, sqlite_site, uvicorn
from tests.deploy.services import Redis
from tests.deploy.situation import Stage, situation

# By chance, since the number of a client's requests may be a multiple of three.
_CHANCE = """
upstream site {{ random; {servers} }}
server {{
    listen 127.0.0.1:{port};
    location / {{
        proxy_pass http://site;
        proxy_http_version 1.1;
        proxy_set_header Host $http_host;
        proxy_read_timeout 60s;
    }}
}}
"""


def three(stage: Stage, site: Site, command: Command) -> tuple[list[Served], str]:
    """Return three servers, and the address at which any of them answers."""
    served = [serve(stage, site, command) for _ in range(3)]
    port = processes.free_port()
    servers = " ".join(f"server 127.0.0.1:{one.port};" for one in served)
    services.nginx(stage, _CHANCE.format(servers=servers, port=port), port)
    return served, f"http://127.0.0.1:{port}/mcp"


@situation("three processes with Redis, uvicorn")
@pytest.mark.proves("P01d", "P06a", "P07a")
def asgi_processes(stage: Stage) -> None:
    """No stickiness: a question and its answer, a subscription and its news meet different processes."""
    _check_three(stage, uvicorn(), "core.RedisChannelLayer")


@situation("three processes with Redis, gunicorn")
@pytest.mark.proves("P01d", "P06a", "P07a")
def wsgi_processes(stage: Stage) -> None:
    """The same without an event loop."""
    _check_three(stage, gunicorn("-w", "1"), "pubsub.RedisPubSubChannelLayer")


def _check_three(stage: Stage, command: Command, layer: str) -> None:
    site = sqlite_site(stage).having(SITE_REDIS=services.redis(stage).url, SITE_LAYER=layer)
    served, url = three(stage, site, command)
    for _ in range(2):
        play(probe.try_everything(url, site.token))
    answered = {play(call(url, site.token, "tell-process")) for _ in range(25)}
    assert len(answered) == 3, answered
    for one in served:
        one.stop()


@situation("Redis stopped and started in the middle")
@pytest.mark.proves("P06a")
def redis_away(stage: Stage) -> None:
    """Calls and runs go on without it; news and answers travel again once it is back, on streams that stayed open."""
    redis = services.redis(stage)
    for layer in ("core.RedisChannelLayer", "pubsub.RedisPubSubChannelLayer"):
        site = sqlite_site(stage).having(SITE_REDIS=redis.url, SITE_LAYER=layer)
        served = [serve(stage, site, uvicorn()) for _ in range(2)]
        play(_lose(redis, served, site.token))
        for one in served:
            one.stop()


async def _lose(redis: Redis, served: list[Served], token: str) -> None:
    here, there = (one.url for one in served)
    await probe.try_everything(there, token)
    async with (
        connect(here, token) as client,
        client.listen(resource_subscriptions=["parcels://all"]) as heard,
    ):
        await asyncio.to_thread(redis.stop)
        for url in (here, there):
            await probe.try_calls(url, token, "legacy")
            await probe.try_calls(url, token, "auto")
            await probe.try_question(url, token, "auto")
            await probe.try_code(url, token)
        await asyncio.to_thread(redis.start)
        hearing = asyncio.ensure_future(anext(aiter(heard)))

        async def hear() -> None:
            await call(there, token, "announce")
            await asyncio.wait_for(asyncio.shield(hearing), 1)

        await until(hear)
    await until(lambda: probe.try_everything(here, token))
