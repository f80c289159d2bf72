"""The ASGI door, for a project's `asgi.py`.

    from django.core.asgi import get_asgi_application
    from mcp_server.asgi import door

    application = door(get_asgi_application(), prefix="mcp")

Without the door, `lifespan(get_asgi_application())` gives the view the same orderly start and end.

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


def lifespan(application: Any) -> Any:
    """Return an ASGI application that serves as before, and stores what is queued for the log when its server stops.

    For projects that serve MCP by the view alone: uvicorn ends its process by a signal, so that Python's exit handlers
    do not run, and Django's application takes no part in the protocol by which a server tells that it stops.

    Args:
        application: Django's, or Channels' router.
    """

    async def serve(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "lifespan":
            await application(scope, receive, send)
            return
        from mcp_server.protocol.door import Door

        await Door(application)(scope, receive, send)

    return serve
