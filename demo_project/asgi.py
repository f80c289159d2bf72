"""The demo under an ASGI server: pages and endpoints by Django, the admin's live pages by WebSocket."""

import os

from channels.routing import ProtocolTypeRouter
from django.core.asgi import get_asgi_application

from mcp_server.asgi import lifespan

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "demo_project.settings")
django_application = get_asgi_application()

# Only now: it imports models, which need Django's apps.
from mcp_server.live.routing import live_application  # noqa: E402

application = lifespan(ProtocolTypeRouter({"http": django_application, "websocket": live_application()}))
