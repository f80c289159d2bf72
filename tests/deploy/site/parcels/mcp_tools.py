"""What a client does with the site: read, write, be asked, subscribe."""

import asyncio
import os

from django.contrib.auth.models import Group
from django.db import connections

from mcp_server import Context, ToolError, endpoint, resource, tool
from tests.deploy.site.parcels.models import Parcel

endpoint("code", code_mode="on")


@tool(annotations="read")
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@tool(annotations="read")
def tell_process() -> int:
    """Tell the id of the process that answers."""
    return os.getpid()


@tool(annotations="create")
def send_parcel(label: str, fail: bool = False) -> int:
    """Write into both databases and return how many rows of that name there are; then fail, if told to."""
    Parcel.objects.create(label=label)
    Group.objects.create(name=label)
    if fail:
        raise ToolError("After the writes", 409)
    return Parcel.objects.filter(label=label).count() + Group.objects.filter(name=label).count()


@tool(annotations="read")
def count_parcels(label: str) -> int:
    """Count the rows of that name, in both databases."""
    return Parcel.objects.filter(label=label).count() + Group.objects.filter(name=label).count()


@tool(annotations="read")
def tell_connection() -> str:
    """Tell the id of the database's session that serves this call."""
    with connections["default"].cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        return str(cursor.fetchone()[0])


@tool
async def wait(seconds: float) -> str:
    """Wait."""
    await asyncio.sleep(seconds)
    return "waited"


@tool
async def ask(ctx: Context) -> str:
    """Ask the person at the client."""
    return "agreed" if await ctx.aconfirm("Shall it be sent?") else "declined"


@resource("parcels://all")
def list_parcels() -> str:
    """List all labels."""
    return "\n".join(Parcel.objects.values_list("label", flat=True))


@tool
async def announce(ctx: Context) -> str:
    """Tell subscribers that the list changed."""
    await ctx.anotify_resource_updated("parcels://all")
    return "announced"
