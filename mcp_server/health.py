"""A view for load balancers: whether this process can serve.

from mcp_server.health import health

urlpatterns = [path("health/", health), ...]
"""

import logging
from collections.abc import Callable

from django.contrib.auth.decorators import login_not_required
from django.db import Error, connections, router, transaction
from django.http import HttpRequest, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from mcp_server.definitions.registry import registry
from mcp_server.exceptions import ConfigurationError
from mcp_server.models import Token

logger = logging.getLogger("mcp_server")


def _examine_database() -> None:
    with connections[router.db_for_read(Token)].cursor() as cursor:
        cursor.execute("SELECT 1")


def _examine_definitions() -> None:
    for problem in registry.broken:
        raise problem


_EXAMINATIONS: dict[str, tuple[Callable[[], None], type[Exception]]] = {
    "database": (_examine_database, Error),
    "definitions": (_examine_definitions, ConfigurationError),
}


@never_cache
@require_safe
@login_not_required
def health(request: HttpRequest) -> JsonResponse:
    """Return 200 where this process can serve, else 503 with a retry hint; says what fails, and nothing else."""
    found = {name: _state(name) for name in _EXAMINATIONS}
    if all(state == "ok" for state in found.values()):
        return JsonResponse({"status": "ok", **found})
    return JsonResponse({"status": "unavailable", **found}, status=503, headers={"Retry-After": "5"})


def _state(name: str) -> str:
    examine, error = _EXAMINATIONS[name]
    try:
        examine()
    except error as reason:
        logger.warning("Not healthy: %s: %s", name, reason)
        return "failed"
    return "ok"


# A database that is away must be told in words, not by the transaction that Django would open around the view.
for _alias in connections:
    health = transaction.non_atomic_requests(using=_alias)(health)
