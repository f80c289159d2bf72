"""The parts of `MCP_SERVER` that guides show."""

from typing import Any

MCP_SERVER: dict[str, Any]

# [start:authentication]
MCP_SERVER = {
    "AUTHENTICATION": [
        "mcp_server.access.authentication.TokenAuthentication",
        "docs.examples.authentication.KeyAuthentication",
    ],
}
# [end:authentication]

# [start:oauth]
MCP_SERVER = {
    "AUTHENTICATION": [
        "mcp_server.access.authentication.TokenAuthentication",
        "docs.examples.oauth.ShopOAuth",
    ],
}
# [end:oauth]

# [start:rates]
MCP_SERVER = {"RATE_LIMITS": {"default": "120/m", "send-reminder": "10/h"}}
# [end:rates]

# [start:limits]
MCP_SERVER = {
    "LIMITS": {"max_tool_calls": 500},
    "LIMIT_CEILINGS": {"memory_limit_mb": 128},
    "LIMITS_PINNED": ["cpu_time_limit_ms"],
}
# [end:limits]
