"""Whether a client may choose its code mode: what the endpoint says, unless staff say otherwise (contract C19)."""

from mcp_server.definitions.endpoint import CodePolicy
from mcp_server.policy.rows import recent_row

CODE_POLICIES: tuple[CodePolicy, ...] = ("off", "opt-in", "default", "enforced")


def effective_code_policy(endpoint_name: str, declared: CodePolicy) -> CodePolicy:
    """Return one of `CODE_POLICIES`; the row is at most a second old."""
    row = recent_row(endpoint_name)
    stored = row.code_policy if row is not None else ""
    return next((policy for policy in CODE_POLICIES if policy == stored), declared)
