"""What an endpoint does with a request before any guard is asked (contract P14).

A middleware is a function of the request, sync or async, or a class of such objects; an endpoint names them in
`middleware=[...]`, and they run in that order, once for each request, so that lists, calls and the calls of programs all
see what they did. A middleware

* returns None, and the request goes on; it may have set `request.user` and `request.mcp_scopes`, or a context variable;
* returns an `HttpResponse`, which is the answer;
* raises `PermissionDenied` (HTTP 403) or `InvalidCredential` (HTTP 401), and the request is refused;
* raises `Guidance` or `ToolError`: tools stay listed, and each call of one is answered so.
"""

import inspect
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest
from django.http.response import HttpResponseBase

from mcp_server.access.authentication import (
    InvalidCredential,
    RunSync,
    authenticate,
    load_parts,
    refuse_credential,
    require_login,
)
from mcp_server.access.principal import Principal
from mcp_server.access.refusal import Refusal
from mcp_server.definitions.endpoint import EndpointDefinition
from mcp_server.exceptions import Guidance, ToolError


async def admit(
    request: HttpRequest, endpoint: EndpointDefinition, run_sync: RunSync
) -> Principal | Refusal | HttpResponseBase:
    """Return who calls, why nobody is let in, or the answer of a middleware.

    Args:
        request: its `user` is set.
        endpoint: which is asked for.
        run_sync: runs a plain function on the thread that may touch the database.
    """
    principal = await authenticate(request, endpoint, run_sync)
    if isinstance(principal, Refusal):
        return principal
    try:
        answer = await run_middleware(principal, endpoint, run_sync)
    except InvalidCredential as error:
        return refuse_credential(error, request, endpoint)
    except PermissionDenied as error:
        return Refusal(403, str(error) or "You may not use this endpoint.")
    return answer or require_login(principal, endpoint) or principal


async def run_middleware(
    principal: Principal, endpoint: EndpointDefinition, run_sync: RunSync
) -> HttpResponseBase | None:
    """Return the answer of the endpoint's first middleware that gives one.

    Args:
        principal: takes over what they did to the request, and what every call is to be answered with.
        endpoint: whose middleware it is.
        run_sync: see `admit`.

    Raises:
        PermissionDenied, InvalidCredential: when a middleware refuses the request.
    """
    request = principal.request
    for item in load_parts(endpoint.middleware):
        try:
            answer = await item(request) if _is_async(item) else await run_sync(item, request)
        except (Guidance, ToolError) as error:
            principal.objection = error
            break
        if answer is not None and not isinstance(answer, HttpResponseBase):
            raise TypeError(f"Middleware {item!r} returned {answer!r}, which is neither None nor a response.")
        if answer is not None:
            return answer
    principal.scopes = getattr(request, "mcp_scopes", principal.scopes)
    return None


def _is_async(item: Any) -> bool:
    called = item if inspect.isroutine(item) else type(item).__call__
    return inspect.iscoroutinefunction(item) or inspect.iscoroutinefunction(called)
