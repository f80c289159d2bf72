"""Where the project's ASGI application sends WebSockets."""

from typing import Any

from channels.auth import AuthMiddlewareStack
from channels.routing import URLRouter
from channels.security.websocket import AllowedHostsOriginValidator
from django.urls import path

from mcp_server.codemode.watching import LIVE_PATH
from mcp_server.live.consumers import RunConsumer

websocket_urlpatterns = [path(f"{LIVE_PATH}<str:run_id>/", RunConsumer.as_asgi())]
"""For a project that has WebSockets of its own; it wraps them in session authentication and a check of the origin."""


def live_application() -> Any:
    """Return an ASGI application for `ProtocolTypeRouter({"websocket": ...})`: sessions, same origin, our routes."""
    return AllowedHostsOriginValidator(AuthMiddlewareStack(URLRouter(websocket_urlpatterns)))
