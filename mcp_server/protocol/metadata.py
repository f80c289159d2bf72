"""The well-known documents from which a client learns where to get a token (RFC 9728)."""

from collections.abc import Mapping
from typing import Any

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed, JsonResponse
from django.urls import reverse

from mcp_server.access.authentication import authentication_of
from mcp_server.definitions.endpoint import DEFAULT, EndpointDefinition
from mcp_server.definitions.registry import UnknownEndpoint, registry

HEADERS: Mapping[str, str] = {
    # Clients in a browser read it too; it holds nothing about anybody.
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Allow-Methods": "GET",
    "Access-Control-Allow-Headers": "MCP-Protocol-Version",
    "Cache-Control": "max-age=300",
}


@login_not_required
def protected_resource(request: HttpRequest, endpoint: str = DEFAULT) -> HttpResponse:
    """Answer with the metadata of an endpoint."""
    if request.method == "OPTIONS":
        return HttpResponse(status=204, headers=dict(HEADERS))
    if request.method not in {"GET", "HEAD"}:
        return HttpResponseNotAllowed(["GET", "HEAD", "OPTIONS"])
    source = metadata_source(endpoint)
    if source is None:
        return JsonResponse({"error": "There is no such document."}, status=404)
    document = source.metadata(request, request.build_absolute_uri(_path_of(endpoint)))
    return JsonResponse(document, headers=dict(HEADERS))


def metadata_source(endpoint: str) -> Any:
    """Return the authentication object that describes an endpoint, or None."""
    try:
        definition: EndpointDefinition = registry.endpoint(endpoint).definition
    except UnknownEndpoint:
        return None
    return next((item for item in authentication_of(definition) if hasattr(item, "metadata")), None)


def _path_of(endpoint: str) -> str:
    path = reverse("mcp") if endpoint == DEFAULT else reverse("mcp-endpoint", args=[endpoint])
    return path.rstrip("/") or "/"
