"""The one place that decides who may see and call a definition: for list, call, search, catalog and code (contract G01)."""

import logging
from collections.abc import Sequence
from typing import Any, Protocol

from mcp_server.access.principal import Principal
from mcp_server.definitions.endpoint import EndpointDefinition
from mcp_server.definitions.guards import Guard, Runs

logger = logging.getLogger("mcp_server")


class Guarded(Protocol):
    """A tool, resource or prompt."""

    @property
    def name(self) -> str: ...
    @property
    def guard(self) -> Guard | None: ...


def needs_await(definition: Guarded, endpoint: EndpointDefinition) -> bool:
    """Return whether a guard of the definition or of its endpoint is a coroutine."""
    return _is_async(definition.guard) or _is_async(endpoint.guard)


def needs_thread(definition: Guarded, endpoint: EndpointDefinition, principal: Principal) -> bool:
    """Return whether the decision may touch the database: a guard may ask it, and an old principal is read again."""
    return definition.guard is not None or endpoint.guard is not None or principal.may_turn_stale


def permits(definition: Guarded, endpoint: EndpointDefinition, principal: Principal) -> bool:
    """Return whether the principal may see and call the definition; for guards that need no await."""
    principal.refresh()
    return _lets_in(endpoint, principal) and _ask(definition.guard, definition.name, principal)


async def apermits(
    definition: Guarded, endpoint: EndpointDefinition, principal: Principal, runner: Runs
) -> bool:
    """Return whether the principal may see and call the definition."""
    if not needs_await(definition, endpoint):
        return bool(await runner.sync(permits, definition, endpoint, principal))
    return await _alets_in(endpoint, principal, runner) and await _aask(
        definition.guard, definition.name, principal, runner
    )


async def choose_permitted(
    definitions: Sequence[Any], endpoint: EndpointDefinition, principal: Principal, runner: Runs
) -> list[Any]:
    """Return the definitions that the principal may see, in order; all sync guards are asked in one hop."""
    awaited = [item for item in definitions if _is_async(item.guard)]
    if awaited or _is_async(endpoint.guard):
        if not await _alets_in(endpoint, principal, runner):
            return []
        chosen = await runner.sync(_ask_each, definitions, principal)
        for item in awaited:
            if await _aask(item.guard, item.name, principal, runner):
                chosen.add(id(item))
    else:
        chosen = await runner.sync(_choose, definitions, endpoint, principal)
    return [item for item in definitions if id(item) in chosen]


def _is_async(guard: Guard | None) -> bool:
    return guard is not None and guard.is_async


def _choose(definitions: Sequence[Any], endpoint: EndpointDefinition, principal: Principal) -> set[int]:
    principal.refresh()
    return _ask_each(definitions, principal) if _lets_in(endpoint, principal) else set()


def _ask_each(definitions: Sequence[Any], principal: Principal) -> set[int]:
    plain = (item for item in definitions if not _is_async(item.guard))
    return {id(item) for item in plain if _ask(item.guard, item.name, principal)}


def _lets_in(endpoint: EndpointDefinition, principal: Principal) -> bool:
    if endpoint.login_required and not principal.user.is_authenticated:
        return False
    return _ask(endpoint.guard, f"endpoint {endpoint.name}", principal)


async def _alets_in(endpoint: EndpointDefinition, principal: Principal, runner: Runs) -> bool:
    await runner.sync(principal.refresh)
    if endpoint.login_required and not principal.user.is_authenticated:
        return False
    return await _aask(endpoint.guard, f"endpoint {endpoint.name}", principal, runner)


def _ask(guard: Guard | None, name: str, principal: Principal) -> bool:
    try:
        return guard is None or guard.check(principal.request)
    except Exception as error:  # noqa: BLE001 - a guard is the author's code; whatever it raises hides the tool
        return _hide(name, principal, error)


async def _aask(guard: Guard | None, name: str, principal: Principal, runner: Runs) -> bool:
    try:
        return guard is None or await guard.acheck(principal.request, runner)
    except Exception as error:  # noqa: BLE001 - as above
        return _hide(name, principal, error)


def _hide(name: str, principal: Principal, error: Exception) -> bool:
    """Return the answer of a guard that raised: no. It is logged once a request (contract G04)."""
    if name not in principal.failed_guards:
        principal.failed_guards.add(name)
        logger.error(
            "The guard of %s raised; what it guards is hidden from this request", name, exc_info=error
        )
    return False
