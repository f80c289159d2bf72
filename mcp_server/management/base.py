"""What our commands share: examples in `--help`, users and endpoints by name, JSON for scripts (contract D03)."""

import argparse
import json
from collections.abc import Callable
from typing import Any

from django.contrib.auth import get_user_model
from django.core.management.base import BaseCommand, CommandError, CommandParser, DjangoHelpFormatter
from django.db import InterfaceError, OperationalError, ProgrammingError

from mcp_server.definitions.endpoint import DEFAULT
from mcp_server.definitions.registry import UnknownEndpoint, registry

FAILED = 3
"""Exit code where a tool or a program ran and failed; 1 is a mistake in what was asked, 2 one in its form."""


EXAMPLES = "examples:"


class ExamplesFormatter(DjangoHelpFormatter):
    """Shows our own options before those of every command, as Django does, and keeps the lines of examples."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return text if text.startswith(EXAMPLES) else super()._fill_text(text, width, indent)


class ToolkitCommand(BaseCommand):
    """A command with examples, and options that mean the same in all of them."""

    examples = ""

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        return super().create_parser(
            prog_name,
            subcommand,
            epilog=f"{EXAMPLES}\n{self.examples}",
            formatter_class=ExamplesFormatter,
            **kwargs,
        )

    def execute(self, *args: Any, **options: Any) -> str | None:
        """Run the command as Django does; say what to do where the database is away or has no tables yet."""
        try:
            return super().execute(*args, **options)
        except (OperationalError, ProgrammingError, InterfaceError) as error:
            raise CommandError(
                f"The database says: {error}. Run `manage.py migrate`, or look at DATABASES."
            ) from error

    def add_caller_arguments(self, parser: CommandParser) -> None:
        """Add `--user`, `--endpoint` and `--json`."""
        self.add_user_argument(parser)
        self.add_endpoint_argument(parser)
        parser.add_argument("--json", action="store_true", help="print JSON")

    def add_user_argument(self, parser: CommandParser) -> None:
        """Add `--user`."""
        parser.add_argument("--user", help="as whom, by the name at sign-in; nobody if left out")

    def add_endpoint_argument(self, parser: CommandParser) -> None:
        """Add `--endpoint`."""
        parser.add_argument("--endpoint", default=DEFAULT, help='name of the endpoint; "default" if left out')

    def write_json(self, value: Any) -> None:
        """Print a value as JSON."""
        self.stdout.write(json.dumps(value, indent=2, ensure_ascii=False, default=str))


def whole_number(least: int, most: int) -> Callable[[str], int]:
    """Return what reads an option's number, and refuses one out of range with the range."""

    def read(text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            raise argparse.ArgumentTypeError(f"{text!r} is no whole number") from None
        if not least <= number <= most:
            raise argparse.ArgumentTypeError(f"{number} is not between {least} and {most}")
        return number

    return read


def counted(number: int, noun: str) -> str:
    """Return a number with its noun, such as `1 tool` or `12 tools`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


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
        raise CommandError(
            f"There is no user {username!r}. `manage.py createsuperuser` or the admin makes one."
        ) from None


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
