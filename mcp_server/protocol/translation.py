"""From our plain results and definitions to the SDK's types."""

from collections.abc import Mapping, Sequence
from typing import Any

import mcp_types
from mcp_types.version import is_version_at_least

from mcp_server.calls.rendering import Rendered
from mcp_server.definitions import results
from mcp_server.definitions.definition import Definition
from mcp_server.definitions.tool import ToolDefinition

STRUCTURED_SINCE = "2025-06-18"
"""The first revision with `structuredContent`, `outputSchema` and resource links (contract R02)."""


def allows_structured(version: str) -> bool:
    """Return whether clients of this protocol revision know `structuredContent`."""
    return is_version_at_least(version, STRUCTURED_SINCE)


def describe_tool(definition: ToolDefinition, *, structured: bool) -> mcp_types.Tool:
    """Return a tool as `tools/list` shows it; `structured` tells whether the client knows output schemas."""
    output = definition.output
    shown = structured and output is not None and output.declared and not output.admits_none
    hints = definition.annotations.hints() if definition.annotations is not None else None
    return mcp_types.Tool(
        **describe(definition, definition.input_examples),
        input_schema=dict(definition.arguments.json_schema),
        output_schema=dict(output.wrapped_schema) if shown and output is not None else None,
        annotations=mcp_types.ToolAnnotations.model_validate(hints) if hints else None,
    )


def describe(definition: Definition, examples: Sequence[Mapping[str, Any]] = ()) -> dict[str, Any]:
    """Return the fields that tools, prompts and resources share.

    `_meta` is the author's, and `group`, `tags`, `inputExamples` where there are any (contract T13, T17).
    """
    known = {
        "group": definition.group,
        "tags": list(definition.tags),
        "inputExamples": [dict(example) for example in examples],
    }
    meta = {**definition.meta, **{key: value for key, value in known.items() if value}}
    return {
        "name": definition.name,
        "title": definition.title,
        "description": definition.description or None,
        "icons": icons(definition.icons),
        "_meta": meta or None,
    }


def icons(given: tuple[Any, ...]) -> list[mcp_types.Icon] | None:
    """Return icons in the SDK's type; each is a URL or the protocol's object."""
    return [
        mcp_types.Icon.model_validate({"src": icon} if isinstance(icon, str) else icon) for icon in given
    ] or None


def call_result(rendered: Rendered, version: str) -> mcp_types.CallToolResult:
    """Return the answer to `tools/call`."""
    return mcp_types.CallToolResult(
        content=[content_block(item, version) for item in rendered.content],
        structured_content=rendered.structured,
        is_error=rendered.is_error,
        _meta=dict(rendered.meta) or None,
    )


def content_block(item: results.ContentItem, version: str) -> mcp_types.ContentBlock:
    """Return one content item; what a revision does not know yet is said in text."""
    match item:
        case results.Text():
            return mcp_types.TextContent(text=item.text)
        case results.Image():
            return mcp_types.ImageContent(data=results.encode(item.data), mime_type=item.mime_type)
        case results.Audio():
            if not is_version_at_least(version, "2025-03-26"):
                return mcp_types.TextContent(
                    text=f"[audio of type {item.mime_type}: this client cannot take it]"
                )
            return mcp_types.AudioContent(data=results.encode(item.data), mime_type=item.mime_type)
        case results.EmbeddedResource():
            return mcp_types.EmbeddedResource(resource=resource_contents(item))
        case results.ResourceLink():
            return _resource_link(item, version)


def resource_contents(
    item: results.EmbeddedResource,
) -> mcp_types.TextResourceContents | mcp_types.BlobResourceContents:
    """Return the contents of a resource, as text or as base64."""
    if item.blob is not None:
        return mcp_types.BlobResourceContents(
            uri=item.uri, blob=results.encode(item.blob), mime_type=item.mime_type
        )
    return mcp_types.TextResourceContents(uri=item.uri, text=item.text or "", mime_type=item.mime_type)


def _resource_link(item: results.ResourceLink, version: str) -> mcp_types.ContentBlock:
    if not allows_structured(version):
        return mcp_types.TextContent(text=f"{item.title or item.name}: {item.uri}")
    return mcp_types.ResourceLink(
        uri=item.uri,
        name=item.name,
        title=item.title,
        description=item.description,
        mime_type=item.mime_type,
        size=item.size,
    )
