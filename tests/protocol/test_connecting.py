"""The page for people who open an endpoint in a browser (P09)."""

import base64
import json
import re
from collections.abc import Iterator
from urllib.parse import parse_qs, unquote, urlsplit

import pytest
from django.test import AsyncClient, Client, override_settings

from mcp_server import tool
from mcp_server.definitions.registry import registry

BROWSER = {"Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}
SETTINGS = {
    "ENDPOINTS": {
        "default": {"TITLE": "Shop <Tools>"},
        "open": {"LOGIN_REQUIRED": False},
        "away": {"WEBSITE_URL": "https://docs.example/mcp"},
    }
}


@pytest.fixture(autouse=True)
def endpoints() -> Iterator[None]:
    with registry.isolated(empty=True), override_settings(MCP_SERVER=SETTINGS):

        @tool
        def secret_tool() -> str:
            return ""

        yield


@pytest.mark.proves("P09")
def test_a_browser_gets_a_page_that_connects_clients_and_reveals_nothing() -> None:
    response = Client().get("/mcp", headers=BROWSER)
    assert response.status_code == 200
    text = response.content.decode()
    assert "Shop &lt;Tools&gt;" in text
    assert "http://testserver/mcp" in text
    assert "Bearer YOUR_TOKEN" in text
    assert "secret" not in text
    cursor = re.search(r'href="(cursor:[^"]+)"', text)
    vscode = re.search(r'href="vscode:mcp/install\?([^"]+)"', text)
    assert cursor
    assert vscode
    query = parse_qs(urlsplit(cursor[1].replace("&amp;", "&")).query)
    assert json.loads(base64.b64decode(query["config"][0])) == {
        "type": "http",
        "url": "http://testserver/mcp",
        "headers": {"Authorization": "Bearer YOUR_TOKEN"},
    }
    assert json.loads(unquote(vscode[1]))["url"] == "http://testserver/mcp"


@pytest.mark.proves("P09")
async def test_the_page_is_there_under_asgi_too() -> None:
    response = await AsyncClient().get("/mcp/open", headers=BROWSER)
    assert response.status_code == 200
    assert "YOUR_TOKEN" not in response.content.decode()


@pytest.mark.proves("P09")
def test_an_endpoint_with_a_website_sends_people_there() -> None:
    response = Client().get("/mcp/away/", headers=BROWSER)
    assert (response.status_code, response["Location"]) == (302, "https://docs.example/mcp")


@pytest.mark.proves("P09", "P11a")
@pytest.mark.parametrize("accept", ["*/*", "application/json", "text/event-stream", ""])
def test_what_is_no_browser_gets_no_page(accept: str) -> None:
    assert Client().get("/mcp", headers={"Accept": accept}).status_code == 405
    assert Client().get("/mcp/nothing", headers=BROWSER).status_code == 404
