"""The project that the official conformance suite talks to: its fixtures, through our public API only."""

from tests.protocol.project.settings import *  # noqa: F403

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "mcp_server",
    "tests.conformance.project.fixtures",
]
ROOT_URLCONF = "tests.conformance.project.urls"
WSGI_APPLICATION = "tests.conformance.project.wsgi.application"
ASGI_APPLICATION = "tests.conformance.project.asgi.application"
MCP_SERVER = {
    "TOOL_NAMES": "snake",
    # The suite sends no credentials: everybody is one and the same user.
    "AUTHENTICATION": ["tests.conformance.project.authentication.Everybody"],
    "ENDPOINTS": {"default": {"TITLE": "Conformance", "VERSION": "1.0.0"}},
}
