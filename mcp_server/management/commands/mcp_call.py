"""`manage.py mcp_call`: call one tool as a user, as a client would."""

import json
import shlex
import sys
from typing import Any

from asgiref.sync import async_to_sync
from django.core.management.base import CommandError, CommandParser

from mcp_server.calls.caller import enter_as
from mcp_server.calls.rendering import Rendered, render
from mcp_server.codemode.offering import call_offered
from mcp_server.definitions.results import Text
from mcp_server.exceptions import UnknownTool
from mcp_server.management.base import FAILED, ToolkitCommand, find_user, require_endpoint


class Command(ToolkitCommand):
    help = "Call a tool as a user and print what a model would read. Exit code 3: the tool answered with an error."
    examples = """  manage.py mcp_call list-users --user ada
  manage.py mcp_call get-user '{"id": "123"}' --user ada --json
  echo '{"id": "123"}' | manage.py mcp_call get-user - --user ada
"""

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("tool", help="name of the tool")
        parser.add_argument(
            "arguments", nargs="?", default="{}", help="a JSON object, or - to read it from stdin"
        )
        self.add_caller_arguments(parser)

    def handle(self, *args: Any, tool: str, arguments: str, user: str, endpoint: str, **options: Any) -> None:
        values = _read(sys.stdin.read() if arguments == "-" else arguments)
        result = async_to_sync(_call)(find_user(user), require_endpoint(endpoint), tool, values)
        text = "\n".join(item.text if isinstance(item, Text) else repr(item) for item in result.content)
        if options["json"]:
            self.write_json({"is_error": result.is_error, "text": text, "structured": result.structured})
        elif not result.is_error:
            self.stdout.write(text)
        if result.is_error:
            raise CommandError(text, returncode=FAILED)


async def _call(user: Any, endpoint: str, tool: str, arguments: dict[str, Any]) -> Rendered:
    caller = await enter_as(user, endpoint)
    try:
        called = await call_offered(caller, tool, arguments)
    except UnknownTool:
        raise CommandError(_missing(tool, user, endpoint)) from None
    form = called.definition.result_format or caller.endpoint.definition.result_format
    return render(called.outcome, called.definition, result_format=form, structured_allowed=True)


def _missing(tool: str, user: Any, endpoint: str) -> str:
    if user is None:
        return f"Without a user there is no tool {tool!r} at {endpoint!r}. Give one: --user NAME."
    name = user.get_username()
    listing = f"manage.py mcp_tools --user {shlex.quote(name)} --endpoint {endpoint}"
    return f"{name} has no tool {tool!r} at {endpoint!r}. `{listing}` says what is there and why."


def _read(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError as error:
        raise CommandError(f"The arguments are no JSON: {error}.") from error
    if not isinstance(value, dict):
        raise CommandError('The arguments must be a JSON object, such as \'{"id": "123"}\'.')
    return value
