"""`code` and `search`: ordinary definitions, whose handlers reach the other tools through the same spine (design 3)."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from mcp_server.calls.context import CallContext
from mcp_server.codemode.catalog import describe_search
from mcp_server.codemode.names import CODE, SEARCH
from mcp_server.definitions.annotations import Annotations
from mcp_server.definitions.context import Context
from mcp_server.definitions.origin import Origin
from mcp_server.definitions.results import ToolResult
from mcp_server.definitions.settings import LONGEST_TIMEOUT
from mcp_server.definitions.tool import ToolDefinition
from mcp_server.schema.signature import read_arguments

_HERE = Origin(__name__, 0)


async def _run(code: str, context: Context) -> ToolResult:
    """Run a program.

    Args:
        code: JavaScript or TypeScript: the body of an async function that returns the answer.
    """
    # Here: the parser and the sandbox are some four MB that an endpoint without code mode never needs.
    from mcp_server.codemode.messages import render_program
    from mcp_server.codemode.program import run_program

    assert isinstance(context, CallContext)  # noqa: S101 - the dispatcher gives no other
    return render_program(await run_program(context.caller, code))


async def _search(
    query: str, context: Context, limit: int = 8, tags: list[str] | None = None, group: str | None = None
) -> str:
    """Find tools.

    Args:
        query: words for what you want to do.
        limit: most tools in the answer.
        tags: only tools that have one of these.
        group: only tools of this group.
    """
    from mcp_server.codemode.finding import find_tools

    assert isinstance(context, CallContext)  # noqa: S101 - as above
    return await find_tools(context.caller, query, limit=limit, tags=tags, group=group)


_CODE_ARGUMENTS = read_arguments(
    _run,
    descriptions={"code": "JavaScript or TypeScript: the body of an async function that returns the answer."},
    context_type=Context,
)
_SEARCH_ARGUMENTS = read_arguments(
    _search,
    descriptions={
        "query": "Words for what you want to do.",
        "limit": "Most tools in the answer.",
        "tags": "Only tools that have one of these.",
        "group": "Only tools of this group.",
    },
    context_type=Context,
)


def build_code_tool(inside: Sequence[ToolDefinition], description: str) -> ToolDefinition:
    """Return `code` for a caller whose programs may call the tools `inside`."""
    definition = ToolDefinition(
        name=CODE,
        title="Run code",
        handler=_run,
        origin=_HERE,
        given_description=description,
        given_group="",
        annotations=_reach(tuple(inside)),
        # The run's own limits end it sooner; this is the ceiling that no call may pass.
        timeout=LONGEST_TIMEOUT,
        recorded=False,
    )
    return _with_arguments(definition, _CODE_ARGUMENTS)


def build_search_tool(count: int) -> ToolDefinition:
    """Return `search` for a caller who sees `count` tools."""
    definition = ToolDefinition(
        name=SEARCH,
        title="Search tools",
        handler=_search,
        origin=_HERE,
        given_description=describe_search(count),
        given_group="",
        annotations=Annotations(read_only=True, destructive=False, idempotent=True, open_world=False),
    )
    return _with_arguments(definition, _SEARCH_ARGUMENTS)


def _with_arguments(definition: ToolDefinition, arguments: Any) -> ToolDefinition:
    # The definition differs from user to user, its arguments do not: reading them again would cost a millisecond.
    vars(definition).update(arguments=arguments, output=None)
    return definition


@lru_cache(maxsize=64)
def _reach(inside: tuple[ToolDefinition, ...]) -> Annotations:
    """Return the hints of a program: all that any tool it may call does (contract C16)."""
    hints = [item.annotations or Annotations() for item in inside]
    read_only = all(item.read_only for item in hints)
    return Annotations(
        read_only=read_only,
        destructive=not read_only
        and any(not item.read_only and item.destructive is not False for item in hints),
        open_world=any(item.open_world is not False for item in hints),
    )
