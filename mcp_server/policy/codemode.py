"""Whether a client may choose its code mode: what the endpoint says, unless staff say otherwise (contract C19)."""

from mcp_server.policy.rows import recent_row

CODE_POLICIES = ("off", "opt-in", "default", "enforced")


def effective_code_policy(endpoint_name: str, declared: str) -> str:
    """Return one of `CODE_POLICIES`; the row is at most a second old."""
    row = recent_row(endpoint_name)
    return row.code_policy if row is not None and row.code_policy in CODE_POLICIES else declared
