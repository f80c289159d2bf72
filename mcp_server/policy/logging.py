"""What is recorded of an endpoint, and for how long: setting, then the admin's row (contract A07)."""

from mcp_server.conf import options
from mcp_server.models import Limits as Row
from mcp_server.policy.rows import UNKNOWN, recent_row, remembered_row

LOG_LEVELS = ("all", "errors", "off")


def effective_log_level(endpoint_name: str) -> str:
    """Return one of `LOG_LEVELS`; the row is at most a second old."""
    return _level(recent_row(endpoint_name))


def remembered_log_level(endpoint_name: str) -> str | None:
    """Return the level if it is known without the database, else None."""
    row = remembered_row(endpoint_name)
    return None if row is UNKNOWN else _level(row)


def _level(row: Row | None) -> str:
    return row.log_level if row is not None and row.log_level in LOG_LEVELS else options().log.level
