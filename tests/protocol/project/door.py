from mcp_server.asgi import door
from tests.protocol.project.asgi import application as django

application = door(django, prefix="mcp")
