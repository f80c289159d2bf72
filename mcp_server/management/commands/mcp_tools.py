"""`manage.py mcp_tools`: what a user sees at an endpoint, and why something is hidden (contract T21)."""

from types import SimpleNamespace
from typing import Any

from asgiref.sync import async_to_sync
from django.core.management.base import CommandParser

from mcp_server.access.permission import apermits
from mcp_server.calls.caller import Caller, enter_as
from mcp_server.calls.dispatcher import visible_tools
from mcp_server.codemode.offering import mode_for, offered_tools
from mcp_server.definitions.registry import registry
from mcp_server.definitions.tool import ToolDefinition
from mcp_server.management.base import ToolkitCommand, counted, find_user, require_endpoint


class Command(ToolkitCommand):
    help = "Print the tools that a user sees at an endpoint, and why the others are hidden."
    examples = """  manage.py mcp_tools --user ada
  manage.py mcp_tools --user ada --endpoint code
  manage.py mcp_tools --user ada --json
"""

    def add_arguments(self, parser: CommandParser) -> None:
        self.add_caller_arguments(parser)

    def handle(self, *args: Any, user: str | None, endpoint: str, **options: Any) -> None:
        report = async_to_sync(_report)(find_user(user), require_endpoint(endpoint))
        if options["json"]:
            self.write_json(report)
            return
        total = len(report["tools"]) + len(report["hidden"])
        self.stdout.write(
            f"Endpoint {endpoint}, code mode {report['code_mode']}, as {user or 'nobody'}:"
            f" {len(report['tools'])} of {counted(total, 'tool')}\n"
        )
        if not total:
            self.stdout.write("No mcp_tools.py defines one; it must be in an app that INSTALLED_APPS names.")
        if report["code_mode"] != "off":
            self.stdout.write(
                f"A client lists {', '.join(report['listed']) or 'nothing'}; programs call what is marked *.\n"
            )
        for row in report["tools"]:
            mark = "*" if row["in_code"] else " "
            self.stdout.write(f" {mark} {row['name']:<28} {row['description'].partition(chr(10))[0]}")
        if report["hidden"]:
            self.stdout.write("\nHidden:")
        for row in report["hidden"]:
            self.stdout.write(f"   {row['name']:<28} {row['reason']}  ({row['where']})")


async def _report(user: Any, endpoint: str) -> dict[str, Any]:
    caller = await enter_as(user, endpoint)
    mode = await mode_for(caller)
    seen = {item.name: item for item in await visible_tools(caller.on_side("all"))}
    inside = set() if mode == "off" else {item.name for item in await visible_tools(caller.on_side("inside"))}
    hidden = [item for item in registry.contents.tools if seen.get(item.name) is not item]
    return {
        "endpoint": endpoint,
        "user": None if user is None else user.get_username(),
        "code_mode": mode,
        "listed": [item.name for item in await offered_tools(caller)],
        "tools": [_described(item, item.name in inside) for item in seen.values()],
        "hidden": [
            {"name": item.name, "reason": await _reason(item, caller), "where": item.where}
            for item in sorted(hidden, key=lambda item: item.name)
        ],
    }


def _described(definition: ToolDefinition, in_code: bool) -> dict[str, Any]:
    return {
        "name": definition.name,
        "title": definition.title,
        "description": definition.description,
        "group": definition.group,
        "tags": list(definition.tags),
        "in_code": in_code,
        "where": definition.where,
    }


async def _reason(definition: ToolDefinition, caller: Caller) -> str:
    """Return why a tool is not among those that the caller sees."""
    endpoint = caller.endpoint.definition
    if caller.endpoint.tools.get(definition.name) is not definition:
        return "this endpoint does not have it"
    if endpoint.login_required and not caller.principal.user.is_authenticated:
        return "the endpoint needs a signed-in user; give --user"
    open_to_all = SimpleNamespace(name="", guard=None)
    if not await apermits(open_to_all, endpoint, caller.principal, caller.runner):
        return f"the endpoint asks for {endpoint.guard}"
    if definition.name in caller.principal.failed_guards:
        return f"its guard {definition.guard} raised; the log says what"
    return f"it asks for {definition.guard}"
