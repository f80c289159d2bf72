"""What a tool may return beside plain values: content items and a full result (contract T09, T10)."""

import base64
import binascii
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from mcp_server.exceptions import ToolError


def encode(data: bytes | str) -> str:
    """Return `data` as base64; text must be base64 already.

    Raises:
        ToolError: when it is neither, so that a client never receives media it cannot read.
    """
    if isinstance(data, bytes | bytearray | memoryview):
        return base64.b64encode(data).decode("ascii")
    try:
        base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError, TypeError):
        raise ToolError("The tool returned media that is neither bytes nor base64 text.") from None
    return data


@dataclass(frozen=True, slots=True)
class Text:
    """One text block."""

    text: str


@dataclass(frozen=True, slots=True)
class Image:
    """A picture: bytes or base64, with its MIME type."""

    data: bytes | str
    mime_type: str = "image/png"


@dataclass(frozen=True, slots=True)
class Audio:
    """A sound: bytes or base64, with its MIME type."""

    data: bytes | str
    mime_type: str = "audio/wav"


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddedResource:
    """A resource sent along with the result: `text`, or `blob` as bytes or base64."""

    uri: str
    text: str | None = None
    blob: bytes | str | None = None
    mime_type: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceLink:
    """A pointer to a resource that the client may read later."""

    uri: str
    name: str
    title: str | None = None
    description: str | None = None
    mime_type: str | None = None
    size: int | None = None


ContentItem = Text | Image | Audio | EmbeddedResource | ResourceLink
CONTENT_TYPES = (Text, Image, Audio, EmbeddedResource, ResourceLink)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """A full result; only this class counts as one, a dict with a key `content` is data (contract T09).

    Args:
        content: content items; a text stands for `Text(text)`.
        structured_content: any JSON value for `structuredContent`.
        is_error: whether the call failed.
        meta: the result's `_meta`.
    """

    content: Sequence[ContentItem | str] = ()
    structured_content: Any = None
    is_error: bool = False
    meta: Mapping[str, Any] = field(default_factory=dict)
