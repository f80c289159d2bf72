"""Tokens of an OAuth server, by django-oauth-toolkit: `pip install "django-mcp-toolkit[oauth]"`.

`MCP_SERVER["AUTHENTICATION"]` names `OAuthAuthentication`, or a subclass that sets other scopes. Clients then find the
authorization server by themselves: a 401 points to the resource metadata (RFC 9728), which `mcp_urls` serves.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import oauth2_provider  # noqa: F401 - missing, it is named by `manage.py check` and not by the first request
from django.http import HttpRequest
from django.urls import reverse

from mcp_server.access.authentication import Credential, InsufficientScope, InvalidCredential, bearer_of
from mcp_server.models.tokens import PLAIN_TEXT_PREFIX


class OAuthAuthentication:
    """`Authorization: Bearer <access token>`, bound to this endpoint and with the scopes that it needs.

    Attributes:
        required_scopes: without them every request is refused with 403, and clients ask their user for them.
        scopes_supported: what the metadata lists; None is all that the project's OAuth server knows.
        authorization_servers: their issuers; None is the project's own.
        accept_unbound: True takes tokens that name no resource. They were issued for anything, so another service that
            is shown one could use it here.
    """

    required_scopes: Sequence[str] = ()
    scopes_supported: Sequence[str] | None = None
    authorization_servers: Sequence[str] | None = None
    accept_unbound = False

    def authenticate(self, request: HttpRequest) -> Credential | None:
        """Return the token's user and scopes.

        Raises:
            InvalidCredential: when the token is unknown, ended, of another resource, or of no active user.
            InsufficientScope: when it lacks a required scope.
        """
        from oauth2_provider.oauth2_backends import get_oauthlib_core

        text = bearer_of(request)
        if text is None or text.startswith(PLAIN_TEXT_PREFIX):
            return None
        valid, verified = get_oauthlib_core().verify_request(request, scopes=[])
        token = verified.access_token if valid else None
        if token is None or token.user is None or not token.user.is_active or not self._is_bound(token):
            raise InvalidCredential
        if not token.allow_scopes(self.required_scopes):
            raise InsufficientScope(self.required_scopes)
        return Credential(
            user=token.user,
            # A refreshed token of the same client goes on with its session.
            name=f"oauth:{token.application_id}",
            scopes=frozenset(token.scope.split()),
            still_valid=lambda: _is_valid(token.pk),
        )

    def challenge(self, request: HttpRequest) -> Mapping[str, str]:
        """Return where the metadata of the requested endpoint is, and which scopes to ask for."""
        match = request.resolver_match
        name = match.kwargs.get("endpoint") if match is not None else None
        path = reverse("mcp-resource-metadata", args=[name] if name else None)
        found = {"resource_metadata": request.build_absolute_uri(path)}
        if self.required_scopes:
            found["scope"] = " ".join(self.required_scopes)
        return found

    def metadata(self, request: HttpRequest, resource: str) -> Mapping[str, Any]:
        """Return the metadata document of a protected resource (RFC 9728).

        Args:
            request: for the document.
            resource: the endpoint's URL, absolute.
        """
        from oauth2_provider.scopes import get_scopes_backend
        from oauth2_provider.settings import oauth2_settings

        servers = self.authorization_servers
        scopes = self.scopes_supported
        return {
            "resource": resource,
            "authorization_servers": list(
                oauth2_settings.oauth2_resource_authorization_servers(request) if servers is None else servers
            ),
            "scopes_supported": sorted(
                get_scopes_backend().get_available_scopes() if scopes is None else scopes
            ),
            "bearer_methods_supported": ["header"],
        }

    def _is_bound(self, token: Any) -> bool:
        # That a resource which the token names is this one was checked with the token.
        return bool(token.resource) or self.accept_unbound


def _is_valid(key: Any) -> bool:
    from oauth2_provider.models import get_access_token_model

    token = get_access_token_model().objects.filter(pk=key).first()
    return token is not None and token.is_valid()
