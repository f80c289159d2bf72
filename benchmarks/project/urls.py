"""The plain view, and the endpoints."""

import json

from django.http import HttpRequest, JsonResponse
from django.urls import path
from django.views.decorators.csrf import csrf_exempt

from benchmarks.project import work
from mcp_server import mcp_urls

LIST = [
    {"name": f"tool-{number:03}", "description": "One of many tools, with two arguments."}
    for number in range(100)
]


@csrf_exempt
def plain(request: HttpRequest) -> JsonResponse:
    """What a Django developer would write instead of MCP."""
    message = json.loads(request.body)
    if message["task"] == "list":
        return JsonResponse({"tools": LIST})
    return JsonResponse({"result": getattr(work, message["task"])(**message["arguments"])})


urlpatterns = [path("plain", plain), *mcp_urls("mcp")]
