"""A project with django-oauth-toolkit and REST framework, which the demo does without."""

from tests.settings import *  # noqa: F403
from tests.settings import INSTALLED_APPS

INSTALLED_APPS = [*INSTALLED_APPS, "oauth2_provider", "rest_framework", "rest_framework.authtoken"]
ROOT_URLCONF = "tests.access.extras.urls"
OAUTH2_PROVIDER = {"SCOPES": {"mcp": "Use the tools", "orders": "See orders"}}
MCP_SERVER = {
    "AUTHENTICATION": [
        "mcp_server.access.authentication.TokenAuthentication",
        "mcp_server.access.oauth.OAuthAuthentication",
        "mcp_server.access.authentication.SessionAuthentication",
    ],
    "ENDPOINTS": {
        "scoped": {"AUTHENTICATION": ["tests.access.extras.classes.Scoped"]},
        "shop": {"AUTHENTICATION": ["docs.examples.oauth.ShopOAuth"]},
        "unbound": {"AUTHENTICATION": ["tests.access.extras.classes.Unbound"]},
        "rest": {
            "AUTHENTICATION": ["docs.examples.authentication_rest_framework.RestFrameworkAuthentication"]
        },
        "keys": {"AUTHENTICATION": ["mcp_server.access.authentication.TokenAuthentication"]},
    },
}
