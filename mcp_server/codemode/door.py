"""Run code from Python: in tests, commands and a project's own code (contract C20)."""

from typing import Any

from asgiref.sync import async_to_sync

from mcp_server.calls.caller import enter_as
from mcp_server.codemode.program import run_program
from mcp_server.codemode.result import ProgramResult
from mcp_server.definitions.endpoint import DEFAULT


async def arun(code: str, *, user: Any = None, endpoint: str = DEFAULT) -> ProgramResult:
    """Return how a program ended that was run as a user.

    Args:
        code: JavaScript or TypeScript, in any form that the `code` tool takes.
        user: a Django user; None is an anonymous one, who sees no tools of an endpoint that needs a login.
        endpoint: whose tools it may call, whatever that endpoint's code mode.

    Raises:
        UnknownEndpoint: when there is none of that name.
    """
    return await run_program(await enter_as(user, endpoint), code)


def run(code: str, *, user: Any = None, endpoint: str = DEFAULT) -> ProgramResult:
    """See `arun`; for sync code."""
    return async_to_sync(arun)(code, user=user, endpoint=endpoint)
