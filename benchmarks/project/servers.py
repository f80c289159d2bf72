"""The applications that the columns serve."""

from django.core.asgi import get_asgi_application
from django.core.wsgi import get_wsgi_application

from mcp_server.asgi import door as open_door

django = get_asgi_application()
wsgi = get_wsgi_application()
door = open_door(django)
