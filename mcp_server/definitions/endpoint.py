"""Endpoints: which definitions stand behind which URL, and how they are offered (contract P13)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from fnmatch import fnmatchcase
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from mcp_server.definitions.guards import Guard, as_guard
from mcp_server.definitions.naming import derive_title
from mcp_server.definitions.origin import Origin, find_caller
from mcp_server.definitions.registry import registry
from mcp_server.exceptions import ConfigurationError

if TYPE_CHECKING:
    from mcp_server.definitions.prompt import PromptDefinition
    from mcp_server.definitions.resource import ResourceDefinition
    from mcp_server.definitions.tool import ToolDefinition

DEFAULT = "default"
CodeMode = Literal["off", "on", "progressive", "auto"]
CodePolicy = Literal["off", "opt-in", "default", "enforced"]

_CHOICES: Mapping[str, tuple[Any, ...]] = {
    "code_mode": ("off", "on", "progressive", "auto"),
    "code_policy": (None, "off", "opt-in", "default", "enforced"),
    "code_destructive": ("allow", "outside"),
    "result_format": ("text", "json"),
    "login_required": (True, False),
}
_SEQUENCES = frozenset({"tools", "groups", "tags", "authentication", "middleware", "icons"})


@dataclass(frozen=True, kw_only=True, eq=False)
class EndpointDefinition:
    """One endpoint as its author wrote it; `MCP_SERVER["ENDPOINTS"]` takes the same options in capitals and wins.

    `tools`, `groups` and `tags` choose among the project's definitions (names may hold `*`); None means all.
    """

    name: str
    origin: Origin
    title: str = ""
    version: str = ""
    description: str = ""
    instructions: str = ""
    icons: tuple[Any, ...] = ()
    website_url: str | None = None
    tools: tuple[str, ...] | None = None
    groups: tuple[str, ...] | None = None
    tags: tuple[str, ...] | None = None
    enabled: Any = None
    login_required: bool = True
    authentication: tuple[Any, ...] | None = None
    middleware: tuple[Any, ...] = ()
    code_mode: CodeMode = "off"
    code_policy: CodePolicy | None = None
    code_description: str | None = None
    code_destructive: Literal["allow", "outside"] = "allow"
    result_format: Literal["text", "json"] = "text"

    @cached_property
    def guard(self) -> Guard | None:
        """Return who may use the endpoint at all."""
        return None if self.enabled is None else as_guard(self.enabled)

    @cached_property
    def policy(self) -> CodePolicy:
        """Return how far a client's wish for code mode counts (contract C19)."""
        return self.code_policy or ("off" if self.code_mode == "off" else "enforced")

    def chooses(self, definition: Any) -> bool:
        """Return whether the endpoint has a tool, resource or prompt."""
        if definition.endpoints is not None:
            return self.name in definition.endpoints
        named = [
            self.tools is not None and any(fnmatchcase(definition.name, pattern) for pattern in self.tools)
        ]
        named.append(self.groups is not None and definition.group in self.groups)
        named.append(self.tags is not None and not set(self.tags).isdisjoint(definition.tags))
        return (self.tools, self.groups, self.tags) == (None, None, None) or any(named)


@dataclass(frozen=True, kw_only=True, eq=False)
class Endpoint:
    """An endpoint with what stands behind it, by name, sorted (contract T19)."""

    definition: EndpointDefinition
    tools: Mapping[str, "ToolDefinition"] = field(default_factory=dict)
    resources: tuple["ResourceDefinition", ...] = ()
    prompts: Mapping[str, "PromptDefinition"] = field(default_factory=dict)

    @cached_property
    def name(self) -> str:
        """Return the endpoint's name, the last part of its URL."""
        return self.definition.name

    def find_resource(self, uri: str) -> tuple["ResourceDefinition", dict[str, str]] | None:
        """Return the resource of a URI and its variables, a plain one before a template that would fit too."""
        for definition in sorted(self.resources, key=lambda item: item.uri.is_template):
            texts = definition.uri.match(uri)
            if texts is not None:
                return definition, texts
        return None


def endpoint(name: str, **settings: Any) -> None:
    """Declare and register one more endpoint, served at `<prefix>/<name>`.

    Args:
        name: last part of its URL; "default" is the endpoint at the prefix itself.
        settings: title, version, description, instructions, icons, website_url: what clients are told;
            tools, groups, tags: which definitions it has; enabled, login_required, authentication, middleware: who may
            use it and how; code_mode ("off", "on", "progressive", "auto"), code_policy, code_description,
            code_destructive ("allow", "outside"), result_format ("text", "json").
    """
    origin = find_caller()
    registry.add("endpoint", lambda style: build_endpoint(name, settings, origin), origin)


def build_endpoint(name: str, settings: Mapping[str, Any], origin: Origin) -> EndpointDefinition:
    """Return the definition that settings mean.

    Raises:
        ConfigurationError: naming the first option that is wrong.
    """
    with origin.explaining(f"Endpoint {name!r}"):
        if not name.replace("-", "").replace("_", "").isalnum() or not name.isascii():
            raise ConfigurationError("its name cannot be part of a URL.", "Use letters, digits, `-` and `_`.")
        known = {item.name for item in fields(EndpointDefinition)} - {"name", "origin"}
        values: dict[str, Any] = {"title": derive_title(name)}
        for key, value in settings.items():
            if key not in known:
                raise ConfigurationError(
                    f"{key} is not an option.", f"The options are {', '.join(sorted(known))}."
                )
            values[key] = _read_option(key, value)
        found = EndpointDefinition(name=name, origin=origin, **values)
        _ = found.guard
        return found


def _read_option(key: str, value: Any) -> Any:
    if key in _CHOICES and value not in _CHOICES[key]:
        raise ConfigurationError(
            f"{key}={value!r} is unknown.", f"Write one of {', '.join(map(repr, _CHOICES[key]))}."
        )
    if key in _SEQUENCES and value is not None:
        if isinstance(value, str) or not isinstance(value, Sequence):
            raise ConfigurationError(f"{key}={value!r} is not a list.", f"Write {key}=[{value!r}].")
        return tuple(value)
    return value
