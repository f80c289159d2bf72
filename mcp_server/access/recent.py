"""Who was recognised a moment ago, for the ASGI door: kept in this process's memory for at most a second (G03, G06)."""

import copy
import hashlib
import threading
from time import monotonic

from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest

from mcp_server.access.authentication import SessionAuthentication, TokenAuthentication, authentication_of
from mcp_server.access.principal import LONGEST_AGE_SECONDS, Principal, bind
from mcp_server.definitions.endpoint import EndpointDefinition

MOST = 4096

_OURS = frozenset({TokenAuthentication, SessionAuthentication})
_known: dict[tuple[bytes, str], Principal] = {}
_lock = threading.Lock()


def is_plain(endpoint: EndpointDefinition) -> bool:
    """Return whether an endpoint knows its callers by our own classes alone, so that nothing else must be asked."""
    return not endpoint.middleware and _OURS.issuperset(map(type, authentication_of(endpoint)))


def recall(request: HttpRequest, authorization: str | None, endpoint: EndpointDefinition) -> Principal | None:
    """Return the principal of a request whose credential was good less than a second ago, or who needs none.

    Args:
        request: without cookies; its `user` is set when there is a principal.
        authorization: its header.
        endpoint: one that `is_plain`.
    """
    if authorization is None:
        if endpoint.login_required:
            return None
        bind(request, AnonymousUser(), frozenset())
        return Principal(request=request, scopes=frozenset())
    found = _known.get(_key(authorization, endpoint))
    if found is None or monotonic() - found.read_at >= LONGEST_AGE_SECONDS:
        return None
    # A copy, so that what a handler does to its user is not another request's; loaded permissions come along.
    bind(request, copy.copy(found.user), found.scopes)
    return Principal(
        request=request,
        credential=found.credential,
        scopes=found.scopes,
        still_valid=found.still_valid,
        read_at=found.read_at,
    )


def remember(authorization: str | None, endpoint: EndpointDefinition, principal: Principal) -> None:
    """Keep a principal that was just recognised by its `Authorization` header."""
    if authorization is None or not principal.credential.startswith("token:"):
        return
    with _lock:
        if len(_known) >= MOST:
            _known.clear()
        _known[_key(authorization, endpoint)] = principal


def _key(authorization: str, endpoint: EndpointDefinition) -> tuple[bytes, str]:
    # Never the credential itself.
    return hashlib.sha256(authorization.encode("latin-1", "replace")).digest(), endpoint.name
