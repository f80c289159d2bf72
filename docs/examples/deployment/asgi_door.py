import os

from django.core.asgi import get_asgi_application

from mcp_server.asgi import door

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "mysite.settings")

application = door(get_asgi_application(), prefix="mcp")
