"""`manage.py mcp_stdio`: serve an endpoint to a local client over standard input and output."""

from typing import Any

from asgiref.sync import async_to_sync
from django.core.exceptions import PermissionDenied
from django.core.management.base import CommandError, CommandParser

from mcp_server.management.base import ToolkitCommand, find_user, require_endpoint


class Command(ToolkitCommand):
    help = "Serve an endpoint to one local client, as a user. The client starts this command; it ends with the client."
    examples = """  manage.py mcp_stdio --user ada
  manage.py mcp_stdio --user ada --endpoint code

  In the client's configuration:
  {"mcpServers": {"shop": {"command": "/path/to/python", "args": ["/path/to/manage.py", "mcp_stdio", "--user", "ada"]}}}
"""
    # Nothing but the protocol may be written to standard output.
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        self.add_user_argument(parser)
        self.add_endpoint_argument(parser)

    def handle(self, *args: Any, user: str | None, endpoint: str, **options: Any) -> None:
        from mcp_server.protocol.stdio import serve

        try:
            async_to_sync(serve)(find_user(user), require_endpoint(endpoint))
        except PermissionDenied as error:
            raise CommandError(str(error)) from error
