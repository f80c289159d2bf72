"""What is to be run, for whom, and within which limits."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass

from mcp_server.policy.limits import Limits


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One program.

    Args:
        code: the body of an async function, statements with `return`; its lines are those that errors name.
        tools: identifier in JavaScript -> name of the tool; nothing else can be called.
        limits: the limits of this run.
        owner: who waits for it, so that the pool can be fair between them.
    """

    code: str
    tools: Mapping[str, str]
    limits: Limits
    owner: Hashable = None
