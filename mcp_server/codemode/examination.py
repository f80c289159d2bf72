"""A close look at endpoints with code mode, for `manage.py check` (contract C03, C04)."""

from collections.abc import Iterator

from mcp_server.codemode.identifiers import collisions
from mcp_server.codemode.names import CODE, SEARCH
from mcp_server.definitions.endpoint import Endpoint
from mcp_server.definitions.examination import Finding
from mcp_server.definitions.registry import Contents


def examine_code_mode(contents: Contents) -> Iterator[Finding]:
    """Yield what to think about, endpoint by endpoint."""
    for endpoint in contents.endpoints.values():
        if endpoint.definition.policy != "off":
            yield from _look_at_names(endpoint)
            yield from _look_at_description(endpoint)


def _look_at_names(endpoint: Endpoint) -> Iterator[Finding]:
    inside = [item.name for item in endpoint.tools.values() if item.code_mode]
    for names in collisions(inside):
        yield Finding(
            "W009",
            f"Endpoint {endpoint.name!r}: {' and '.join(map(repr, names))} would be one name in programs; "
            "they get different ones, such as a_b and a_b_2.",
            "Rename one of them, so that models do not mix them up.",
            endpoint.tools[names[-1]].where,
        )
    for name in (CODE, SEARCH):
        tool = endpoint.tools.get(name)
        if tool is not None and not tool.code_mode:
            yield Finding(
                "E014",
                f"Endpoint {endpoint.name!r}: the tool {name!r} is kept beside programs, where code mode has its own {name!r}.",
                "Rename it.",
                tool.where,
            )


def _look_at_description(endpoint: Endpoint) -> Iterator[Finding]:
    definition = endpoint.definition
    if definition.code_mode == "progressive" and "{{types}}" in (definition.code_description or ""):
        yield Finding(
            "W010",
            f"Endpoint {endpoint.name!r}: {{{{types}}}} is empty in its code_description, since its mode is progressive.",
            "Remove it, or use code_mode='on'.",
            definition.origin.where,
        )
