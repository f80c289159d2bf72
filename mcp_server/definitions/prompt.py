"""`@prompt`: messages that a person may start from (contract P03)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, overload

from mcp_server.definitions.definition import Function, TextDefinition


@dataclass(frozen=True, kw_only=True, eq=False)
class PromptDefinition(TextDefinition):
    """One prompt. Its handler gives a text, a content item, a message `{"role": ..., "content": ...}`, or a list."""

    kind = "prompt"


@overload
def prompt(function: Function, /) -> Function: ...
@overload
def prompt(
    *,
    name: str | None = None,
    title: str | None = None,
    description: str | None = None,
    enabled: Any = None,
    complete: Any = None,
    group: str | None = None,
    tags: Sequence[str] = (),
    endpoints: Sequence[str] | None = None,
    meta: Mapping[str, Any] | None = None,
    icons: Sequence[Any] = (),
    override: bool = False,
) -> Callable[[Function], Function]: ...
def prompt(function: Any = None, /, **settings: Any) -> Any:
    """Return the function unchanged, and register it as a prompt of this project.

    Args:
        name: by default the function's name in kebab-case (`TOOL_NAMES`).
        title: by default the name in Title Case.
        description: by default the docstring; its parameter sections describe the arguments.
        enabled: who may see and use it, as for tools.
        complete: for each argument a list of values, a queryset of one column, or a function of the typed text.
        group, tags: for filtering; the group is by default the module's or the app's.
        endpoints: names of the endpoints that have it.
        meta: additional `_meta`.
        icons: as the protocol describes them.
        override: True replaces an earlier app's prompt of the same name.
    """
    return PromptDefinition.decorate(function, settings)
