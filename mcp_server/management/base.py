"""What our commands share: examples in `--help`, users and endpoints by name, JSON for scripts (contract D03)."""

import argparse
import json
from typing import Any

from django.contrib.auth import get_user_model
from django.core.management.base import BaseCommand, CommandError, CommandParser

from mcp_server.definitions.endpoint import DEFAULT
from mcp_server.definitions.registry import UnknownEndpoint, registry

FAILED = 3
"""Exit code where a tool or a program ran and failed; 1 is a mistake in what was asked, 2 one in its form."""


class ToolkitCommand(BaseCommand):
    """A command with examples, and options that mean the same in all of them."""

    examples = ""
    as_json = False

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        return super().create_parser(
            prog_name,
            subcommand,
            epilog=f"examples:\n{self.examples}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
            **kwargs,
        )

    def add_caller_arguments(self, parser: CommandParser) -> None:
        """Add `--user`, `--endpoint` and `--json`."""
        parser.add_argument("--user", help="as whom, by the name at sign-in; nobody if left out")
        parser.add_argument("--endpoint", default=DEFAULT, help="name of the endpoint (default)")
        parser.add_argument("--json", action="store_true", help="print JSON")

    def write_json(self, value: Any) -> None:
        """Print a value as JSON."""
        self.stdout.write(json.dumps(value, indent=2, ensure_ascii=False, default=str))


def find_user(username: str | None) -> Any:
    """Return the user with this name, or None where no name is given.

    Raises:
        CommandError: when there is none, or none who may sign in.
    """
    if username is None:
        return None
    user = find_account(username)
    if not user.is_active:
        raise CommandError(f"The user {username!r} is not active.")
    return user


def find_account(username: str) -> Any:
    """Return the user with this name, who may be one that cannot sign in.

    Raises:
        CommandError: when there is none.
    """
    model = get_user_model()
    try:
        return model._default_manager.get_by_natural_key(username)
    except model.DoesNotExist:
        raise CommandError(f"There is no user {username!r}.") from None


def require_endpoint(name: str) -> str:
    """Return the name of an endpoint that is there and can be served.

    Raises:
        CommandError: when there is none, or the project's definitions are broken.
    """
    if registry.broken:
        raise CommandError(f"{registry.broken[0].message} Run `manage.py check` for all of it.")
    try:
        registry.endpoint(name)
    except UnknownEndpoint:
        known = ", ".join(endpoint.name for endpoint in registry.endpoints())
        raise CommandError(f"There is no endpoint {name!r}. There are: {known}.") from None
    return name
