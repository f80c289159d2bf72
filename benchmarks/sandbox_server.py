"""What `benchmarks.sandbox` and `benchmarks.scale` serve: the project's tools as they are, and again as tools of programs.

    python -m uvicorn benchmarks.sandbox_server:door

`/mcp` lists the tools, `/mcp/code` lets a program call them. `view` is Django alone, `door` answers ahead of it.
"""

import asyncio
import os

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "benchmarks.sandbox_settings")
view = get_asgi_application()

from mcp_server import tool  # noqa: E402
from mcp_server.asgi import door as open_door  # noqa: E402
from mcp_server.definitions.endpoint import endpoint  # noqa: E402


@tool(name="wait-a-moment")
async def wait(milliseconds: int) -> int:
    """Wait, as for another service."""
    await asyncio.sleep(milliseconds / 1000)
    return milliseconds


endpoint("code", code_mode="on", login_required=False)
door = open_door(view)
