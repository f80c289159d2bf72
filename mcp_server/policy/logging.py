"""What is recorded of an endpoint, and for how long: setting, then the admin's row (contract A07)."""

from mcp_server.conf import options
from mcp_server.policy.rows import recent_row

LOG_LEVELS = ("all", "errors", "off")


def effective_log_level(endpoint_name: str) -> str:
    """Return one of `LOG_LEVELS`; the row is at most a second old."""
    row = recent_row(endpoint_name)
    return row.log_level if row is not None and row.log_level in LOG_LEVELS else options().log.level
