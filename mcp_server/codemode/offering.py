"""What an endpoint offers a client: its tools, or with code mode `code`, `search` and the tools kept beside them.

The protocol asks here and nowhere else, so that a list and a call always agree (contract C01, C02, G02).
"""

from collections.abc import Mapping
from typing import Any, Literal

from mcp_server.calls.caller import Caller
from mcp_server.calls.dispatcher import call_tool, visible_tools
from mcp_server.calls.results import Outcome
from mcp_server.codemode.catalog import Description, Detail, describe
from mcp_server.codemode.names import CODE, SEARCH
from mcp_server.codemode.tool import build_code_tool, build_search_tool
from mcp_server.definitions.endpoint import CodePolicy, EndpointDefinition
from mcp_server.definitions.tool import ToolDefinition
from mcp_server.definitions.values import value
from mcp_server.policy.codemode import effective_code_policy
from mcp_server.policy.rows import UNKNOWN, remembered_row

Mode = Literal["off", "on", "progressive", "auto"]
WISHES: Mapping[str, Mode] = {"off": "off", "on": "on", "progressive": "progressive"}


@value()
class Called:
    """A finished call, and the definition that renders it."""

    outcome: Outcome
    definition: ToolDefinition


def choose_mode(definition: EndpointDefinition, policy: CodePolicy, wish: str | None) -> Mode:
    """Return the code mode of one request (contract C19).

    Args:
        definition: of the endpoint, whose own mode it is by default.
        policy: "off" and "enforced" leave no choice, "opt-in" is off unless wished, "default" on unless wished away.
        wish: the request's `?codemode=`; anything but off, on and progressive is no wish.
    """
    own: Mode = "on" if definition.code_mode == "off" else definition.code_mode
    wished = WISHES.get(wish or "")
    if policy == "off":
        return "off"
    if policy == "enforced":
        return own
    if policy == "opt-in":
        return wished or "off"
    return wished or own


async def mode_for(caller: Caller) -> Mode:
    """Return the code mode of a caller's request; staff may have changed the endpoint's policy in the admin."""
    definition = caller.endpoint.definition
    if remembered_row(definition.name) is not UNKNOWN and not caller.in_transaction:
        policy = effective_code_policy(definition.name, definition.policy)
    else:
        policy = await caller.runner.sync(effective_code_policy, definition.name, definition.policy)
    return choose_mode(definition, policy, caller.principal.request.GET.get("codemode"))


async def offered_tools(caller: Caller) -> list[ToolDefinition]:
    """Return what the caller's `tools/list` shows, sorted by name."""
    mode = await mode_for(caller)
    if mode == "off":
        return await visible_tools(caller)
    inside = await visible_tools(caller.on_side("inside"))
    beside = await visible_tools(caller.on_side("beside"))
    return sorted([*_own_tools(caller, inside, mode), *beside], key=lambda item: item.name)


def _own_tools(caller: Caller, inside: list[ToolDefinition], mode: Mode) -> list[ToolDefinition]:
    if not inside:
        return []
    description = describe_code(caller, inside, mode)
    own = [build_code_tool(inside, description.text)]
    if description.detail is Detail.PROGRESSIVE:
        own.append(build_search_tool(len(inside)))
    return own


def describe_code(caller: Caller, inside: list[ToolDefinition], mode: Mode) -> Description:
    """Return the description of `code` for a caller whose programs may call the tools `inside`."""
    definition = caller.endpoint.definition
    detail = Detail.PROGRESSIVE.value if mode == "progressive" else "auto"
    description = describe(caller.endpoint.name, inside, detail=detail, template=definition.code_description)
    if mode == "on" and description.detail in {Detail.NAMES, Detail.PROGRESSIVE}:
        # "on" promises types, whatever they cost; "auto" may do with less.
        return describe(
            caller.endpoint.name, inside, detail=Detail.TYPES, template=definition.code_description
        )
    return description


async def call_offered(caller: Caller, name: str, arguments: Mapping[str, Any] | None) -> Called:
    """Return how a call of something offered ended.

    Raises:
        UnknownTool: when the caller's list does not show the name.
    """
    if await mode_for(caller) == "off":
        outcome = await call_tool(caller, name, arguments)
        return Called(outcome, caller.endpoint.tools[name])
    if name in {CODE, SEARCH}:
        inside = await visible_tools(caller.on_side("inside"))
        own = build_code_tool(inside, "") if name == CODE else build_search_tool(len(inside))
        if inside:
            return Called(await call_tool(caller, name, arguments, definition=own), own)
    outcome = await call_tool(caller.on_side("beside"), name, arguments)
    return Called(outcome, caller.endpoint.tools[name])
