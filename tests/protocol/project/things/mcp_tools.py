"""Tools of the served project, one for each thing that a transport can get wrong."""

import asyncio
import threading
import time
from typing import Annotated

from django.contrib.auth.models import Group
from django.http import HttpRequest
from pydantic import Field
from typing_extensions import TypedDict

from mcp_server import Context, ToolError, has_perm, tool


class Sum(TypedDict):
    total: int


@tool
def add(a: int, b: int) -> Sum:
    """Add two numbers."""
    return {"total": a + b}


@tool
async def add_later(a: int, b: int) -> int:
    """Add two numbers on the event loop."""
    await asyncio.sleep(0)
    return a + b


@tool
def who_am_i(request: HttpRequest) -> str:
    """Tell who calls."""
    return request.user.get_username() or "nobody"


@tool
def fail(status: int = 404) -> str:
    """Fail as told."""
    raise ToolError("Nothing there", status)


@tool
def crash() -> str:
    """Raise what no client may read."""
    raise RuntimeError("postgres://admin:hunter2@db/prod")


@tool(enabled="auth.change_user")
def staff_only() -> str:
    """Is there for those who may change users."""
    return "welcome"


@tool(enabled=has_perm("auth.add_group"))
def write_then_fail(name: str) -> str:
    """Write a row, then fail."""
    Group.objects.create(name=name)
    raise ToolError("After the write")


@tool
async def work(ctx: Context, steps: int = 3, pause: float = 0.02) -> str:
    """Report progress and log lines while working."""
    for step in range(1, steps + 1):
        await ctx.aprogress(step, steps, f"step {step}")
        await ctx.alog(f"did {step}")
        await asyncio.sleep(pause)
    return "done"


@tool
def work_in_thread(ctx: Context, steps: int = 3) -> str:
    """Report progress from a plain function."""
    for step in range(1, steps + 1):
        ctx.progress(step, steps, f"step {step}")
        time.sleep(0.02)
    return threading.current_thread().name


@tool
async def sleep(seconds: Annotated[float, Field(le=30)], token: str) -> str:
    """Wait, and leave a note when cancelled."""
    try:
        await asyncio.sleep(seconds)
    except asyncio.CancelledError:
        await Group.objects.acreate(name=f"cancelled {token}")
        raise
    return "slept"
