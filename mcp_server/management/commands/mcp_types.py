"""`manage.py mcp_types`: what the `code` tool tells a model about the tools, and what that costs (contract C02, C05)."""

from typing import Any

from asgiref.sync import async_to_sync
from django.core.management.base import CommandParser

from mcp_server.calls.caller import enter_as
from mcp_server.calls.dispatcher import visible_tools
from mcp_server.codemode.catalog import BUDGET, Detail, describe
from mcp_server.codemode.offering import describe_code, mode_for
from mcp_server.management.base import ToolkitCommand, counted, find_user, require_endpoint


class Command(ToolkitCommand):
    help = (
        "Print the description of `code` for a user: the types of what a program may call, and their tokens."
    )
    examples = """  manage.py mcp_types --user ada
  manage.py mcp_types --user ada --endpoint code --detail types
  manage.py mcp_types --user ada --json
"""

    def add_arguments(self, parser: CommandParser) -> None:
        self.add_caller_arguments(parser)
        parser.add_argument(
            "--detail",
            choices=[*(detail.value for detail in Detail), "auto"],
            help="how much is told (what the endpoint's code mode gives)",
        )

    def handle(self, *args: Any, user: str | None, endpoint: str, detail: str | None, **options: Any) -> None:
        report = async_to_sync(_report)(find_user(user), require_endpoint(endpoint), detail)
        if options["json"]:
            self.write_json(report)
            return
        self.stdout.write(report["text"])
        self.stderr.write(
            f"Endpoint {endpoint}, code mode {report['code_mode']}, as {user or 'nobody'}:"
            f" {counted(report['count'], 'tool')}, detail {report['detail']}, about {report['tokens']:,} tokens;"
            f" auto keeps within {report['budget']:,}."
        )
        if report["code_mode"] == "off":
            self.stderr.write(
                "Code mode is off here, so clients see no `code`; with it on, they would see this."
            )


async def _report(user: Any, endpoint: str, detail: str | None) -> dict[str, Any]:
    caller = await enter_as(user, endpoint)
    inside = await visible_tools(caller.on_side("inside"))
    mode = await mode_for(caller)
    if detail is None:
        description = describe_code(caller, inside, mode)
    else:
        template = caller.endpoint.definition.code_description
        description = describe(endpoint, inside, detail=detail, template=template)
    return {
        "endpoint": endpoint,
        "user": None if user is None else user.get_username(),
        "code_mode": mode,
        "detail": description.detail,
        "count": description.count,
        "tokens": description.tokens,
        "budget": BUDGET,
        "text": description.text,
    }
