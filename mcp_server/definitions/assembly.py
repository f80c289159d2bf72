"""Builders become definitions, and definitions the contents of endpoints; every problem is collected, none hides another."""

from collections.abc import Callable, Iterable, Mapping
from operator import attrgetter
from typing import Any

from mcp_server.conf import Options
from mcp_server.definitions.endpoint import DEFAULT, Endpoint, EndpointDefinition, build_endpoint
from mcp_server.definitions.origin import Origin
from mcp_server.definitions.registry import Builder, Contents, Kind
from mcp_server.exceptions import ConfigurationError

_SETTINGS = Origin("settings.MCP_SERVER['ENDPOINTS']", 0)


def assemble(builders: Iterable[tuple[Kind, Builder, Origin]], options: Options) -> Contents:
    """Return the project's definitions and endpoints, with all that is wrong about them."""
    problems: list[ConfigurationError] = []
    built: dict[Kind, list[Any]] = {"tool": [], "resource": [], "prompt": [], "endpoint": []}
    for kind, build, _ in builders:
        try:
            built[kind].append(build(options.tool_names))
        except ConfigurationError as error:
            problems.append(error)
    declared = _declare_endpoints(built["endpoint"], options.endpoints, problems)
    return Contents(
        tools=tuple(built["tool"]),
        resources=tuple(built["resource"]),
        prompts=tuple(built["prompt"]),
        endpoints={name: _fill(item, built, problems) for name, item in declared.items()},
        problems=tuple(problems),
    )


def _declare_endpoints(
    coded: list[EndpointDefinition],
    settings: Mapping[str, Mapping[str, Any]],
    problems: list[ConfigurationError],
) -> dict[str, EndpointDefinition]:
    found = {DEFAULT: build_endpoint(DEFAULT, {"title": ""}, _SETTINGS)}
    seen: dict[str, Origin] = {}
    for item in coded:
        if item.name in seen:
            problems.append(
                ConfigurationError(
                    f"Endpoint {item.name!r} is declared twice, here and in {seen[item.name].where}.",
                    "Rename one of them.",
                    item.origin.where,
                )
            )
        seen[item.name] = item.origin
        found[item.name] = item
    for name, raw in settings.items():
        base = found.get(name)
        kept = {key: getattr(base, key) for key in _given(base)} if base else {}
        try:
            found[name] = build_endpoint(
                name, {**kept, **{key.lower(): value for key, value in raw.items()}}, _SETTINGS
            )
        except ConfigurationError as error:
            # Without the options that could not be read it might lack its guard: it is not served at all.
            found.pop(name, None)
            problems.append(error)
    return found


def _given(definition: EndpointDefinition) -> list[str]:
    """Return the options that differ from a bare endpoint's, which a setting for another option must not undo."""
    bare = EndpointDefinition(name=definition.name, origin=definition.origin)
    names = set(vars(definition)) & set(bare.__dataclass_fields__) - {"name", "origin"}
    return [name for name in names if getattr(definition, name) != getattr(bare, name)]


def _fill(
    definition: EndpointDefinition, built: dict[Kind, list[Any]], problems: list[ConfigurationError]
) -> Endpoint:
    return Endpoint(
        definition=definition,
        tools=_by_name(definition, built["tool"], problems),
        prompts=_by_name(definition, built["prompt"], problems),
        resources=tuple(_by_name(definition, built["resource"], problems, key=_uri).values()),
    )


def _uri(item: Any) -> str:
    return str(item.uri.text)


def _by_name(
    endpoint: EndpointDefinition,
    items: Iterable[Any],
    problems: list[ConfigurationError],
    *,
    key: Callable[[Any], str] = attrgetter("name"),
) -> dict[str, Any]:
    """Return the endpoint's definitions by name; two of one name are a problem unless the later one says `override`."""
    found: dict[str, Any] = {}
    for item in items:
        if not endpoint.chooses(item):
            continue
        name = key(item)
        earlier = found.get(name)
        if earlier is not None and not item.override:
            problems.append(
                ConfigurationError(
                    f"{item.kind.title()} {name!r} on endpoint {endpoint.name!r} is defined twice: "
                    f"in {earlier.where} and in {item.where}.",
                    "Rename one of them, or say override=True on the one that should stand.",
                    item.where,
                )
            )
        found[name] = item
    return dict(sorted(found.items()))
