"""A project with django-oauth-toolkit, which the demo does without."""

from tests.settings import *  # noqa: F403
from tests.settings import INSTALLED_APPS

INSTALLED_APPS = [*INSTALLED_APPS, "oauth2_provider"]
ROOT_URLCONF = "tests.access.oauth.urls"
OAUTH2_PROVIDER = {"SCOPES": {"mcp": "Use the tools", "orders": "See orders"}}
MCP_SERVER = {
    "AUTHENTICATION": [
        "mcp_server.access.authentication.TokenAuthentication",
        "mcp_server.access.oauth.OAuthAuthentication",
        "mcp_server.access.authentication.SessionAuthentication",
    ],
    "ENDPOINTS": {
        "scoped": {"AUTHENTICATION": ["tests.access.oauth.classes.Scoped"]},
        "unbound": {"AUTHENTICATION": ["tests.access.oauth.classes.Unbound"]},
        "keys": {"AUTHENTICATION": ["mcp_server.access.authentication.TokenAuthentication"]},
    },
}
