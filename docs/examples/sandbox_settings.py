"""The parts of `SANDBOX` that the security page shows."""

from typing import Any

MCP_SERVER: dict[str, Any]

# [start:required]
MCP_SERVER = {"SANDBOX": {"REQUIRE_CONFINEMENT": True}}
# [end:required]

# [start:command]
MCP_SERVER = {
    "SANDBOX": {"COMMAND": ["setpriv", "--reuid=sandbox", "--regid=sandbox", "--clear-groups"]},
}
# [end:command]
