"""How often a user may call a tool: setting, then the admin's row (contract G08)."""

import logging
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from django.db import DatabaseError

from mcp_server.conf import options
from mcp_server.policy.rows import UNKNOWN, recent_row, remembered_row

logger = logging.getLogger("mcp_server")

DEFAULT = "default"
"""The key whose rate holds for every tool that has none of its own."""

_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
_FORM = re.compile(r"(\d{1,9})/(\d{0,5})([smhd])")


@dataclass(frozen=True, slots=True)
class Rate:
    """So many calls within so many seconds."""

    calls: int
    seconds: int

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the rate that a text such as "60/m" or "100/15m" means; ValueError says how to write one."""
        match = _FORM.fullmatch(text.strip().lower())
        every = int(match[2] or 1) if match else 0
        if match is None or every == 0:
            raise ValueError(
                f"{text!r} is not a rate; write calls and a time such as 5/s, 60/m, 100/15m, 1000/h or 5000/d."
            )
        return cls(int(match[1]), every * _SECONDS[match[3]])


def rate_for(endpoint_name: str, tool_name: str) -> Rate | None:
    """Return the rate of a tool for each user, or None; the row is at most a second old.

    The tool's own entry wins over "default", and within each the admin's row over the setting.
    """
    stored, setting = _stored(endpoint_name), options().rate_limits
    for rates, name in ((stored, tool_name), (setting, tool_name), (stored, DEFAULT), (setting, DEFAULT)):
        if name in rates:
            return _readable(rates[name])
    return None


def _stored(endpoint_name: str) -> Mapping[str, str]:
    try:
        row = recent_row(endpoint_name)
    except DatabaseError as error:
        # A tool that needs no database works without one; the setting's rates still hold.
        logger.warning("The rates of endpoint %s cannot be read: %s", endpoint_name, error)
        return {}
    return row.rate_limits if row is not None else {}


def may_be_limited(endpoint_name: str) -> bool:
    """Return whether any tool of the endpoint may have a rate; touches no database, and False is certain."""
    row = remembered_row(endpoint_name)
    return bool(options().rate_limits) or row is UNKNOWN or (row is not None and bool(row.rate_limits))


def _readable(text: str) -> Rate | None:
    # The check reports a setting that cannot be read, the form refuses one; neither may stop the calls.
    try:
        return Rate.parse(text)
    except (ValueError, AttributeError):
        return None
