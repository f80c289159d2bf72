"""Spans of requests, calls and runs, as children of what the client sends (issue 9)."""

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import pytest
from opentelemetry import context as contexts
from opentelemetry import trace

from mcp_server import tool
from mcp_server.calls import tracing
from tests.door import call, serving
from tests.protocol.wire import modern, modern_headers

pytestmark = pytest.mark.django_db


class Span(trace.NonRecordingSpan):
    """A span that remembers; the SDK of OpenTelemetry is none of our requirements."""

    def __init__(self, name: str, parent: trace.SpanContext, attributes: Any) -> None:
        trace_id = parent.trace_id or secrets.randbits(128)
        super().__init__(trace.SpanContext(trace_id, secrets.randbits(64), is_remote=False))
        self.name, self.parent, self.attributes = name, parent, dict(attributes or {})
        self.failed = False

    def is_recording(self) -> bool:
        return True

    def set_attribute(self, key: str, value: Any) -> None:
        self.attributes[key] = value

    def set_status(self, status: Any, description: str | None = None) -> None:
        self.failed = trace.StatusCode.ERROR in (status, getattr(status, "status_code", None))


class Collector(trace.TracerProvider, trace.Tracer):
    """A provider whose only tracer keeps all spans."""

    def __init__(self) -> None:
        self.spans: list[Span] = []

    def get_tracer(self, *args: Any, **kwargs: Any) -> trace.Tracer:
        return self

    def start_span(  # type: ignore[override]
        self, name: str, context: Any = None, kind: Any = None, attributes: Any = None, **more: Any
    ) -> Span:
        span = Span(name, trace.get_current_span(context).get_span_context(), attributes)
        self.spans.append(span)
        return span

    @contextmanager
    def start_as_current_span(  # type: ignore[override]  # the API's own context manager is a decorator besides
        self, name: str, context: Any = None, **options: Any
    ) -> Iterator[Span]:
        attributes = options.get("attributes")
        span = self.start_span(name, context, attributes=attributes)
        token = contexts.attach(trace.set_span_in_context(span, context))
        try:
            yield span
        finally:
            contexts.detach(token)

    def named(self, name: str) -> Span:
        (found,) = [span for span in self.spans if span.name == name]
        return found


@pytest.fixture
def collector(monkeypatch: pytest.MonkeyPatch) -> Iterator[Collector]:
    collector = Collector()
    # Before a provider of ours is there: the SDK keeps for good what it finds when it is imported.
    import_module("mcp.shared._otel")
    # A provider can be set once in the life of a process; the tests' process lives on.
    monkeypatch.setattr(trace, "get_tracer_provider", lambda: collector)
    tracing.look_again()
    with serving():

        @tool
        def check(fail: bool = False) -> str:
            """Call another service."""
            with trace.get_tracer_provider().get_tracer("project").start_as_current_span("other service"):
                pass
            if fail:
                raise RuntimeError("hunter2")
            return "fine"

        yield collector


def test_a_handlers_spans_stand_below_its_call_and_the_call_below_what_the_client_sent(
    client: Any, collector: Collector
) -> None:
    trace_id, parent_id = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
    message = modern("tools/call", {"name": "check"}, traceparent=f"00-{trace_id}-{parent_id}-01")
    answer = client.post("/mcp", message, "application/json", headers=modern_headers(message))
    assert answer.json()["result"]["content"][0]["text"] == "fine"
    called, below = collector.named("execute_tool check"), collector.named("other service")
    assert trace.format_trace_id(below.get_span_context().trace_id) == trace_id
    assert below.parent.span_id == called.get_span_context().span_id
    assert called.attributes["mcp_toolkit.status"] == "ok"
    assert not called.failed


def test_calls_of_a_program_stand_below_its_run(collector: Collector) -> None:
    answer = call("code", {"code": "return await codemode.check()"}, endpoint="code")
    assert "fine" in answer.text
    run, called = collector.named("run code"), collector.named("execute_tool check")
    assert called.parent.span_id == run.get_span_context().span_id
    assert called.attributes["mcp_toolkit.run"] == run.attributes["mcp_toolkit.run"]
    assert run.attributes["mcp_toolkit.status"] == "ok"


def test_a_failed_call_marks_its_span_and_reveals_nothing(collector: Collector) -> None:
    assert call("check", {"fail": True}).is_error
    called = collector.named("execute_tool check")
    assert called.failed
    assert called.attributes["error.type"] == "crashed"
    assert called.attributes["mcp_toolkit.reference"]
    assert "hunter2" not in str([span.attributes for span in collector.spans])


def test_without_a_provider_no_span_is_made() -> None:
    with serving():

        @tool
        def look() -> str:
            """Look whether there is a span."""
            return str(trace.get_current_span().get_span_context().is_valid)

        assert call("look").text == "False"
