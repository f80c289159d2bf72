"""Tools of the served project, one for each thing that a transport can get wrong."""

import asyncio
import itertools
import threading
import time
from pathlib import Path
from typing import Annotated, Any, Literal

from django.contrib.auth.models import Group, Permission, User
from django.http import HttpRequest
from pydantic import BaseModel, Field
from typing_extensions import TypedDict

from mcp_server import (
    Context,
    EmbeddedResource,
    Image,
    ToolError,
    has_perm,
    is_authenticated,
    prompt,
    resource,
    tool,
)


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


@tool(enabled=lambda request: isinstance(request, HttpRequest) and bool(request.get_host()))
def for_requests() -> str:
    """Is there for a whole request."""
    return "here"


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


class Wish(BaseModel):
    """What to deliver."""

    color: Literal["red", "blue"]
    count: int = Field(ge=1, le=5)


@tool
async def order(ctx: Context, prefix: str = "") -> str:
    """Ask what to deliver, then for a confirmation."""
    answer = await ctx.aelicit("What shall it be?", Wish)
    if not answer:
        return f"{prefix}{answer.action}"
    agreed = await ctx.aconfirm(f"Deliver {answer.data.count} in {answer.data.color}?")
    return f"{prefix}{answer.data.count} {answer.data.color}" if agreed else f"{prefix}called off"


@tool(atomic=False)
def order_in_thread(ctx: Context) -> str:
    """Ask from a plain function."""
    answer = ctx.elicit("What shall it be?", Wish)
    return f"{answer.data.count} {answer.data.color}" if answer else answer.action


@tool(atomic=True)
def order_in_transaction(ctx: Context) -> str:
    """Ask where nobody may be asked."""
    return str(ctx.confirm("Really?"))


@tool
async def summarize(ctx: Context, text: str) -> str:
    """Ask the client's model, and for its roots, side by side."""
    message = {"role": "user", "content": {"type": "text", "text": text}}
    said, roots = await asyncio.gather(
        ctx.aask("sampling/createMessage", {"messages": [message], "maxTokens": 10}, key="summary"),
        ctx.aask("roots/list", key="roots"),
    )
    return f"{said['content']['text']} in {len(roots['roots'])} roots"


@tool
async def wait_for_cancel(ctx: Context, token: str) -> str:
    """Say that it runs, then wait."""
    await ctx.aprogress(1)
    try:
        await asyncio.sleep(20)
    except asyncio.CancelledError:
        await Group.objects.acreate(name=f"cancelled {token}")
        raise
    return "never"


@tool
async def linger(ctx: Context, token: str, beat: float = 30) -> str:
    """Say that it runs, then report progress at every beat; leave a note of when it was cancelled."""
    await Group.objects.acreate(name=f"running {token}")
    try:
        for step in itertools.count(1):
            await ctx.aprogress(step)
            await asyncio.sleep(beat)
    except asyncio.CancelledError:
        noticed = time.monotonic()
        await Group.objects.acreate(name=f"left {token} {noticed}")
        raise
    return "never"


@resource("note://welcome")
def welcome() -> str:
    """Read the welcome."""
    return "Wëlcome"


@resource("note://data", mime_type="application/json")
async def data() -> dict[str, list[int]]:
    return {"numbers": [1, 2]}


@resource("note://picture", mime_type="image/png")
def picture() -> bytes:
    return b"\x89PNG"


@resource("user://{name}/{field}", complete={"name": User.objects.values_list("username", flat=True)})
def user(name: str, field: Literal["username", "email"], request: HttpRequest) -> dict[str, str]:
    """One field of a user."""
    found = User.objects.get(username=name)
    return {field: getattr(found, field), "reader": request.user.get_username()}


@resource("secret://plan", enabled="auth.change_user")
def plan() -> str:
    return "the plan"


resource("files://{+path}", root=Path(__file__).parent / "files")
resource("file://guide", file=Path(__file__).parent / "files" / "guide.md")


@prompt(
    complete={
        "language": ["Dutch", "Danish", "German"],
        "tone": lambda typed, language="": [f"{language}-{typed}"],
    }
)
def translate(text: str, language: str, tone: str = "plain") -> list[Any]:
    """Translate a text.

    Args:
        text: what to translate.
        language: into which.
    """
    return [
        {"role": "assistant", "content": f"I translate into {language}, {tone}."},
        text,
        EmbeddedResource(uri="note://welcome", text="Wëlcome", mime_type="text/plain"),
        Image(b"\x89PNG"),
    ]


@prompt(enabled="auth.change_user")
async def plan_attack() -> str:
    return "Attack"


@prompt
async def survey(ctx: Context, count: int) -> str:
    """Ask before it speaks."""
    answer = await ctx.aelicit("What shall it be?", Wish)
    return f"{answer.data.color} {count}"


@tool(enabled="auth.view_group")
def for_group_viewers() -> str:
    return "here"


@prompt(enabled="auth.view_group")
def prompt_for_group_viewers() -> str:
    return "here"


@tool(enabled=is_authenticated)
def permit(request: HttpRequest, codename: str, give: bool) -> str:
    """Give the caller a permission, or take it."""
    permission = Permission.objects.get(codename=codename)
    if give:
        request.user.user_permissions.add(permission)
    else:
        request.user.user_permissions.remove(permission)
    return "done"


@tool
def touch(ctx: Context, uri: str, undo: bool = False) -> str:
    """Say that a resource changed; with `undo`, in a transaction that does not commit."""
    ctx.notify_resource_updated(uri)
    if undo:
        raise ToolError("Undone")
    return "touched"


@tool(timeout=0.5)
async def order_in_time(ctx: Context) -> str:
    """Ask, with little patience."""
    return (await ctx.aelicit("What shall it be?", Wish)).action


async def is_on_record(request: HttpRequest) -> bool:
    return await User.objects.filter(username=request.user.get_username()).aexists()


@tool(endpoints=("awaiting",), enabled=is_on_record)
def for_those_on_record() -> str:
    """Is there for whom the database knows."""
    return "here"
