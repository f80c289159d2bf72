"""What the site stands on: servers, cache, channel layer, memory."""

import asyncio
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from asgiref.sync import async_to_sync
from django.conf import settings
from django.core.cache import InvalidCacheBackendError, caches

from mcp_server.bus import is_shared, publish, subscribe
from mcp_server.conf import options
from mcp_server.definitions.endpoint import DEFAULT
from mcp_server.management.doctor.finding import Finding
from mcp_server.models import Process
from mcp_server.policy.limits import effective_limits

SERVERS = {"uvicorn": "ASGI", "daphne": "ASGI", "hypercorn": "ASGI", "granian": "ASGI", "gunicorn": "WSGI"}
CGROUP_LIMIT = Path("/sys/fs/cgroup/memory.max")
WORKER_BASE_MB = 64
PATIENCE_SECONDS = 5


def check_servers() -> Iterator[Finding]:
    """Say which servers could serve, and which processes do."""
    found = []
    for name, kind in SERVERS.items():
        try:
            found.append(f"{name} {version(name)} ({kind})")
        except PackageNotFoundError:
            continue
    doors = [name for name in ("ASGI", "WSGI") if getattr(settings, f"{name}_APPLICATION", None)]
    text = f"installed: {', '.join(found) or 'none but runserver'}; the project has {' and '.join(doors) or 'no application'}"
    yield Finding("ok", "server", text)
    alive = Process.objects.alive().count()
    yield Finding("ok", "server", f"{alive} processes were heard of in the last minute")


def check_cache() -> Iterator[Finding]:
    """Write to the cache that keeps the answers of tools, and read it back."""
    alias = options().cache
    try:
        cache = caches[alias]
        cache.set("mcp_doctor", "here", 10)
        kept = cache.get("mcp_doctor") == "here"
    except InvalidCacheBackendError as error:
        yield Finding("problem", "cache", f"{alias}: {error}", "Look at CACHES and MCP_SERVER['CACHE'].")
        return
    except Exception as error:  # noqa: BLE001 - each backend raises what its library raises
        yield Finding(
            "problem", "cache", f"{alias} does not answer: {type(error).__name__}", "Look at CACHES."
        )
        return
    backend = type(cache).__name__
    if not kept:
        yield Finding("note", "cache", f"{backend} keeps nothing: `cache=` of tools has no effect")
    elif backend == "LocMemCache":
        yield Finding(
            "note", "cache", "LocMemCache is per process: each one caches and counts rates for itself"
        )
    else:
        yield Finding("ok", "cache", f"{backend} keeps what is written")


def check_channel_layer() -> Iterator[Finding]:
    """Send a message through the channel layer."""
    if not is_shared():
        yield Finding(
            "note",
            "channel layer",
            "none that other processes hear: one process is fine, several cannot tell each other what changed",
            "For several processes set CHANNEL_LAYERS to Redis.",
        )
        return
    try:
        async_to_sync(_send_through_layer)()
    except Exception as error:  # noqa: BLE001 - each layer raises what its library raises
        yield Finding(
            "problem", "channel layer", f"no message came back: {type(error).__name__}", "Is Redis there?"
        )
    else:
        yield Finding("ok", "channel layer", "a message came back")


async def _send_through_layer() -> None:
    async with asyncio.timeout(PATIENCE_SECONDS), subscribe("mcp_doctor") as subscription:
        await publish("mcp_doctor", {"here": True})
        await subscription.get()


def check_memory() -> Iterator[Finding]:
    """Compare what workers may use with what this container has."""
    limits = effective_limits(DEFAULT)
    needed = limits.max_concurrent_runs * (2 * limits.memory_limit_mb + WORKER_BASE_MB)
    text = f"runs may take up to {needed} MB per web process"
    try:
        told = CGROUP_LIMIT.read_text().strip()
    except OSError:
        told = "max"
    if told == "max":
        yield Finding("ok", "memory", f"{text}; no limit of a container is seen")
        return
    available = int(told) // 2**20
    if needed * 2 > available:
        advice = "Lower memory_limit_mb or max_concurrent_runs, or give the container more."
        yield Finding("warning", "memory", f"{text}, and the container has {available} MB", advice)
    else:
        yield Finding("ok", "memory", f"{text}; the container has {available} MB")
