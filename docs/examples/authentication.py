"""The snippets of docs/permissions.md about authentication of your own."""

# [start:key]
import hmac
from typing import Any

from django.contrib.auth import get_user_model
from django.http import HttpRequest

from mcp_server.access.authentication import InvalidCredential

KEYS = {"k-3f9a": "ada"}


class KeyAuthentication:
    """Sign in with a header `X-API-Key`."""

    def authenticate(self, request: HttpRequest) -> Any:
        given = request.headers.get("X-API-Key")
        if given is None:
            return None  # another class may find its kind of credential
        names = [name for key, name in KEYS.items() if hmac.compare_digest(given.encode(), key.encode())]
        user = get_user_model().objects.filter(username__in=names, is_active=True).first()
        if user is None:
            raise InvalidCredential
        return user


# [end:key]
