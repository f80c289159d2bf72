"""What a call came to: one value, rendered at the edge (design 5.2)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from pydantic_core import from_json, to_json

from mcp_server.definitions.results import CONTENT_TYPES, ContentItem, Text, ToolResult
from mcp_server.definitions.tool import ToolDefinition
from mcp_server.schema.plain import Unserializable, dump_plain


@dataclass(frozen=True, slots=True)
class Failure:
    """A failed call: a sentence, an HTTP status where one is known, and data (contract T14)."""

    message: str
    status: int | None = None
    data: Any = None

    @property
    def text(self) -> str:
        """Return `[404] User not found`, with the data's JSON on the next line."""
        head = self.message if self.status is None else f"[{self.status}] {self.message}"
        return head if self.data is None else f"{head}\n{dump_plain(self.data).decode()}"


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """The end of a call. Exactly one of value, content, failure and guidance speaks; `json` None is no value.

    `reference` is the id under which the log has more.
    """

    json: bytes | None = None
    content: Sequence[ContentItem] = ()
    structured: bytes | None = None
    failure: Failure | None = None
    guidance: str | None = None
    reference: str = ""
    meta: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_error(self) -> bool:
        """Return whether the call failed."""
        return self.failure is not None or self.guidance is not None

    @cached_property
    def value(self) -> Any:
        """Return the plain value."""
        return None if self.json is None else from_json(self.json)


class BrokenResult(Exception):
    """A handler gave back something that cannot be sent, or that its own declaration does not allow."""


def shape(value: Any, definition: ToolDefinition) -> Outcome:
    """Return the outcome of a handler that gave back `value`.

    Raises:
        BrokenResult: when JSON cannot hold it, or it does not fit the declared output.
    """
    if isinstance(value, ToolResult):
        return _shape_full(value, definition)
    if isinstance(value, CONTENT_TYPES):
        return Outcome(content=(value,))
    if isinstance(value, list | tuple) and value and all(isinstance(item, CONTENT_TYPES) for item in value):
        return Outcome(content=tuple(value))
    return Outcome(json=_dump(value, definition))


def _dump(value: Any, definition: ToolDefinition) -> bytes | None:
    output = definition.output
    try:
        if output is not None and output.declared:
            return output.dump(value)
        return None if value is None else dump_plain(value)
    except Unserializable as error:
        raise BrokenResult(str(error)) from error
    except ValueError as error:
        # pydantic's own words name inputs, which may be secret: they stay in the log, under this error's cause.
        raise BrokenResult("The tool's result does not fit the output that it declares.") from error


def _shape_full(result: ToolResult, definition: ToolDefinition) -> Outcome:
    content = tuple(Text(item) if isinstance(item, str) else item for item in result.content)
    meta = dict(result.meta)
    if result.is_error:
        text = "\n".join(item.text for item in content if isinstance(item, Text))
        return Outcome(failure=Failure(text or "The tool failed."), content=content, meta=meta)
    structured = None if result.structured_content is None else _dump(result.structured_content, definition)
    if structured is not None and not content:
        return Outcome(json=structured, structured=structured, meta=meta)
    return Outcome(content=content, structured=structured, meta=meta)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rendered:
    """A result for one client: content items, `structuredContent` or None, and `isError`."""

    content: Sequence[ContentItem]
    structured: Any = None
    is_error: bool = False
    meta: Mapping[str, Any] = field(default_factory=dict)


def render(
    outcome: Outcome, definition: ToolDefinition, *, result_format: str, structured_allowed: bool
) -> Rendered:
    """Return the outcome as a client gets it (contract R, T08, T14).

    Args:
        outcome: of the call.
        definition: of the tool, for what it declares.
        result_format: "text" or "json", from the tool or its endpoint.
        structured_allowed: whether the client's revision knows `structuredContent` (contract R02).
    """
    if outcome.guidance is not None:
        return Rendered(content=[Text(outcome.guidance)], is_error=True, meta=outcome.meta)
    if outcome.failure is not None:
        text = _json_failure(outcome.failure) if result_format == "json" else outcome.failure.text
        return Rendered(content=outcome.content or [Text(text)], is_error=True, meta=outcome.meta)
    if outcome.content:
        structured = _structured(outcome.structured, definition) if structured_allowed else None
        return Rendered(content=outcome.content, structured=structured, meta=outcome.meta)
    if result_format == "json":
        return _render_json(outcome, structured_allowed=structured_allowed)
    declared = outcome.structured is not None or (
        definition.output is not None and definition.output.declared
    )
    structured = _structured(outcome.json, definition) if declared and structured_allowed else None
    return Rendered(content=_text(outcome), structured=structured, meta=outcome.meta)


def _text(outcome: Outcome) -> list[ContentItem]:
    value = outcome.value
    if value is None:
        return []
    if isinstance(value, str):
        return [Text(value)]
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return [Text(str(int(value)))]
    return [Text(to_json(value, indent=2).decode())]


def wrap(value: Any) -> dict[str, Any]:
    """Return the object that `structuredContent` must be: lists under `results`, scalars under `result` (R03)."""
    if isinstance(value, dict):
        return value
    return {"results": value} if isinstance(value, list) else {"result": value}


def _structured(data: bytes | None, definition: ToolDefinition) -> dict[str, Any] | None:
    value = None if data is None else from_json(data)
    return None if value is None else wrap(value)


def _json_failure(failure: Failure) -> str:
    said: dict[str, Any] = {
        "error": True,
        "status": failure.status,
        "message": failure.message,
        "data": failure.data,
    }
    return dump_plain({key: value for key, value in said.items() if value is not None}).decode()


def _render_json(outcome: Outcome, *, structured_allowed: bool) -> Rendered:
    if outcome.value is None:
        return Rendered(content=[Text("")], meta=outcome.meta)
    structured = wrap(outcome.value)
    text = to_json(structured).decode()
    return Rendered(
        content=[Text(text)], structured=structured if structured_allowed else None, meta=outcome.meta
    )
