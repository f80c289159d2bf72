"""A tool as the catalogue and the search see it."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol


class Schema(Protocol):
    """What a tool takes, or what it gives back."""

    @property
    def json_schema(self) -> Mapping[str, Any]: ...


class Hints(Protocol):
    """What calling a tool does to the world."""

    @property
    def destructive(self) -> bool | None: ...


class DescribedTool(Protocol):
    """What is told of a tool, and found by; `definitions.tool.ToolDefinition` has it."""

    @property
    def name(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def description(self) -> str: ...
    @property
    def arguments(self) -> Schema: ...
    @property
    def output(self) -> Schema | None: ...
    @property
    def annotations(self) -> Hints | None: ...
    @property
    def input_examples(self) -> Sequence[Mapping[str, Any]]: ...
    @property
    def tags(self) -> Sequence[str]: ...
    @property
    def group(self) -> str: ...
