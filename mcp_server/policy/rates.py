"""How often a user may call a tool: setting, then the admin's row (contract G08)."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from mcp_server.conf import options
from mcp_server.policy.rows import recent_row

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
    row = recent_row(endpoint_name)
    stored: Mapping[str, str] = row.rate_limits if row is not None else {}
    setting = options().rate_limits
    for rates, name in ((stored, tool_name), (setting, tool_name), (stored, DEFAULT), (setting, DEFAULT)):
        if name in rates:
            return _readable(rates[name])
    return None


def _readable(text: str) -> Rate | None:
    # The check reports a setting that cannot be read, the form refuses one; neither may stop the calls.
    try:
        return Rate.parse(text)
    except (ValueError, AttributeError):
        return None
