"""`model_tools`, as authors write it."""

from collections.abc import Callable, Sequence
from typing import Any

from django.db import models

from mcp_server.definitions import naming
from mcp_server.definitions.model_tools.plan import PERMISSIONS, ModelPlan
from mcp_server.definitions.origin import Origin, find_caller
from mcp_server.definitions.registry import registry
from mcp_server.definitions.tool import ToolDefinition
from mcp_server.exceptions import ConfigurationError


def model_tools(
    model: type[models.Model],
    *,
    fields: Sequence[str],
    actions: Sequence[str] = ("list", "get"),
    **options: Any,
) -> None:
    """Register tools that list, get, create, update and delete the rows of a model.

    Users need the model's own permission for each: view, add, change or delete. Values are cleaned with `full_clean`,
    relations are given and shown by primary key, and a row that is not among a user's is not found.

    Args:
        model: the Django model.
        fields: what the tools show, and what create and update may set where the field is editable.
        actions: which of "list", "get", "create", "update" and "delete" there are.
        options: `queryset`, a function of the request that returns the rows of its user;
            `prepare(row, request)`, which completes a row before it is cleaned and saved;
            `writable`, fields that may be set, by default the editable ones among `fields`;
            `filters`, lookups such as "status" or "sent__gte", by default choices, booleans, relations and dates;
            `ordering`, fields to sort by; `max_limit`, the longest page, 100 by default;
            `name` and `plural`, what rows are called in the tools' names;
            `enabled`, a guard beside the permission; and `endpoints`, `group`, `tags`, `code_mode`, `cache`,
            `result_format`, `timeout` and `override` as in `@tool`.

    Raises:
        TypeError: for an option that does not exist.
    """
    origin = find_caller()
    own = {key: options.pop(key) for key in _OWN if key in options}
    shared = {key: options.pop(key) for key in _SHARED if key in options}
    if options:
        raise TypeError(f"model_tools() got an unexpected keyword argument {next(iter(options))!r}")
    plan = ModelPlan(model=model, given_fields=fields, settings=shared, **own)
    for action in actions:
        registry.add("tool", _builder(plan, action, tuple(actions), origin), origin)


_OWN = ("queryset", "prepare", "writable", "filters", "ordering", "max_limit", "name", "plural", "enabled")
_SHARED = ("endpoints", "group", "tags", "code_mode", "cache", "result_format", "timeout", "override")


def _builder(
    plan: "ModelPlan", action: str, actions: tuple[str, ...], origin: Origin
) -> Callable[[str], ToolDefinition]:
    def build(style: str) -> ToolDefinition:
        name = naming.derive_name(plan.tool_name(action), style)
        with origin.explaining(f"Tool {name!r}"):
            if action not in PERMISSIONS:
                raise ConfigurationError(
                    f"{action!r} is no action.", f"The actions are {', '.join(PERMISSIONS)}."
                )
            listing = naming.derive_name(plan.tool_name("list"), style) if "list" in actions else ""
            return ToolDefinition.build(
                plan.handler(action, listing), name, origin, plan.tool_settings(action)
            )

    return build
