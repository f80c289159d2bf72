"""`mcp_urls` in a project's URLconf (P11b, P13)."""

import asyncio
import inspect

import pytest
from django.test import Client, override_settings
from django.urls import Resolver404, include, path, resolve, reverse

from mcp_server import mcp_urls
from mcp_server.definitions.registry import registry

pytestmark = pytest.mark.django_db
OPEN = {"ENDPOINTS": {"default": {"LOGIN_REQUIRED": False}, "tools": {"LOGIN_REQUIRED": False}}}


class at_the_root:
    urlpatterns = mcp_urls("")


class below_a_prefix:
    urlpatterns = [path("api/v1/<slug:tenant>/", include(mcp_urls("/a.i/mcp/")))]


def ping(url: str) -> int:
    message = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    return Client().post(url, message, content_type="application/json").status_code


@pytest.mark.proves("P11b")
@override_settings(MCP_SERVER=OPEN, ROOT_URLCONF=below_a_prefix)
def test_any_prefix_serves_with_and_without_the_slash() -> None:
    for url in ("/api/v1/acme/a.i/mcp", "/api/v1/acme/a.i/mcp/", "/api/v1/acme/a.i/mcp/tools/"):
        assert ping(url) == 200
    assert ping("/api/v1/acme/axi/mcp") == 404
    assert reverse("mcp", kwargs={"tenant": "acme"}) == "/api/v1/acme/a.i/mcp"
    assert reverse("mcp-endpoint", args=["acme", "tools"]) == "/api/v1/acme/a.i/mcp/tools"


@pytest.mark.proves("P11b")
@override_settings(MCP_SERVER=OPEN, ROOT_URLCONF=at_the_root)
def test_the_root_serves_only_endpoints_that_exist() -> None:
    with registry.isolated(empty=True):
        assert ping("/") == 200
        assert ping("/tools") == 200
        with pytest.raises(Resolver404):
            resolve("/about")


def test_the_view_fits_the_server_that_resolves() -> None:
    async def resolve_in_loop() -> bool:
        return inspect.iscoroutinefunction(resolve("/mcp").func)

    assert not inspect.iscoroutinefunction(resolve("/mcp").func)
    assert asyncio.run(resolve_in_loop())
