"""`mcp_urls`: the URLs of all endpoints under one prefix (contracts P11, P13)."""

import asyncio
import re

from django.urls import ResolverMatch, URLPattern
from django.urls.resolvers import RegexPattern

from mcp_server.definitions.endpoint import DEFAULT
from mcp_server.definitions.registry import UnknownEndpoint, registry

METADATA = "mcp-resource-metadata"
_NAME = r"(?P<endpoint>[A-Za-z0-9_-]+)"


class EndpointPattern(URLPattern):
    """A URL whose view fits the server: the sync one where no event loop runs, the async one otherwise.

    An async view under WSGI, or a sync one under ASGI, would answer too, but at the cost of a thread or a loop for
    each request; and only the async one learns that a client left.
    """

    def __init__(self, route: str, name: str) -> None:
        # Only now: this module is public, and views need Django's apps (contract D07).
        from mcp_server.protocol import views

        pattern = RegexPattern(route, name=name, is_endpoint=True)
        super().__init__(pattern, views.exempted(views.synchronous), name=name)
        self._asynchronous = URLPattern(pattern, views.exempted(views.asynchronous), name=name)

    def resolve(self, path: str) -> ResolverMatch | None:
        """Return the match with the view of the server that asks."""
        return self._asynchronous.resolve(path) if _runs_in_loop() else super().resolve(path)


class RootEndpointPattern(EndpointPattern):
    """An endpoint's URL right at the root: only names that exist, since the rest belongs to other views."""

    def resolve(self, path: str) -> ResolverMatch | None:
        """Return the match where there is such an endpoint."""
        match = super().resolve(path)
        try:
            if match is not None:
                registry.endpoint(match.kwargs["endpoint"])
        except UnknownEndpoint:
            return None
        return match


class MetadataPattern(URLPattern):
    """The well-known document of an endpoint, where its authentication has one; else another app may answer."""

    def __init__(self, route: str) -> None:
        from mcp_server.protocol import metadata

        self._source_of = metadata.metadata_source
        pattern = RegexPattern(route, name=METADATA, is_endpoint=True)
        super().__init__(pattern, metadata.protected_resource, name=METADATA)

    def resolve(self, path: str) -> ResolverMatch | None:
        """Return the match where there is a document."""
        match = super().resolve(path)
        if match is None or self._source_of(match.kwargs.get("endpoint", DEFAULT)) is None:
            return None
        return match


def mcp_urls(prefix: str = "mcp") -> list[URLPattern]:
    """Return the URL patterns of all endpoints: `*mcp_urls("mcp")` in `urlpatterns`.

    `/mcp` is the default endpoint, `/mcp/<name>` any other; each with and without a final slash, and without a
    redirect, which a POST would not survive. `reverse("mcp")` and `reverse("mcp-endpoint", args=["code"])` give their
    URLs. The metadata by which OAuth clients find their server stand beside them, so mount these at the root.

    Args:
        prefix: where they are served, without slashes at the ends; "" serves them at the root.
    """
    base = re.escape(prefix.strip("/"))
    if not base:
        return [
            EndpointPattern(r"^\Z", "mcp"),
            *_metadata(""),
            RootEndpointPattern(rf"^{_NAME}/?\Z", "mcp-endpoint"),
        ]
    # The busiest first, since Django tries them in order.
    return [
        EndpointPattern(rf"^{base}/?\Z", "mcp"),
        EndpointPattern(rf"^{base}/{_NAME}/?\Z", "mcp-endpoint"),
        *_metadata(f"/{base}"),
    ]


def _metadata(path: str) -> list[URLPattern]:
    known = r"^\.well-known/oauth-protected-resource"
    # Clients that were told no address look under the endpoint's path first, and then at the root.
    routes = dict.fromkeys([rf"{known}/?\Z", rf"{known}{path}/?\Z", rf"{known}{path}/{_NAME}/?\Z"])
    return [MetadataPattern(route) for route in routes]


def _runs_in_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
