"""Host and Origin rules (contract G07)."""

from urllib.parse import urlsplit

from django.conf import settings
from django.core.exceptions import DisallowedHost
from django.http import HttpRequest
from django.http.request import validate_host

from mcp_server.access.refusal import Refusal
from mcp_server.conf import options

_DEBUG_HOSTS = [".localhost", "127.0.0.1", "[::1]"]


def check_origin(request: HttpRequest) -> Refusal | None:
    """Return why the request's Host or Origin is not accepted, or None."""
    try:
        request.get_host()
    except DisallowedHost:
        return Refusal(
            403, "This host name is not served here. Its administrator can add it to ALLOWED_HOSTS."
        )
    origin = request.headers.get("Origin")
    if origin is None or is_same_origin(request) or origin in options().allowed_origins:
        return None
    host = _host_of(origin)
    allowed = settings.ALLOWED_HOSTS or (_DEBUG_HOSTS if settings.DEBUG else [])
    # A wildcard says nothing about which pages may call; only named hosts vouch for an Origin.
    named = [item for item in allowed if item != "*"]
    if host and validate_host(f"[{host}]" if ":" in host else host, named):
        return None
    return Refusal(
        403, "Requests from this Origin are not accepted. Its administrator can add it to ALLOWED_ORIGINS."
    )


def _host_of(origin: str) -> str | None:
    try:
        return urlsplit(origin).hostname
    except ValueError:  # a bracket that is never closed
        return None


def is_same_origin(request: HttpRequest) -> bool:
    """Return whether the page that sends the request was served by this very host and scheme."""
    origin = request.headers.get("Origin")
    return origin is not None and origin == f"{request.scheme}://{request.get_host()}"
