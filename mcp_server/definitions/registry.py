"""All definitions of the project: collected while modules load, built and frozen at first use."""

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from django.core.signals import setting_changed

from mcp_server.conf import SETTING, options
from mcp_server.exceptions import ConfigurationError

if TYPE_CHECKING:
    from mcp_server.definitions.endpoint import Endpoint
    from mcp_server.definitions.origin import Origin
    from mcp_server.definitions.prompt import PromptDefinition
    from mcp_server.definitions.resource import ResourceDefinition
    from mcp_server.definitions.tool import ToolDefinition

Kind = Literal["tool", "resource", "prompt", "endpoint"]
Builder = Callable[[str], Any]


class UnknownEndpoint(LookupError):
    """No endpoint of that name."""


@dataclass(frozen=True)
class Contents:
    """What the registry holds once it is built; `problems` are all that its authors must mend."""

    tools: tuple["ToolDefinition", ...] = ()
    resources: tuple["ResourceDefinition", ...] = ()
    prompts: tuple["PromptDefinition", ...] = ()
    endpoints: Mapping[str, "Endpoint"] = field(default_factory=dict)
    problems: tuple[ConfigurationError, ...] = ()


class Registry:
    """Collects builders of definitions; building them waits for settings and apps."""

    def __init__(self) -> None:
        self._builders: list[tuple[Kind, Builder, Origin]] = []
        self._broken: list[ConfigurationError] = []
        self._contents: Contents | None = None
        self._lock = threading.RLock()

    def add(self, kind: Kind, build: Builder, origin: "Origin") -> None:
        """Take a definition; `build` gets the naming style and returns it.

        Raises:
            ConfigurationError: when the registry has been used already: the definition would be served by some
                processes and not by others.
        """
        with self._lock:
            if self._contents is not None:
                raise ConfigurationError(
                    f"A {kind} was defined after the first request.",
                    "Define it in an app's mcp_tools module, which is imported when Django starts.",
                    origin.where,
                )
            self._builders.append((kind, build, origin))

    def add_broken(self, error: ConfigurationError) -> None:
        """Take a module that could not be imported; doors refuse to serve while there is one (contract T20)."""
        with self._lock:
            self._broken.append(error)

    @property
    def broken(self) -> tuple[ConfigurationError, ...]:
        """Return the modules that could not be imported."""
        return tuple(self._broken)

    @property
    def contents(self) -> Contents:
        """Return all definitions, built once."""
        contents = self._contents
        if contents is None:
            with self._lock:
                if self._contents is None:
                    from mcp_server.definitions.assembly import assemble

                    self._contents = assemble(self._builders, options())
                contents = self._contents
        return contents

    def endpoint(self, name: str) -> "Endpoint":
        """Return an endpoint with its definitions.

        Raises:
            UnknownEndpoint: when there is none of that name.
        """
        try:
            return (self._contents or self.contents).endpoints[name]
        except KeyError:
            raise UnknownEndpoint(name) from None

    def endpoints(self) -> tuple["Endpoint", ...]:
        """Return all endpoints, the default one first."""
        return tuple(self.contents.endpoints.values())

    def thaw(self) -> None:
        """Forget what was built; it is built again from the same definitions when next asked for."""
        with self._lock:
            self._contents = None

    @contextmanager
    def isolated(self, *, empty: bool = False) -> Iterator["Registry"]:
        """Within the block, additional definitions may be made; after it all is as before. For tests.

        Args:
            empty: start from no definitions at all.
        """
        with self._lock:
            saved = (self._builders, self._broken, self._contents)
            self._builders, self._broken = ([], []) if empty else (list(self._builders), list(self._broken))
            self._contents = None
        try:
            yield self
        finally:
            with self._lock:
                self._builders, self._broken, self._contents = saved


registry = Registry()


def _reset(*, setting: str, **kwargs: Any) -> None:
    if setting == SETTING:
        registry.thaw()


setting_changed.connect(_reset, dispatch_uid="mcp_server.definitions.registry")
