"""`manage.py mcp_client_config`: what to paste into an MCP client."""

from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.management.base import CommandError, CommandParser
from django.urls import NoReverseMatch, reverse

from mcp_server.definitions.endpoint import DEFAULT
from mcp_server.definitions.registry import registry
from mcp_server.management.base import ToolkitCommand, find_user, require_endpoint
from mcp_server.management.clients import CLIENTS
from mcp_server.models import Token

PLACEHOLDER = "YOUR_TOKEN"


class Command(ToolkitCommand):
    help = "Print the configuration of MCP clients for the endpoints of this project."
    examples = """  manage.py mcp_client_config --url https://example.com
  manage.py mcp_client_config --client cursor --create-token ada > .cursor/mcp.json
  manage.py mcp_client_config --client vscode --endpoint code --token mcp_...
"""

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--client", choices=sorted(CLIENTS), help="only this client's, ready for a file")
        parser.add_argument("--endpoint", action="append", help="only this endpoint; may be given again")
        parser.add_argument("--url", default="http://127.0.0.1:8000", help="where the site is served")
        token = parser.add_mutually_exclusive_group()
        token.add_argument("--token", default=PLACEHOLDER, help="the token to put in")
        token.add_argument("--create-token", metavar="USER", help="make a token for this user and put it in")
        parser.add_argument("--json", action="store_true", help="print the text for each client as JSON")

    def handle(self, *args: Any, client: str | None, url: str, **options: Any) -> None:
        site = _site(url)
        names = options["endpoint"] or [endpoint.name for endpoint in registry.endpoints()]
        servers = {
            _server_name(site, name): url.rstrip("/") + _path(require_endpoint(name)) for name in names
        }
        token = self._token(options)
        texts = {
            name: found.write(servers, token) for name, found in CLIENTS.items() if client in {None, name}
        }
        if options["json"]:
            self.write_json(texts)
        elif client is not None:
            self.stdout.write(texts[client])
        else:
            for name, text in texts.items():
                found = CLIENTS[name]
                self.stdout.write(f"# {found.title}: {found.place}  (--client {name})\n\n{text}\n\n")

    def _token(self, options: dict[str, Any]) -> str:
        username = options["create_token"]
        if username is not None:
            token, text = Token.objects.issue(find_user(username), "mcp_client_config")
            self.stderr.write(f"Made token {token.pk}; `manage.py mcp_token revoke {token.pk}` ends it.")
            return text
        given: str = options["token"]
        if not given.strip():
            raise CommandError("--token is empty. `manage.py mcp_token create USERNAME` prints one.")
        if given == PLACEHOLDER:
            self.stderr.write(
                f"Put a token in place of {PLACEHOLDER}: `manage.py mcp_token create USERNAME`."
            )
        return given


def _site(url: str) -> str:
    """Return what a client may call this site: its host, or on one's own machine the project."""
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise CommandError("--url must look like https://example.com.")
    own = parts.hostname == "localhost" or not parts.hostname.rpartition(".")[2].isalpha()
    name: str = settings.ROOT_URLCONF.partition(".")[0] if own else parts.hostname
    return name.replace(".", "-").replace("_", "-")


def _server_name(site: str, endpoint: str) -> str:
    return site if endpoint == DEFAULT else f"{site}-{endpoint}"


def _path(endpoint: str) -> str:
    try:
        return reverse("mcp") if endpoint == DEFAULT else reverse("mcp-endpoint", args=[endpoint])
    except NoReverseMatch:
        raise CommandError('The URLconf serves no endpoint. Add *mcp_urls("mcp") to urlpatterns.') from None
