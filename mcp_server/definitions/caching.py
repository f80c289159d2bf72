"""How long answers of a tool may be kept (contract T15)."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from mcp_server.exceptions import ConfigurationError

_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
_DURATION = re.compile(
    r"(\d+(?:\.\d+)?)\s*(seconds?|secs?|s|minutes?|mins?|m|hours?|hrs?|h|days?|d|weeks?|w)", re.IGNORECASE
)

LONGEST_PLAIN_SECONDS = 604_800
"""A plain number above a week is probably milliseconds, as the Nuxt toolkit counts them."""


@dataclass(frozen=True, slots=True)
class CacheOptions:
    """How answers of a tool are kept in Django's cache.

    Args:
        max_age: how long an answer is fresh: `"5m"`, a `timedelta`, or seconds.
        key: a function of the validated arguments that gives a text; still one entry a user.
        swr: serve a stale answer at once and refresh it in the background.
        stale_max_age: how long a stale answer may be served.
        name: first part of the key, by default the tool's name.
        group: prefix of the key.
        vary_on_user: False shares answers between users; only for data that all may see.
    """

    max_age: str | int | float | timedelta
    key: Callable[..., str] | None = None
    swr: bool = False
    stale_max_age: str | int | float | timedelta | None = None
    name: str | None = None
    group: str = "mcp"
    vary_on_user: bool = True

    @property
    def seconds(self) -> float:
        """Return how long an answer is fresh."""
        return parse_duration(self.max_age)

    @property
    def stale_seconds(self) -> float:
        """Return how long a stale answer may be served after it stopped being fresh."""
        if not self.swr:
            return 0
        return self.seconds if self.stale_max_age is None else parse_duration(self.stale_max_age)


def parse_duration(value: Any) -> float:
    """Return seconds for `"30s"`, `"5m"`, `"1h"`, `"2 days"`, a timedelta or a number of seconds.

    Raises:
        ConfigurationError: when it is none of these, or not positive.
    """
    seconds: float = -1
    if isinstance(value, timedelta):
        seconds = value.total_seconds()
    elif isinstance(value, int | float) and not isinstance(value, bool):
        seconds = float(value)
    elif isinstance(value, str) and (match := _DURATION.fullmatch(value.strip())):
        seconds = float(match[1]) * _UNITS[match[2][0].lower()]
    if not seconds > 0 or seconds == float("inf"):
        raise ConfigurationError(
            f"{value!r} is not a cache time.",
            'Write "30s", "5m", "1h", "2 days", a timedelta, or a number of seconds.',
        )
    return seconds


def as_cache_options(value: Any) -> CacheOptions | None:
    """Return the options that `cache=` means.

    Raises:
        ConfigurationError: when the value cannot be read.
    """
    if value is None or value is False:
        return None
    found = value if isinstance(value, CacheOptions) else CacheOptions(value)
    parse_duration(found.max_age)
    if found.stale_max_age is not None:
        parse_duration(found.stale_max_age)
    return found
