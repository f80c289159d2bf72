"""`@tool`: a function becomes a definition, and stays the function that it was (contract T22)."""

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, overload

from mcp_server.definitions import naming
from mcp_server.definitions.annotations import Annotations, as_annotations
from mcp_server.definitions.caching import CacheOptions, as_cache_options
from mcp_server.definitions.context import Context
from mcp_server.definitions.definition import Definition, Function
from mcp_server.definitions.results import CONTENT_TYPES, ToolResult
from mcp_server.exceptions import ConfigurationError
from mcp_server.schema.output import Output, read_output
from mcp_server.schema.signature import Arguments, read_arguments

ResultFormat = Literal["text", "json"]


_TAKEN_AS_THEY_ARE = (
    "input_schema", "output_schema", "result_format", "code_mode", "timeout", "atomic", "extra",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True, eq=False)
class ToolDefinition(Definition):
    """One tool as its author wrote it. Schemas are made when first asked for, so that defining costs nothing."""

    kind = "tool"

    annotations: Annotations | None = None
    input_schema: Any = field(default=None, repr=False)
    output_schema: Any = field(default=None, repr=False)
    input_examples: tuple[Mapping[str, Any], ...] = ()
    cache: CacheOptions | None = None
    result_format: ResultFormat | None = None
    code_mode: bool = True
    timeout: float | None = None
    atomic: bool | None = None
    extra: Literal["forbid", "ignore"] = "forbid"
    recorded: bool = True

    @classmethod
    def own_fields(cls, settings: Mapping[str, Any]) -> dict[str, Any]:
        return {
            "annotations": as_annotations(settings),
            "input_examples": tuple(settings.get("input_examples") or ()),
            "cache": as_cache_options(settings.get("cache")),
            **{key: settings[key] for key in _TAKEN_AS_THEY_ARE if settings.get(key) is not None},
        }

    def verify(self) -> None:
        if not naming.PROTOCOL_NAME.fullmatch(self.name):
            raise ConfigurationError(
                "its name cannot be sent.", "Use letters, digits, `-` and `_`, at most 128 of them."
            )

    @functools.cached_property
    def arguments(self) -> Arguments:
        """Return what the tool takes.

        Raises:
            ConfigurationError: when the signature cannot be a schema.
        """
        with self.explaining():
            return read_arguments(
                self.handler,
                input_schema=self.input_schema,
                descriptions=self.documentation.parameters,
                extra=self.extra,
                context_type=Context,
            )

    @functools.cached_property
    def output(self) -> Output | None:
        """Return what the tool gives back, where its author said so.

        Raises:
            ConfigurationError: when `output_schema` cannot be used.
        """
        with self.explaining():
            return read_output(self.handler, self.output_schema, (*CONTENT_TYPES, ToolResult))


@overload
def tool(function: Function, /) -> Function: ...
@overload
def tool(
    *,
    name: str | None = None,
    title: str | None = None,
    description: str | None = None,
    enabled: Any = None,
    input_schema: Any = None,
    output_schema: Any = None,
    annotations: Any = None,
    read_only: bool | None = None,
    destructive: bool | None = None,
    idempotent: bool | None = None,
    open_world: bool | None = None,
    input_examples: Sequence[Mapping[str, Any]] = (),
    group: str | None = None,
    tags: Sequence[str] = (),
    cache: Any = None,
    result_format: ResultFormat | None = None,
    code_mode: bool = True,
    endpoints: Sequence[str] | None = None,
    timeout: float | None = None,
    atomic: bool | None = None,
    extra: Literal["forbid", "ignore"] = "forbid",
    override: bool = False,
    meta: Mapping[str, Any] | None = None,
    icons: Sequence[Any] = (),
) -> Callable[[Function], Function]: ...
def tool(function: Any = None, /, **settings: Any) -> Any:
    """Return the function unchanged, and register it as a tool of this project.

    Args:
        name: by default the function's name in kebab-case (`TOOL_NAMES`).
        title: by default the name in Title Case.
        description: by default the docstring; its parameter sections describe the fields.
        enabled: who may see and call it: a permission string, a list of them, a guard, or a function of the request.
        input_schema: instead of the signature: a model, a type, or a JSON Schema 2020-12 written by hand.
        output_schema: instead of the return annotation, likewise.
        annotations: "read", "create", "update", "delete", or a dict of the protocol's hints.
        read_only, destructive, idempotent, open_world: single hints; they override `annotations`.
        input_examples: argument objects that show how to call it; checked against the schema.
        group, tags: for search and filtering; the group is by default the module's or the app's.
        cache: how long an answer is kept: "5m", a timedelta, seconds, or `CacheOptions`.
        result_format: "text" or "json"; by default the endpoint's.
        code_mode: False keeps the tool out of code.
        endpoints: names of the endpoints that have it; by default those that name it, or the default one's rules.
        timeout: seconds after which a call ends with status 504.
        atomic: True wraps a sync handler in a transaction; None follows ATOMIC_REQUESTS.
        extra: "ignore" drops unknown arguments instead of refusing them.
        override: True replaces an earlier app's tool of the same name.
        meta: additional `_meta` of the tool.
        icons: icons of the tool, as the protocol describes them.
    """
    return ToolDefinition.decorate(function, settings)
