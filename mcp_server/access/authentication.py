"""From a request to a principal: tokens, sessions, and classes of the project's own (contract G05, G06, G09, G10).

An authentication class has `authenticate(request)` or `aauthenticate(request)`. It returns None when the request does
not carry its kind of credential, a user, or a `Credential`; it raises `InvalidCredential` when what it carries is wrong.
It may have `challenge(request)`, which returns parameters that tell a client how to get a credential.
"""

import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Protocol

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.core.signals import setting_changed
from django.http import HttpRequest
from django.utils import timezone
from django.utils.module_loading import import_string

from mcp_server.access.origins import is_same_origin
from mcp_server.access.principal import Principal, bind
from mcp_server.access.refusal import Refusal
from mcp_server.conf import SETTING, options
from mcp_server.definitions.endpoint import EndpointDefinition
from mcp_server.exceptions import Guidance

RunSync = Callable[..., Awaitable[Any]]


class InvalidCredential(Exception):
    """A credential was shown and is wrong, ended or revoked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Credential:
    """What an authentication class found.

    Args:
        user: a Django user.
        name: names the credential within logs and sessions, such as `token:12`.
        scopes: what it is limited to, None for all that the user may do.
        still_valid: looks it up again, for runs that take long.
    """

    user: Any
    name: str
    scopes: frozenset[str] | None = None
    still_valid: Callable[[], bool] | None = None


class InsufficientScope(Exception):
    """A credential is right, and may not do enough.

    Args:
        scopes: all that is needed, to be asked for.
    """

    def __init__(self, scopes: Iterable[str]) -> None:
        self.scopes = tuple(scopes)
        super().__init__(" ".join(self.scopes))


class Authentication(Protocol):
    """What `AUTHENTICATION` names."""

    def authenticate(self, request: HttpRequest) -> Any:
        """Return None, a user, or a `Credential`."""


def bearer_of(request: HttpRequest) -> str | None:
    """Return the text after `Authorization: Bearer`, or None where there is none."""
    scheme, _, text = request.META.get("HTTP_AUTHORIZATION", "").partition(" ")
    return text.strip() if scheme.lower() == "bearer" else None


class TokenAuthentication:
    """`Authorization: Bearer <token>` with a token from the admin or `manage.py mcp_token create`."""

    def authenticate(self, request: HttpRequest) -> Credential | None:
        """Return the token's user and scopes.

        Raises:
            InvalidCredential: when no usable token has this text.
        """
        from mcp_server.models import Token
        from mcp_server.models.tokens import PLAIN_TEXT_PREFIX

        text = bearer_of(request)
        if text is None or not text.startswith(PLAIN_TEXT_PREFIX):
            return None  # not a token of ours; one that no class knows is refused all the same
        found = Token.objects.find(text)
        if found is None or not found.is_usable(timezone.now()) or not found.user.is_active:
            raise InvalidCredential
        found.touch()
        scopes = frozenset(found.scopes) if found.scopes else None

        def still_valid() -> bool:
            token = Token.objects.filter(pk=found.pk).first()
            return token is not None and token.is_usable(timezone.now())

        return Credential(user=found.user, name=f"token:{found.pk}", scopes=scopes, still_valid=still_valid)


class SessionAuthentication:
    """The user who is signed in to this site, for pages of the very same origin."""

    def authenticate(self, request: HttpRequest) -> Credential | None:
        """Return the session's user; a page of another origin gets none, whatever cookies its browser sends."""
        user = getattr(request, "user", None)
        if user is None or not user.is_authenticated or not user.is_active:
            return None
        if bearer_of(request) is not None:
            return None  # who shows a token is who the token says, or nobody
        if not (is_same_origin(request) or request.headers.get("Origin") in options().allowed_origins):
            return None
        return Credential(user=user, name="session")


