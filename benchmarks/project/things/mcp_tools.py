"""The tools, each sync and async, filled up to a hundred."""

from typing import Any

from django.contrib.auth.models import Group

from benchmarks.project import work
from mcp_server import tool


@tool(name="add-sync")
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return work.add(a, b)


@tool(name="add-async")
async def add_later(a: int, b: int) -> int:
    """Add two numbers."""
    return work.add(a, b)


@tool(name="rows-sync")
def rows() -> list[dict[str, Any]]:
    """Read a hundred rows."""
    return work.rows()


@tool(name="rows-async")
async def rows_later() -> list[dict[str, Any]]:
    """Read a hundred rows."""
    return [row async for row in Group.objects.values("id", "name")]


@tool(name="echo-sync")
def echo(text: str) -> str:
    """Give a text back."""
    return work.echo(text)


@tool(name="echo-async")
async def echo_later(text: str) -> str:
    """Give a text back."""
    return work.echo(text)


for number in range(6, 100):

    @tool(name=f"tool-{number:03}")
    def another(text: str, count: int = 1) -> str:
        """One of many tools, with two arguments."""
        return text * count
