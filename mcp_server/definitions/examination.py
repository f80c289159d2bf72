"""A close look at definitions, for `manage.py check` (contract T13, T15, T21, G10, R10)."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import Any

from django.conf import settings
from django.utils.module_loading import import_string

from mcp_server.definitions.caching import LONGEST_PLAIN_SECONDS
from mcp_server.definitions.definition import Definition
from mcp_server.definitions.endpoint import Endpoint, EndpointDefinition
from mcp_server.definitions.naming import CLIENT_NAME
from mcp_server.definitions.registry import Contents
from mcp_server.definitions.tool import ToolDefinition
from mcp_server.exceptions import ConfigurationError
from mcp_server.schema.validation import InvalidArguments


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing to mend (`E...`) or to think about (`W...`)."""

    number: str
    message: str
    hint: str = ""
    where: str = ""


def examine(contents: Contents) -> Iterator[Finding]:
    """Yield all findings, definition by definition and then endpoint by endpoint."""
    for tool in contents.tools:
        yield from _examine_tool(tool)
    for definition in (*contents.tools, *contents.resources, *contents.prompts):
        yield from _look_at_permissions(definition)
        yield from _look_at_endpoints(definition, contents)
    for endpoint in contents.endpoints.values():
        yield from _examine_endpoint(endpoint)
    if "*" in settings.ALLOWED_HOSTS:
        yield Finding(
            "W003",
            'ALLOWED_HOSTS = ["*"] lets any web page that a user visits reach the MCP endpoints by DNS rebinding.',
            "Name your hosts.",
        )


def _examine_tool(tool: ToolDefinition) -> Iterator[Finding]:
    try:
        _ = tool.arguments, tool.output
    except ConfigurationError as error:
        yield Finding("E006", error.message, error.hint, error.where)
        return
    for look in _LOOKS:
        yield from look(tool)


def _look_at_endpoints(definition: Definition, contents: Contents) -> Iterator[Finding]:
    for name in definition.endpoints or ():
        if name not in contents.endpoints:
            yield Finding(
                "E010",
                f"{definition.label}: there is no endpoint {name!r}, so nobody finds it there.",
                f"The endpoints are {', '.join(contents.endpoints)}.",
                definition.where,
            )


def _look_at_examples(tool: ToolDefinition) -> Iterator[Finding]:
    for example in tool.input_examples:
        try:
            tool.arguments.validate(example)
        except InvalidArguments as error:
            yield Finding(
                "E007", f"Tool {tool.name!r}: an input example is not valid: {error}", "Mend it.", tool.where
            )


def _look_at_cache(tool: ToolDefinition) -> Iterator[Finding]:
    plain = tool.cache.max_age if tool.cache is not None else None
    if isinstance(plain, int | float) and plain > LONGEST_PLAIN_SECONDS:
        yield Finding(
            "W001",
            f"Tool {tool.name!r}: cache={plain} is more than a week.",
            "Numbers are seconds, not milliseconds. Write a text such as '30 days' if you mean it.",
            tool.where,
        )


def _look_at_permissions(definition: Definition) -> Iterator[Finding]:
    for name in sorted(definition.guard.permissions() if definition.guard is not None else ()):
        if name not in _declared_permissions():
            yield Finding(
                "W002",
                f"{definition.label}: no model declares the permission {name!r}; only superusers have it.",
                'Write "app_label.codename" of a permission that exists.',
                definition.where,
            )


def _look_at_atomic(tool: ToolDefinition) -> Iterator[Finding]:
    if tool.atomic and tool.is_async:
        yield Finding(
            "E008",
            f"Tool {tool.name!r}: atomic=True needs a sync function.",
            "Django's transactions do not work in coroutines: write `def`, or open one in a sync function it calls.",
            tool.where,
        )


_LOOKS: tuple[Callable[[ToolDefinition], Iterator[Finding]], ...] = (
    _look_at_examples,
    _look_at_cache,
    _look_at_atomic,
)


@cache
def _declared_permissions() -> frozenset[str]:
    from django.apps import apps
    from django.contrib.auth import get_permission_codename

    found: set[str] = set()
    for model in apps.get_models(include_auto_created=True):
        options: Any = model._meta
        names = [get_permission_codename(action, options) for action in options.default_permissions]
        names += [codename for codename, _ in options.permissions]
        found.update(f"{options.app_label}.{name}" for name in names)
    return frozenset(found)


def _look_at_parts(definition: EndpointDefinition) -> Iterator[Finding]:
    """Yield what `authentication` and `middleware` name and cannot be imported or called."""
    for part in (*(definition.authentication or ()), *definition.middleware):
        try:
            found = import_string(part) if isinstance(part, str) else part
            reason = "" if callable(found) or hasattr(found, "authenticate") else "it cannot be called"
        except ImportError as error:
            reason = str(error)
        if reason:
            yield Finding(
                "E013",
                f"Endpoint {definition.name!r} names {part!r}: {reason}.",
                "Give a class or a function, or the dotted path of one.",
                definition.origin.where,
            )


def _examine_endpoint(endpoint: Endpoint) -> Iterator[Finding]:
    definition = endpoint.definition
    where = definition.origin.where
    yield from _look_at_parts(definition)
    if definition.code_mode != "off" and not definition.login_required:
        yield Finding(
            "W004",
            f"Endpoint {endpoint.name!r} runs code for anybody.",
            "Remove login_required=False, or turn code mode off there.",
            where,
        )
    if not endpoint.tools and (definition.tools, definition.groups, definition.tags) != (None, None, None):
        yield Finding(
            "W006",
            f"Endpoint {endpoint.name!r} has no tool: none has the names, groups or tags that it chooses.",
            "`manage.py mcp_tools` prints what there is.",
            where,
        )
    for tool in endpoint.tools.values():
        as_json = (tool.result_format or definition.result_format) == "json"
        for what, hint in _unfit_for_model_apis(tool):
            yield Finding(
                "E009" if as_json else "W005",
                f"Tool {tool.name!r} on endpoint {endpoint.name!r}: model APIs refuse {what}.",
                hint,
                tool.where,
            )


def _unfit_for_model_apis(tool: ToolDefinition) -> Iterator[tuple[str, str]]:
    if not CLIENT_NAME.fullmatch(tool.name):
        yield "its name", "Use ASCII letters, digits, `-` and `_`, at most 64 of them."
    with suppress(ConfigurationError):  # reported where the tool is examined
        if "$ref" in tool.arguments.json_schema:
            yield "a $ref at the root of its input_schema", "Write the object there, and $ref below it."
