"""What the log costs, as time on the processor (contract A07); `benchmarks/log.py` measures it under a server's load."""

import asyncio
import json
import time

import pytest
from asgiref.sync import async_to_sync
from django.core.asgi import get_asgi_application

from mcp_server.asgi import door
from mcp_server.calls import journal
from mcp_server.definitions.endpoint import endpoint
from mcp_server.definitions.registry import registry
from mcp_server.definitions.tool import tool
from mcp_server.models import ToolCall

CALLS = 200
ROUNDS = 5
CALL = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "tools/call",
    "params": {"name": "add", "arguments": {"a": 1, "b": 2}},
}
BODY = json.dumps(CALL).encode()
SCOPE = {
    "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "POST", "scheme": "http",
    "path": "/mcp/bench", "raw_path": b"/mcp/bench", "query_string": b"", "root_path": "",
    "client": ("127.0.0.1", 1), "server": ("testserver", 80),
    "headers": [
        (b"host", b"testserver"), (b"content-type", b"application/json"), (b"accept", b"application/json"),
        (b"content-length", str(len(BODY)).encode()), (b"mcp-protocol-version", b"2025-06-18"),
    ],
}  # fmt: skip


async def call(application):
    messages = [{"type": "http.request", "body": BODY, "more_body": False}]
    sent = []

    async def receive():
        return messages.pop() if messages else await asyncio.Future()  # the client stays

    async def send(message):
        sent.append(message)

    await application(SCOPE, receive, send)
    assert b'"3"' in b"".join(message.get("body", b"") for message in sent), sent


def least(work):
    """Return the least seconds that all threads of this process worked for it: other work only ever adds."""
    spent = []
    for _ in range(ROUNDS):
        began = time.process_time()
        work()
        spent.append(time.process_time() - began)
    return min(spent)


def record_calls():
    schema = registry.endpoint("bench").tools["add"].arguments.json_schema
    for _ in range(CALLS):
        arguments, secrets = journal.recorded_arguments({"a": 1, "b": 2}, schema)
        journal.record_call(
            journal.CallRecord(
                endpoint="bench",
                tool="add",
                status="ok",
                arguments=arguments,
                secrets=secrets,
                duration_ms=0.3,
            )
        )
    assert journal.flush(60)


@pytest.mark.thorough
@pytest.mark.proves("A07a")
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("make", "most"), [(lambda django: django, 0.10), (door, 0.20)], ids=["view", "door"]
)
def test_the_log_costs_no_more_of_a_call_than_the_contract_allows(make, most, monkeypatch):
    with registry.isolated(empty=True):

        @tool
        async def add(a: int, b: int) -> int:
            return a + b

        endpoint("bench", login_required=False)
        application = make(get_asgi_application())

        async def calls():
            for _ in range(CALLS):
                await call(application)

        log = least(record_calls)
        assert ToolCall.objects.count() == ROUNDS * CALLS
        monkeypatch.setattr(journal, "recorded_arguments", lambda arguments, schema: ("", frozenset()))
        monkeypatch.setattr(journal, "record_call", lambda record: None)
        bare = least(async_to_sync(calls))
        assert ToolCall.objects.count() == ROUNDS * CALLS
    assert log / (log + bare) <= most, (log, bare)
