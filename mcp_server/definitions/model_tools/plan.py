"""From one use of `model_tools` to the function and the settings of each tool."""

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, Any, Literal, Required

from django.contrib.auth import get_permission_codename
from django.db import models
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import translation
from pydantic import Field as SchemaField
from typing_extensions import TypedDict

from mcp_server.definitions import naming
from mcp_server.definitions.guards import as_guard, has_perm
from mcp_server.definitions.model_tools.actions import UNSET, ModelActions
from mcp_server.definitions.model_tools.fields import (
    find_field,
    input_type,
    is_optional,
    is_writable,
    list_of,
    output_type,
    read_fields,
    value_type,
)
from mcp_server.definitions.model_tools.filters import read_filters, read_ordering
from mcp_server.exceptions import ConfigurationError

PERMISSIONS: Mapping[str, str] = {
    "list": "view", "get": "view", "create": "add", "update": "change", "delete": "delete"
}  # fmt: skip
"""The model permission that each action needs."""

REQUEST = "mcp_request"
"""The handlers' own parameter; the model may well have a field called `request`."""


@dataclass(frozen=True, kw_only=True)
class ModelPlan:
    """One use of `model_tools`; fields and filters are read when definitions are built."""

    model: type[models.Model]
    given_fields: Sequence[str]
    settings: Mapping[str, Any] = field(default_factory=dict)
    queryset: Callable[[HttpRequest], QuerySet[Any]] | None = None
    prepare: Callable[[Any, HttpRequest], None] | None = None
    writable: Iterable[str] | None = None
    filters: Iterable[str] | None = None
    ordering: Iterable[str] | None = None
    max_limit: int = 100
    name: str = ""
    plural: str = ""
    enabled: Any = None

    @cached_property
    def noun(self) -> str:
        """Return what one row is called: `order item`."""
        return self.name or " ".join(naming.words(self.model.__name__)).lower()

    @cached_property
    def nouns(self) -> str:
        """Return what several rows are called; tool names must not depend on the language of a request."""
        with translation.override("en"):
            said = str(self.model._meta.verbose_name_plural).lower()
        usual = f"{self.model._meta.model_name}s"
        return self.plural or (said if said != usual and said.isascii() else f"{self.noun}s")

    def tool_name(self, action: str) -> str:
        """Return the function name that a tool's name is made of: `list_order_items`."""
        return f"{action}_{self.nouns if action == 'list' else self.noun}".replace(" ", "_")

    def tool_settings(self, action: str) -> dict[str, Any]:
        """Return the settings of one tool, as `@tool` takes them."""
        options = self.model._meta
        guard = has_perm(f"{options.app_label}.{get_permission_codename(PERMISSIONS[action], options)}")
        return {
            **self.settings,
            "enabled": guard if self.enabled is None else guard & as_guard(self.enabled),
            "annotations": "read" if action in {"list", "get"} else action,
            "description": self._describe(action),
            "output_schema": self._output(action),
        }

    def handler(self, action: str, listing: str) -> Callable[..., Any]:
        """Return the function behind one tool; `listing` is the name of the tool that lists, if there is one."""
        actions = self._actions(listing)
        perform: Callable[[HttpRequest, Mapping[str, Any]], Any] = getattr(actions, action)

        def handle(**given: Any) -> Any:
            return perform(given.pop(REQUEST), given)

        parameters = self._parameters(action, actions)
        parameters[REQUEST] = (HttpRequest, inspect.Parameter.empty)
        handle.__name__ = handle.__qualname__ = self.tool_name(action)
        handle.__annotations__ = {name: annotation for name, (annotation, _) in parameters.items()}
        handle.__signature__ = inspect.Signature(  # type: ignore[attr-defined]  # read by `inspect.signature`
            [
                inspect.Parameter(
                    name, inspect.Parameter.KEYWORD_ONLY, annotation=annotation, default=default
                )
                for name, (annotation, default) in parameters.items()
            ]
        )
        return handle

    @cached_property
    def _fields(self) -> dict[str, Any]:
        return read_fields(self.model, self.given_fields)

    @cached_property
    def _writable(self) -> dict[str, Any]:
        if self.writable is None:
            return {name: item for name, item in self._fields.items() if is_writable(item)}
        chosen = {name: find_field(self.model, name) for name in self.writable}
        for name, item in chosen.items():
            if not is_writable(item):
                raise ConfigurationError(f"writable has {name!r}, which cannot be set.", "Leave it out.")
        return chosen

    @cached_property
    def _key(self) -> str:
        taken = {*self._writable, *self._fields} - {self.model._meta.pk.name}
        return "pk" if "id" in taken else "id"

    def _actions(self, listing: str) -> ModelActions:
        if self.queryset is not None and inspect.iscoroutinefunction(self.queryset):
            raise ConfigurationError("queryset is a coroutine function.", "Write `def`; rows are read later.")
        return ModelActions(
            model=self.model,
            noun=self.noun,
            fields=self._fields,
            writable=self._writable,
            filters=read_filters(self.model, self.filters, self._fields),
            key=self._key,
            queryset=self.queryset,
            prepare=self.prepare,
            advice=f" Take an id from {listing}." if listing else "",
        )

    def _parameters(self, action: str, actions: ModelActions) -> dict[str, tuple[Any, Any]]:
        """Return annotation and default of each argument."""
        required = inspect.Parameter.empty
        key = (value_type(self.model._meta.pk), required)
        if action == "list":
            return self._list_parameters(actions)
        if action == "create":
            return {
                name: (input_type(item), UNSET if is_optional(item) or item.many_to_many else required)
                for name, item in self._writable.items()
            }
        if action == "update":
            settable = {name: item for name, item in self._writable.items() if not item.primary_key}
            return {self._key: key, **{name: (input_type(item), UNSET) for name, item in settable.items()}}
        return {self._key: key}

    def _list_parameters(self, actions: ModelActions) -> dict[str, tuple[Any, Any]]:
        own: dict[str, tuple[Any, Any]] = {
            "limit": (_noted(int, "At most so many", ge=1, le=self.max_limit), min(20, self.max_limit)),
            "offset": (_noted(int, "Skip so many", ge=0), 0),
            "fields": (_noted(list_of(Literal[tuple(self._fields)]), "Only these", min_length=1), UNSET),
        }
        order = read_ordering(self.ordering, self._fields)
        if order is not None:
            own["order_by"] = (list_of(order), UNSET)
        for name in own.keys() & actions.filters.keys():
            raise ConfigurationError(
                f"filter {name!r} has the name of another argument.", f"Write {name + '__exact'!r}."
            )
        return {**{name: (item.annotation, UNSET) for name, item in actions.filters.items()}, **own}

    def _output(self, action: str) -> Any:
        if action == "delete":
            return None
        title = "".join(word[:1].upper() + word[1:] for word in naming.words(self.noun))
        members = {name: output_type(item) for name, item in self._fields.items()}
        if action != "list":
            return TypedDict(title, members)  # type: ignore[operator]  # made for pydantic
        # A caller may choose among the fields of a list; the key is always there.
        key = self.model._meta.pk.name
        members[key] = Required[members[key]]
        return list_of(TypedDict(f"{title}Row", members, total=False))  # type: ignore[operator]  # as above

    def _describe(self, action: str) -> str:
        return {
            "list": f"List {self.nouns}: at most `limit`, after the first `offset`.",
            "get": f"Return one {self.noun}.",
            "create": f"Create a {self.noun} and return it.",
            "update": f"Change a {self.noun} and return it; fields that are not given stay as they are.",
            "delete": f"Delete a {self.noun}.",
        }[action]


def _noted(found: Any, description: str, **limits: Any) -> Any:
    return Annotated[found, SchemaField(description=description, **limits)]
