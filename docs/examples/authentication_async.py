"""The snippet of docs/permissions.md about authentication that awaits."""

# [start:class]
from typing import Any

from django.contrib.auth import get_user_model
from django.core import signing
from django.http import HttpRequest

from mcp_server.access.authentication import Credential, InvalidCredential


class SignedLinkAuthentication:
    """Sign in with `?key=`, a text that the project signed and that ends after a day; it may only read."""

    async def aauthenticate(self, request: HttpRequest) -> Any:
        key = request.GET.get("key")
        if key is None:
            return None
        try:
            username = signing.loads(key, salt="mcp-link", max_age=86_400)
        except signing.BadSignature:
            raise InvalidCredential from None
        user = await get_user_model().objects.filter(username=username, is_active=True).afirst()
        if user is None:
            raise InvalidCredential
        return Credential(user=user, name=f"link:{user.pk}", scopes=frozenset({"read"}))


# [end:class]
