"""Authentication as a project would narrow it."""

from mcp_server.access.oauth import OAuthAuthentication


class Scoped(OAuthAuthentication):
    required_scopes = ("mcp", "orders")
    scopes_supported = ("mcp", "orders")
    authorization_servers = ("https://login.example.com",)


class Unbound(OAuthAuthentication):
    accept_unbound = True
