"""The snippet of docs/permissions.md about OAuth."""

# [start:class]
from mcp_server.access.oauth import OAuthAuthentication


class ShopOAuth(OAuthAuthentication):
    required_scopes = ("mcp",)


# [end:class]
