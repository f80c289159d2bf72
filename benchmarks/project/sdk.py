"""The SDK's own application with the same tools, for comparison."""

from typing import Any

import mcp_types
from django.core.asgi import get_asgi_application
from mcp.server.lowlevel import Server

get_asgi_application()

from django.contrib.auth.models import Group  # noqa: E402

from benchmarks.project import work  # noqa: E402

SCHEMA = {
    "type": "object",
    "properties": {"text": {"type": "string"}, "count": {"type": "integer", "default": 1}},
}
NAMES = ["add-async", "rows-async", "echo-async", *(f"tool-{number:03}" for number in range(3, 100))]


async def _list(context: Any, params: Any) -> mcp_types.ListToolsResult:
    return mcp_types.ListToolsResult(
        tools=[
            mcp_types.Tool(
                name=name, description="One of many tools, with two arguments.", input_schema=SCHEMA
            )
            for name in NAMES
        ]
    )


async def _call(context: Any, params: mcp_types.CallToolRequestParams) -> mcp_types.CallToolResult:
    arguments = params.arguments or {}
    if params.name == "rows-async":
        value: Any = [row async for row in Group.objects.values("id", "name")]
    else:
        value = getattr(work, params.name.removesuffix("-async"))(**arguments)
    text = value if isinstance(value, str) else str(value)
    return mcp_types.CallToolResult(content=[mcp_types.TextContent(text=text)])


application = Server("sdk", on_list_tools=_list, on_call_tool=_call).streamable_http_app(
    stateless_http=True, json_response=True
)
