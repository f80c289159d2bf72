"""Guards: who may see and call a definition (contract G01, G04).

A guard answers yes or no for an `HttpRequest`. Guards compose with `&`, `|` and `~`, left to right, and stop as soon
as the answer is known, so `is_authenticated & (lambda request: request.user.profile.active)` is safe.
"""

import inspect
from collections.abc import Callable, Coroutine, Iterable
from typing import Any, Protocol

from django.http import HttpRequest

from mcp_server.exceptions import ConfigurationError, Guidance

GuardLike = "Guard | str | list[str] | tuple[str, ...] | Callable[[HttpRequest], bool | Awaitable[bool]]"


class Runs(Protocol):
    """Where the parts of a guard run: `calls.running.Runner`."""

    async def sync(self, function: Callable[..., Any], *args: Any) -> Any:
        """Return what a plain function gives on a thread that may touch the database."""

    async def coroutine(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        """Return what a coroutine gives on the event loop."""


class Guard:
    """A condition on the request. Subclasses implement `check`; async ones set `is_async` and implement `acheck`."""

    is_async = False

    def check(self, request: HttpRequest) -> bool:
        """Return whether the request passes."""
        raise NotImplementedError

    async def acheck(self, request: HttpRequest, runner: Runs) -> bool:
        """Return whether the request passes, where some part of the guard must be awaited.

        Args:
            request: of the caller.
            runner: runs the parts, each where it belongs.
        """
        return bool(await runner.sync(self.check, request))

    def explain(self, request: HttpRequest) -> str | None:
        """Return the advice for a caller who may see but not use the definition, or None (contract R07)."""
        return None

    def permissions(self) -> frozenset[str]:
        """Return the permission strings that the guard names, for checks and for narrowing (contract R12)."""
        return frozenset()

    def __str__(self) -> str:
        """Return what it asks for, as an author would write it."""
        return type(self).__name__

    def __and__(self, other: Any) -> "Guard":
        return _All(self, as_guard(other))

    def __rand__(self, other: Any) -> "Guard":
        return _All(as_guard(other), self)

    def __or__(self, other: Any) -> "Guard":
        return _Any(self, as_guard(other))

    def __ror__(self, other: Any) -> "Guard":
        return _Any(as_guard(other), self)

    def __invert__(self) -> "Guard":
        return _Not(self)


class _Composed(Guard):
    sign = ""

    def __init__(self, *parts: Guard) -> None:
        self.parts = parts
        self.is_async = any(part.is_async for part in parts)

    def permissions(self) -> frozenset[str]:
        return frozenset().union(*(part.permissions() for part in self.parts))

    def __str__(self) -> str:
        return "(" + f" {self.sign} ".join(map(str, self.parts)) + ")"


class _All(_Composed):
    sign = "&"

    def check(self, request: HttpRequest) -> bool:
        return all(part.check(request) for part in self.parts)

    async def acheck(self, request: HttpRequest, runner: Runs) -> bool:
        for part in self.parts:
            if not await part.acheck(request, runner):
                return False
        return True

    def explain(self, request: HttpRequest) -> str | None:
        return next((text for part in self.parts if (text := part.explain(request))), None)


class _Any(_Composed):
    sign = "|"

    def check(self, request: HttpRequest) -> bool:
        return any(part.check(request) for part in self.parts)

    async def acheck(self, request: HttpRequest, runner: Runs) -> bool:
        for part in self.parts:
            if await part.acheck(request, runner):
                return True
        return False

    def explain(self, request: HttpRequest) -> str | None:
        # Advice is due only when no branch lets the caller through without one.
        texts = [part.explain(request) for part in self.parts if not part.is_async and part.check(request)]
        return texts[0] if texts and all(texts) else None


class _Not(_Composed):
    def __str__(self) -> str:
        return f"~{self.parts[0]}"

    def check(self, request: HttpRequest) -> bool:
        return not self.parts[0].check(request)

    async def acheck(self, request: HttpRequest, runner: Runs) -> bool:
        return not await self.parts[0].acheck(request, runner)


class _Function(Guard):
    """A callable of the author's, sync or async."""

    def __init__(self, function: Callable[[HttpRequest], Any], name: str = "") -> None:
        self.function = function
        self.name = name or getattr(function, "__qualname__", type(function).__qualname__)
        called = function if inspect.isroutine(function) else type(function).__call__
        self.is_async = inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(called)

    def __str__(self) -> str:
        return self.name

    def check(self, request: HttpRequest) -> bool:
        return bool(self.function(request))

    async def acheck(self, request: HttpRequest, runner: Runs) -> bool:
        if not self.is_async:
            return bool(await runner.sync(self.check, request))
        return bool(await runner.coroutine(self.function(request)))


class _Permissions(Guard):
    def __init__(self, names: Iterable[str]) -> None:
        self.names = tuple(names)

    def __str__(self) -> str:
        return ", ".join(self.names)

    def check(self, request: HttpRequest) -> bool:
        return bool(request.user.has_perms(self.names))

    def permissions(self) -> frozenset[str]:
        return frozenset(self.names)


class _Group(Guard):
    def __init__(self, name: str) -> None:
        self.name = name

    def __str__(self) -> str:
        return f"in_group({self.name!r})"

    def check(self, request: HttpRequest) -> bool:
        user = request.user
        # An anonymous user has an empty set of groups.
        return user.is_active and user.groups.filter(name=self.name).exists()


class _Scope(Guard):
    def __init__(self, scope: str, explain: str | None) -> None:
        self.scope, self.text = scope, explain

    def __str__(self) -> str:
        return f"has_scope({self.scope!r})"

    def _granted(self, request: HttpRequest) -> bool:
        scopes = getattr(request, "mcp_scopes", None)
        return scopes is None or self.scope in scopes

    def check(self, request: HttpRequest) -> bool:
        return self.text is not None or self._granted(request)

    def explain(self, request: HttpRequest) -> str | None:
        return None if self._granted(request) else self.text


def has_perm(*permissions: str) -> Guard:
    """Return a guard that passes users who have all of the permissions, such as `"shop.view_order"`."""
    return _Permissions(permissions)


def in_group(name: str) -> Guard:
    """Return a guard that passes active members of the group."""
    return _Group(name)


def has_scope(scope: str, explain: str | None = None) -> Guard:
    """Return a guard on the token's scopes; sessions and tokens without scopes have all of them.

    Args:
        scope: the scope that the token needs.
        explain: with it the definition stays listed and a call is refused with this text; without, it is hidden (R07).
    """
    return _Scope(scope, explain)


is_authenticated: Guard = _Function(lambda request: request.user.is_authenticated, "is_authenticated")
is_staff: Guard = _Function(lambda request: request.user.is_active and request.user.is_staff, "is_staff")
is_superuser: Guard = _Function(
    lambda request: request.user.is_active and request.user.is_superuser, "is_superuser"
)


def as_guard(value: Any) -> Guard:
    """Return the guard that `enabled=` means: a guard, a permission string, a list of them, or a callable.

    Raises:
        ConfigurationError: when the value is none of these.
    """
    if isinstance(value, Guard):
        return value
    if isinstance(value, str):
        return _Permissions([value])
    if isinstance(value, list | tuple) and value and all(isinstance(item, str) for item in value):
        return _Permissions(value)
    if isinstance(value, bool):
        return _Function(lambda request: value)
    if callable(value):
        return _Function(value)
    raise ConfigurationError(
        f"enabled={value!r} is not a guard.",
        'Give a permission such as "shop.view_order", a list of them, a guard such as is_staff, or a function of the request.',
    )


def refuse(guard: Guard | None, request: HttpRequest) -> None:
    """Raise the advice of a guard that lets a caller see but not use a definition.

    Raises:
        Guidance: with the guard's text.
    """
    if guard is not None and (text := guard.explain(request)):
        raise Guidance(text)
