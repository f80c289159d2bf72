from mcp_server.asgi import door
from tests.conformance.project.asgi import application as django

application = door(django, prefix="mcp")
