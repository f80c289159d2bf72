"""The served project with the two tools that attacks on the sandbox expect, on endpoints with limits of their own."""

from tests.protocol.project.settings import *  # noqa: F403
from tests.protocol.project.settings import INSTALLED_APPS

INSTALLED_APPS = [*INSTALLED_APPS, "tests.protocol.project.attacked"]
_ATTACKED = {"CODE_MODE": "on", "TOOLS": ["echo", "slow"]}
MCP_SERVER = {
    "ENDPOINTS": {
        "default": {"LOGIN_REQUIRED": False},
        "attacked": _ATTACKED,
        "attacked-cpu": _ATTACKED,
        "attacked-wall": _ATTACKED,
    },
    # The rest is for the admin's rows, which hold for one endpoint.
    "LIMITS": {"max_queue_ms": 30_000},
}