@cache
def load_parts(paths: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return what dotted paths name, and what was given as it is; classes are made into objects."""
    found = [import_string(item) if isinstance(item, str) else item for item in paths]
    return tuple(item() if isinstance(item, type) else item for item in found)


def _forget(*, setting: str, **kwargs: Any) -> None:
    if setting == SETTING:
        load_parts.cache_clear()


setting_changed.connect(_forget, dispatch_uid="mcp_server.access.authentication")


def authentication_of(endpoint: EndpointDefinition) -> tuple[Any, ...]:
    """Return the authentication objects of an endpoint: its own, else the project's."""
    return load_parts(
        endpoint.authentication if endpoint.authentication is not None else options().authentication
    )


async def authenticate(
    request: HttpRequest, endpoint: EndpointDefinition, run_sync: RunSync
) -> Principal | Refusal:
    """Return who calls, perhaps anonymously, or why what they show is refused.

    Args:
        request: its `user` is set to the principal's.
        endpoint: may name its own classes.
        run_sync: runs a plain function on the thread that may touch the database.
    """
    try:
        credential = await _first(authentication_of(endpoint), request, run_sync)
        if credential is None and bearer_of(request) is not None:
            raise InvalidCredential  # noqa: TRY301 - it is worded with the others
    except (InvalidCredential, InsufficientScope, Guidance) as error:
        return refuse_credential(error, request, endpoint)
    if credential is None:
        bind(request, AnonymousUser(), frozenset())
        return Principal(request=request, scopes=frozenset())
    bind(request, credential.user, credential.scopes)
    return Principal(
        request=request,
        credential=credential.name,
        scopes=credential.scopes,
        still_valid=credential.still_valid,
    )


def require_login(principal: Principal, endpoint: EndpointDefinition) -> Refusal | None:
    """Return why a principal is not let in: nobody signed in where somebody must be, or an account that ended."""
    user = principal.user
    if user.is_authenticated and not user.is_active:
        return refuse_credential(InvalidCredential(), principal.request, endpoint)
    if endpoint.login_required and not user.is_authenticated:
        headers = _challenge(principal.request, endpoint)
        return Refusal(401, "Sign in: send a token as `Authorization: Bearer <token>`.", headers)
    return None


def refuse_credential(
    error: InvalidCredential | InsufficientScope | Guidance,
    request: HttpRequest,
    endpoint: EndpointDefinition,
) -> Refusal:
    """Return the refusal of what a request shows."""
    if isinstance(error, InsufficientScope):
        headers = _challenge(request, endpoint, error="insufficient_scope", scope=" ".join(error.scopes))
        return Refusal(403, f"The token lacks a scope. Needed: {', '.join(error.scopes)}.", headers)
    if isinstance(error, Guidance):
        return Refusal(401, error.text, _challenge(request, endpoint))
    headers = _challenge(request, endpoint, error="invalid_token")
    return Refusal(401, "The credential is not valid. Ask for a new token.", headers)


def _challenge(request: HttpRequest, endpoint: EndpointDefinition, **details: str) -> Mapping[str, str]:
    """Return the header that says what is wrong, and how a client gets a credential."""
    parameters = {"realm": "mcp"}
    for item in authentication_of(endpoint):
        if hasattr(item, "challenge"):
            parameters.update(item.challenge(request))
    parameters.update(details)
    quoted = (f'{name}="{_QUOTED.sub("", value)}"' for name, value in parameters.items())
    return {"WWW-Authenticate": "Bearer " + ", ".join(quoted)}


# Nothing that a value holds ends its quotes, or the header.
_QUOTED = re.compile(r'["\\\x00-\x1f\x7f]')


async def _first(classes: tuple[Any, ...], request: HttpRequest, run_sync: RunSync) -> Credential | None:
    """Return the first credential that a class finds; neighbouring sync classes share one hop to their thread."""
    waiting: list[Any] = []
    for item in classes:
        if not hasattr(item, "aauthenticate"):
            waiting.append(item)
            continue
        found = await run_sync(_first_sync, waiting, request) if waiting else None
        waiting = []
        found = found or _as_credential(await item.aauthenticate(request), item)
        if found is not None:
            return found
    return await run_sync(_first_sync, waiting, request) if waiting else None


def _first_sync(classes: list[Any], request: HttpRequest) -> Credential | None:
    return next(
        (found for item in classes if (found := _as_credential(item.authenticate(request), item))), None
    )


def _as_credential(found: Any, source: Any) -> Credential | None:
    if found is None or isinstance(found, Credential):
        return found
    if not found.is_active:
        raise InvalidCredential
    return Credential(user=found, name=f"{type(source).__name__}:{found.pk}")


def is_open_by_wildcard() -> bool:
    """Return whether ALLOWED_HOSTS lets every name in, which voids the protection against DNS rebinding."""
    return "*" in settings.ALLOWED_HOSTS
