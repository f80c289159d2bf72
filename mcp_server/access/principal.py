"""Who calls, and how fresh that knowledge is (contract G03)."""

from collections.abc import Callable
from dataclasses import dataclass, field
from time import monotonic
from typing import Any
from weakref import ref

from django.contrib.auth import get_user_model
from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest

from mcp_server.exceptions import Guidance, ToolError

LONGEST_AGE_SECONDS = 1.0


@dataclass(slots=True, kw_only=True)
class Principal:
    """A user, seen through the request and the credential that named them.

    Args:
        request: always an `HttpRequest`, whose `user` is set; guards and handlers read it.
        credential: what was shown, `session`, `token:12`, `anonymous`, `command`; sessions and states are bound to it.
        scopes: what the credential is limited to; None is everything that the user may do.
        objection: what every call of a tool is answered with, since a middleware said so.
        still_valid: looks the credential up again; None where it cannot end before the user does.
    """

    request: HttpRequest
    credential: str = "anonymous"
    scopes: frozenset[str] | None = None
    still_valid: Callable[[], bool] | None = None
    read_at: float = field(default_factory=monotonic)
    objection: ToolError | Guidance | None = None
    failed_guards: set[str] = field(default_factory=set)

    @property
    def user(self) -> Any:
        """Return the user, never None."""
        return self.request.user

    @property
    def user_id(self) -> Any:
        """Return the user's primary key, or None for an anonymous one."""
        return self.user.pk

    @property
    def username(self) -> str:
        """Return the user's name for logs, empty for an anonymous one."""
        return str(self.user.get_username()) if self.user.is_authenticated else ""

    @property
    def identity(self) -> str:
        """Return a text that no two users share, for counting and caching by user."""
        if self.user_id is not None:
            return f"user:{self.user_id}"
        # A user of the project's own making, without a row.
        return f"name:{self.username}" if self.user.is_authenticated else "anonymous"

    @property
    def is_stale(self) -> bool:
        """Return whether user and credential must be read again before the next decision."""
        return self._is_older_than(LONGEST_AGE_SECONDS)

    @property
    def may_turn_stale(self) -> bool:
        """Return whether they may have to be read again by the time that a decision is taken."""
        return self._is_older_than(LONGEST_AGE_SECONDS * 0.9)

    def _is_older_than(self, seconds: float) -> bool:
        return monotonic() - self.read_at >= seconds and bool(self.user.is_authenticated)

    def refresh(self) -> None:
        """Read user and credential again when they are older than a second; for calls from a run, which may be long.

        A user who was deactivated, or whose credential ended, is anonymous from then on.
        """
        if not self._is_older_than(LONGEST_AGE_SECONDS):
            return
        self.read_at = monotonic()
        # A new object: the old one keeps the permissions that it has loaded.
        # A user of the project's own making has no row to read again; the credential still counts.
        own = self.user.pk is None
        user: Any = self.user if own else get_user_model()._default_manager.filter(pk=self.user.pk).first()
        if user is None or not user.is_active or not (self.still_valid is None or self.still_valid()):
            user = AnonymousUser()
        self.request.user = user


def bind(request: HttpRequest, user: Any, scopes: frozenset[str] | None) -> None:
    """Put user and scopes on the request, where guards and handlers look for them."""
    # Weak, since a request that held itself would stay until the garbage collector comes by.
    reference = ref(request)

    async def auser() -> Any:
        # Django's own would read the session again, and miss the user of a token.
        found = reference()
        return found.user if found is not None else user

    request.user, request.auser = user, auser
    # Guards get the request alone; `has_scope` finds the credential's scopes here.
    request.mcp_scopes = scopes  # type: ignore[attr-defined]
