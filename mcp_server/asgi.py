"""The ASGI door, for a project's `asgi.py`.

    from django.core.asgi import get_asgi_application
    from mcp_server.asgi import door

    application = door(get_asgi_application(), prefix="mcp")

Use the view (`mcp_urls`) where the project's middleware matters to tools: tenants, languages, maintenance modes. Use the
door beside it for throughput: it answers MCP itself and leaves everything else to Django or Channels. Outermost, since
it compares the path before anything else.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mcp_server.protocol.door import Door


def door(application: Any, prefix: str = "mcp") -> "Door":
    """Return an ASGI application that answers MCP itself, without the project's middleware.

    Args:
        application: Django's, or Channels' router, which gets everything else.
        prefix: that of `mcp_urls`.
    """
    # Here, since `asgi.py` imports this module before Django is set up.
    from mcp_server.protocol.door import Door

    return Door(application, prefix)
