"""The snippet of docs/permissions.md about the tokens of Django REST framework."""

# [start:class]
from typing import Any

from django.http import HttpRequest
from rest_framework.authentication import TokenAuthentication
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from mcp_server.access.authentication import InvalidCredential


class RestFrameworkAuthentication:
    """Sign in as REST framework does, with `Authorization: Token <key>`."""

    classes = (TokenAuthentication,)

    def authenticate(self, request: HttpRequest) -> Any:
        for one in self.classes:
            try:
                found = one().authenticate(Request(request))
            except AuthenticationFailed:
                raise InvalidCredential from None
            if found is not None:
                user, _ = found
                return user
        return None


# [end:class]
