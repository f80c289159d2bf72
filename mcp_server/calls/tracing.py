"""OpenTelemetry spans of calls and runs, where the project collects spans; where it does not, nothing is made.

The MCP SDK makes a span for each request, as a child of what the client sends in `_meta` (`traceparent`); ours stand below
it, and spans that handlers make stand below ours.
"""

import sys
import time
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Final

_NO_SPAN: Final = nullcontext()
_FINE: Final = frozenset({"ok", "denied"})
LOOK_AGAIN_SECONDS = 1.0
_off_until = 0.0


def is_on() -> bool:
    """Return whether the project has set a tracer provider.

    Whoever sets one has imported OpenTelemetry, so that a project without it does not load it here. That there is none
    is believed for a second: OpenTelemetry looks into the environment each time, which costs more than a plain call.
    """
    global _off_until  # noqa: PLW0603 - one answer per process
    if time.monotonic() < _off_until:
        return False
    trace = sys.modules.get("opentelemetry.trace")
    if trace is not None and not isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider):
        return True
    _off_until = time.monotonic() + LOOK_AGAIN_SECONDS
    return False


def look_again() -> None:
    """Forget that there was no provider, for whoever sets one and cannot wait a second."""
    global _off_until  # noqa: PLW0603 - as above
    _off_until = 0.0


def call_span(endpoint: str, tool: str, run_id: str | None) -> AbstractContextManager[Any]:
    """Return a block whose calls of other services belong to one call of a tool."""
    if not is_on():
        return _NO_SPAN
    attributes = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": tool,
        "mcp_toolkit.endpoint": endpoint,
    }
    return _span(f"execute_tool {tool}", attributes | ({"mcp_toolkit.run": run_id} if run_id else {}))


def run_span(endpoint: str, run_id: str) -> AbstractContextManager[Any]:
    """Return a block whose calls belong to one run of code."""
    if not is_on():
        return _NO_SPAN
    return _span("run code", {"mcp_toolkit.endpoint": endpoint, "mcp_toolkit.run": run_id})


def note_end(status: str, reference: str | None = None) -> str:
    """Write how the current call or run ended into its span, and return the id of its trace, "" if there is none.

    Args:
        status: of the record.
        reference: the id under which the log has an error's traceback.
    """
    if not is_on():
        return ""
    from opentelemetry import trace

    span = trace.get_current_span()
    span.set_attribute("mcp_toolkit.status", status)
    if status not in _FINE:
        span.set_attribute("error.type", status)
        span.set_status(trace.StatusCode.ERROR)
    if reference:
        span.set_attribute("mcp_toolkit.reference", reference)
    context = span.get_span_context()
    return trace.format_trace_id(context.trace_id) if context.is_valid else ""


def _span(name: str, attributes: dict[str, str]) -> AbstractContextManager[Any]:
    from opentelemetry import trace

    # What a handler raises may hold secrets: the record's status says enough.
    return trace.get_tracer("mcp_server").start_as_current_span(
        name, attributes=attributes, record_exception=False, set_status_on_exception=False
    )
