"""The page for people: how to connect a client to an endpoint (contract P09)."""

import base64
import json
from typing import Any
from urllib.parse import quote

from django.http import HttpRequest, HttpResponseBase, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.utils.translation import get_language

from mcp_server.definitions.endpoint import DEFAULT, EndpointDefinition

PLACEHOLDER = "YOUR_TOKEN"


def wants_page(request: HttpRequest) -> bool:
    """Return whether a person visits: browsers ask for HTML, MCP clients never do."""
    return request.method in {"GET", "HEAD"} and "text/html" in request.headers.get("Accept", "")


def connect_page(request: HttpRequest, definition: EndpointDefinition) -> HttpResponseBase:
    """Return the page, or a redirect to the endpoint's `website_url` where it has one.

    It says nothing of what the endpoint offers, so it needs no credential.
    """
    if definition.website_url:
        return HttpResponseRedirect(definition.website_url)
    url = request.build_absolute_uri(request.path)
    name = definition.name if definition.name != DEFAULT else request.get_host().partition(":")[0]
    entry: dict[str, Any] = {"type": "http", "url": url}
    if definition.login_required:
        entry["headers"] = {"Authorization": f"Bearer {PLACEHOLDER}"}
    page = TemplateResponse(
        request,
        "mcp_toolkit/connect.html",
        {
            "title": definition.title or "MCP",
            "description": definition.description,
            "language": get_language(),
            "url": url,
            "needs_token": definition.login_required,
            "configuration": json.dumps({"mcpServers": {name: entry}}, indent=2, ensure_ascii=False),
            "claude_command": _claude_command(name, entry),
            "cursor_link": _cursor_link(name, entry),
            "vscode_link": f"vscode:mcp/install?{quote(json.dumps({'name': name, **entry}))}",
        },
        headers={"Vary": "Accept", "X-Robots-Tag": "noindex", "Cache-Control": "no-store"},
    )
    return page.render()


def _claude_command(name: str, entry: dict[str, Any]) -> str:
    header = f' --header "Authorization: Bearer {PLACEHOLDER}"' if "headers" in entry else ""
    return f"claude mcp add --transport http {name} {entry['url']}{header}"


def _cursor_link(name: str, entry: dict[str, Any]) -> str:
    packed = base64.b64encode(json.dumps(entry).encode()).decode()
    return f"cursor://anysphere.cursor-deeplink/mcp/install?name={quote(name)}&config={quote(packed)}"
