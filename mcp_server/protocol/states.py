"""Sealed state of questions since 2026-07-28: encrypted under `SECRET_KEY`, bound to user and request, used once."""

from datetime import timedelta
from typing import Any

from django.conf import settings
from django.utils import timezone
from django.utils.crypto import salted_hmac

from mcp_server.access.principal import Principal
from mcp_server.models import UsedState
from mcp_server.protocol.kernel import (
    MCPError,
    RequestStateBoundary,
    RequestStateSecurity,
    ServerRequestContext,
)
from mcp_server.protocol.replies import INVALID_PARAMS

MAX_AGE = timedelta(hours=1)
"""How long a person may take to answer."""


def boundary(endpoint_name: str) -> RequestStateBoundary:
    """Return the SDK's middleware that seals and opens states, with keys that all processes of the site share."""
    keys = dict.fromkeys([settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS])
    security = RequestStateSecurity(
        keys=[
            salted_hmac("mcp_server.state", "", secret=key, algorithm="sha256").hexdigest() for key in keys
        ],
        ttl=MAX_AGE.total_seconds(),
        bind_principal=_owner,
    )
    return RequestStateBoundary(security, default_audience=endpoint_name)


def _owner(context: ServerRequestContext[Any, Any]) -> str:
    assert context.request is not None  # noqa: S101 - the engine sets it
    principal: Principal = context.request.caller.principal
    return f"{principal.identity} {principal.credential}"


def use(name: str) -> None:
    """Use up a state.

    Raises:
        MCPError: when it was used before, worded like any other state that is not good.
    """
    if not UsedState.objects.add(name, timezone.now() + MAX_AGE):
        raise MCPError(INVALID_PARAMS, "Invalid or expired requestState", {"reason": "invalid_request_state"})
