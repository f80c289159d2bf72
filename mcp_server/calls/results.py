"""What a call came to: one value, rendered at the edge (design 5.2)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic_core import from_json

from mcp_server.definitions.results import (
    CONTENT_TYPES,
    Audio,
    ContentItem,
    EmbeddedResource,
    Image,
    ResourceLink,
    Text,
    ToolResult,
    encode,
)
from mcp_server.definitions.tool import ToolDefinition
from mcp_server.definitions.values import value
from mcp_server.exceptions import ToolError
from mcp_server.schema.instances import SCALARS
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


@value(kw_only=True)
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

    @property
    def value(self) -> Any:
        """Return the plain value, read anew each time."""
        return None if self.json is None else from_json(self.json)


class BrokenResult(Exception):
    """A handler gave back something that cannot be sent, or that its own declaration does not allow."""


def shape(value: Any, definition: ToolDefinition) -> Outcome:
    """Return the outcome of a handler that gave back `value`.

    Raises:
        BrokenResult: when JSON cannot hold it, or it does not fit the declared output.
    """
    if type(value) in SCALARS:
        return Outcome(json=_dump(value, definition))
    if isinstance(value, ToolResult):
        return _shape_full(value, definition)
    items = value if isinstance(value, list | tuple) else (value,)
    if items and all(isinstance(item, CONTENT_TYPES) for item in items):
        return Outcome(content=tuple(_check_item(item) for item in items))
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


def _check_item(item: Any) -> ContentItem:
    """Return a content item that can be sent: what is wrong with it is the tool's failure, not the protocol's."""
    match item:
        case Image() | Audio():
            _check_media(item.data)
        case EmbeddedResource(text=None, blob=blob) if blob is not None:
            _check_media(blob)
        case Text(text=str()) | EmbeddedResource(text=str(), blob=None) | ResourceLink():
            pass
        case _:
            raise BrokenResult(
                f"The tool returned content with a {type(item).__name__} that is no content item."
            )
    found: ContentItem = item
    return found


def _check_media(data: Any) -> None:
    try:
        encode(data)
    except ToolError as error:
        raise BrokenResult(error.message) from error


def _shape_full(result: ToolResult, definition: ToolDefinition) -> Outcome:
    content = tuple(_check_item(Text(item) if isinstance(item, str) else item) for item in result.content)
    meta = dict(result.meta)
    if result.is_error:
        text = "\n".join(item.text for item in content if isinstance(item, Text))
        return Outcome(failure=Failure(text or "The tool failed."), content=content, meta=meta)
    structured = None if result.structured_content is None else _dump(result.structured_content, definition)
    if structured is not None and not content:
        return Outcome(json=structured, structured=structured, meta=meta)
    return Outcome(content=content, structured=structured, meta=meta)
