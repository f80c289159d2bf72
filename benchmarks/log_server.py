"""The server that `benchmarks.log` loads: one tool, the demo's settings, with the log as it is or without any."""

import os
import sys

os.environ["DJANGO_SETTINGS_MODULE"] = "demo_project.settings"
os.environ.setdefault("DEMO_DEBUG", "0")

import django

django.setup()

from django.core.asgi import get_asgi_application  # noqa: E402

from mcp_server import tool  # noqa: E402
from mcp_server.definitions.endpoint import endpoint  # noqa: E402


@tool(name="add")
async def add(a: int, b: int) -> int:
    return a + b


endpoint("bench", tools=["add"], login_required=False)

if os.environ.get("BENCH_LOG") == "0":
    from mcp_server.calls import journal

    journal.recorded_arguments = lambda arguments, schema=None: ("", frozenset())  # type: ignore[assignment]
    journal.record_call = lambda record: None  # type: ignore[assignment]

application = get_asgi_application()
if os.environ.get("BENCH_DOOR") == "1":
    from mcp_server.asgi import door

    application = door(application)

if __name__ == "__main__":
    import uvicorn

    uvicorn.run(application, port=int(sys.argv[1]), log_level="error")
