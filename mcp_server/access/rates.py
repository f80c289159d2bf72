"""How often a user may call a tool: the counting (contract G08); which rate holds is `policy.rates`' to say.

A window begins with the first call and lasts for the rate's time, so "120/m" lets 120 calls through within each such
minute. Counting takes one atomic `incr` of Django's cache: as exact over processes as that backend is.
"""

import hashlib
import math
import time
from typing import Any

from django.core.cache import caches

from mcp_server.access.principal import Principal
from mcp_server.conf import options
from mcp_server.exceptions import ToolError
from mcp_server.policy.rates import Rate, rate_for


class RateExceeded(ToolError):
    """A call too many, with the whole seconds after which the next one passes."""

    def __init__(self, tool_name: str, rate: Rate, retry_after: int) -> None:
        super().__init__(
            f"Too many calls of {tool_name}: {rate.calls} within {_span(rate.seconds)} are allowed. "
            f"Try again in {_span(retry_after)}.",
            429,
            {"retry_after": retry_after},
        )


def count_call(principal: Principal, endpoint_name: str, tool_name: str) -> None:
    """Count one call, direct or from code.

    Args:
        principal: whose call it is; people who are not signed in are told apart by their address.
        endpoint_name: whose rates hold; the calls of all endpoints are counted together.
        tool_name: of the tool.

    Raises:
        RateExceeded: when the rate was used up before this call.
    """
    rate = rate_for(endpoint_name, tool_name)
    if rate is None:
        return
    number, left = _count(_key(principal, tool_name, rate.seconds), rate.seconds)
    if number > rate.calls:
        raise RateExceeded(tool_name, rate, max(1, math.ceil(left)))


def _key(principal: Principal, tool_name: str, seconds: int) -> str:
    who = principal.identity
    if not principal.user.is_authenticated:
        who = f"{who}:{principal.request.META.get('REMOTE_ADDR', '')}"
    # Whatever a user or a tool is called, the key fits every backend.
    return "mcp:rate:" + hashlib.sha256(f"{tool_name}\0{seconds}\0{who}".encode()).hexdigest()


def _count(key: str, seconds: int) -> tuple[int, float]:
    """Return which call of its window this is, from 1, and the seconds until the window ends."""
    cache: Any = caches[options().cache]
    now = time.time()
    began = cache.get_or_set(key, now, seconds)
    counter = f"{key}:{began}"
    cache.add(counter, 0, seconds + 1)
    try:
        number = int(cache.incr(counter))
    except ValueError:
        # The entry is gone already, or this backend keeps none (DummyCache, which `check` reports).
        number = 1
    return number, began + seconds - now


def _span(seconds: int) -> str:
    return "1 second" if seconds == 1 else f"{seconds} seconds"
