"""The one place that decides who may see and call a definition: for list, call, search, catalog and code (contract G01)."""

import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Protocol

from mcp_server.access.principal import Principal
from mcp_server.definitions.endpoint import EndpointDefinition
from mcp_server.definitions.guards import Guard

logger = logging.getLogger("mcp_server")
RunSync = Callable[..., Awaitable[Any]]


class Guarded(Protocol):
    """A tool, resource or prompt."""

    @property
    def name(self) -> str: ...
    @property
    def guard(self) -> Guard | None: ...


def needs_await(definition: Guarded, endpoint: EndpointDefinition) -> bool:
    """Return whether a guard of the definition or of its endpoint is a coroutine."""
    return any(guard is not None and guard.is_async for guard in (definition.guard, endpoint.guard))


def permits(definition: Guarded, endpoint: EndpointDefinition, principal: Principal) -> bool:
    """Return whether the principal may see and call the definition; for guards that need no await."""
    if endpoint.login_required and not principal.user.is_authenticated:
        return False
    guards = (endpoint.guard, definition.guard)
    return all(guard is None or _ask(guard, definition.name, principal) for guard in guards)


async def apermits(
    definition: Guarded, endpoint: EndpointDefinition, principal: Principal, run_sync: RunSync
) -> bool:
    """Return whether the principal may see and call the definition."""
    if not needs_await(definition, endpoint):
        return bool(await run_sync(permits, definition, endpoint, principal))
    if endpoint.login_required and not principal.user.is_authenticated:
        return False
    for guard in (endpoint.guard, definition.guard):
        if guard is not None and not await _aask(guard, definition.name, principal, run_sync):
            return False
    return True


async def choose_permitted(
    definitions: Sequence[Any], endpoint: EndpointDefinition, principal: Principal, run_sync: RunSync
) -> list[Any]:
    """Return the definitions that the principal may see, in order; all sync guards are asked in one hop."""
    answers: dict[int, bool] = {}
    plain = [item for item in definitions if not needs_await(item, endpoint)]
    if plain:
        answers.update(await run_sync(_ask_all, plain, endpoint, principal))
    for item in definitions:
        if id(item) not in answers:
            answers[id(item)] = await apermits(item, endpoint, principal, run_sync)
    return [item for item in definitions if answers[id(item)]]


def _ask_all(
    definitions: Sequence[Any], endpoint: EndpointDefinition, principal: Principal
) -> dict[int, bool]:
    principal.refresh()
    return {id(item): permits(item, endpoint, principal) for item in definitions}


def _ask(guard: Guard, name: str, principal: Principal) -> bool:
    try:
        return guard.check(principal.request)
    except Exception as error:  # noqa: BLE001 - a guard is the author's code; whatever it raises hides the tool
        return _hide(name, principal, error)


async def _aask(guard: Guard, name: str, principal: Principal, run_sync: RunSync) -> bool:
    try:
        return await guard.acheck(principal.request, run_sync)
    except Exception as error:  # noqa: BLE001 - as above
        return _hide(name, principal, error)


def _hide(name: str, principal: Principal, error: Exception) -> bool:
    """Return the answer of a guard that raised: no. It is logged once a request (contract G04)."""
    if name not in principal.failed_guards:
        principal.failed_guards.add(name)
        logger.error("The guard of %s raised; it is hidden from this request", name, exc_info=error)
    return False
