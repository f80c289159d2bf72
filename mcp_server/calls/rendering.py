"""An outcome as a client gets it: the one place where the result format and the protocol's revision count (contract R)."""

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import Any

from pydantic_core import from_json, to_json

from mcp_server.calls.journal.text import safe_text
from mcp_server.calls.results import Failure, Outcome
from mcp_server.conf import options
from mcp_server.definitions.results import ContentItem, Text
from mcp_server.definitions.tool import ToolDefinition
from mcp_server.definitions.values import value
from mcp_server.schema.plain import dump_plain


@value(kw_only=True)
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
        return Rendered(content=[Text(safe_text(outcome.guidance))], is_error=True, meta=outcome.meta)
    if outcome.failure is not None:
        return _render_failure(outcome, outcome.failure, result_format)
    rendered = _render_success(outcome, definition, result_format)
    if not structured_allowed:
        rendered = replace(rendered, structured=None)
    return _within_limit(rendered, result_format)


def wrap(value: Any, definition: ToolDefinition | None = None) -> Any:
    """Return the object that `structuredContent` must be: lists under `results`, scalars under `result` (contract R03).

    Args:
        value: a plain value.
        definition: of the tool; what its declared schema wraps is wrapped so.
    """
    output = definition.output if definition is not None else None
    if output is not None and output.declared and not output.admits_none:
        return output.wrap(value)
    if isinstance(value, dict):
        return value
    return {"results": value} if isinstance(value, list) else {"result": value}


def _render_success(outcome: Outcome, definition: ToolDefinition, result_format: str) -> Rendered:
    if outcome.content:
        structured = None if outcome.structured is None else wrap(from_json(outcome.structured), definition)
        return Rendered(content=outcome.content, structured=structured, meta=outcome.meta)
    value = outcome.value
    if value is None:
        return Rendered(content=[Text("")] if result_format == "json" else [], meta=outcome.meta)
    structured = wrap(value, definition)
    if result_format == "json":
        return Rendered(
            content=[Text(to_json(structured).decode())], structured=structured, meta=outcome.meta
        )
    output = definition.output
    declared = outcome.structured is not None or (output is not None and output.declared)
    text = Text(_plain_text(value))
    return Rendered(content=[text], structured=structured if declared else None, meta=outcome.meta)


def _plain_text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return to_json(value, indent=2).decode()


def _render_failure(outcome: Outcome, failure: Failure, result_format: str) -> Rendered:
    text = safe_text(_failure_text(failure, result_format))
    limit = options().text_limit
    if len(text.encode()) > limit:
        # One character may become an escaped pair of surrogates in JSON, twelve bytes, and the frame needs some too.
        shortened = safe_text(failure.message)[: limit // 24]
        text = _failure_text(Failure(f"{shortened}…", failure.status), result_format)
    if result_format == "json":
        # Code branches on the text, whatever the author wrote for people.
        media = [item for item in outcome.content if not isinstance(item, Text)]
        return Rendered(content=[Text(text), *media], is_error=True, meta=outcome.meta)
    return Rendered(content=outcome.content or [Text(text)], is_error=True, meta=outcome.meta)


def _failure_text(failure: Failure, result_format: str) -> str:
    if result_format != "json":
        return failure.text
    said: dict[str, Any] = {
        "error": True,
        "status": failure.status,
        "message": failure.message,
        "data": failure.data,
    }
    return dump_plain({key: value for key, value in said.items() if value is not None}).decode()


def _within_limit(rendered: Rendered, result_format: str) -> Rendered:
    """Return the result with no more text than `TEXT_LIMIT` allows (contract R08)."""
    limit = options().text_limit
    texts = [item.text for item in rendered.content if isinstance(item, Text)]
    # A character has at most four bytes: most results are known to fit without being encoded.
    if sum(map(len, texts)) * 4 <= limit:
        return rendered
    size = sum(len(text.encode(errors="surrogatepass")) for text in texts)
    if size <= limit:
        return rendered
    others = [item for item in rendered.content if not isinstance(item, Text)]
    said = f"The result has {size} bytes, more than the {limit} that text may have."
    if rendered.structured is not None:
        note = Text(f"{said} It is complete in structuredContent.")
        return replace(rendered, content=[note, *others])
    failure = Failure(f"{said} Ask for less: narrow it with `limit` and `fields`, where the tool takes them.")
    return replace(rendered, content=[Text(_failure_text(failure, result_format))], is_error=True)
