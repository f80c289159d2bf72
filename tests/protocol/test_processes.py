"""Three processes of one site, without stickiness: each request of a client goes to another (P05a, P07)."""

import json
from collections.abc import Callable, Iterator
from typing import Any
from uuid import uuid4

import httpx2
import pytest

from tests.protocol.conftest import Served
from tests.protocol.test_disconnect import wait_for
from tests.protocol.test_questions import GOOD, Legacy, call, send
from tests.protocol.wire import request

Site = list[Served]


@pytest.fixture(scope="module", params=["uvicorn", "door", "gunicorn"])
def processes(request: pytest.FixtureRequest, start: Callable[..., Served], redis: str) -> Site:
    return [start(request.param, copy=str(number), TEST_REDIS=redis) for number in range(3)]


@pytest.fixture(scope="module")
def apart(start: Callable[..., Served]) -> Site:
    """Two processes that share nothing but the database."""
    return [start("uvicorn", copy=f"apart {number}") for number in range(2)]


@pytest.fixture
def other() -> Iterator[httpx2.Client]:
    with httpx2.Client(timeout=20) as client:
        yield client


def messages(response: httpx2.Response) -> Iterator[dict[str, Any]]:
    return (json.loads(line[6:]) for line in response.iter_lines() if line.startswith("data: {"))


@pytest.mark.proves("P05a", "P07a")
@pytest.mark.parametrize("tool", ["order-in-thread", "order"])
def test_any_process_may_receive_the_answer_to_a_question(
    processes: Site, http: httpx2.Client, other: httpx2.Client, tool: str
) -> None:
    started, called, answered = processes
    client = Legacy(http, started)
    message = request("tools/call", {"name": tool, "arguments": {}})
    with http.stream("POST", called.url, json=message, headers=client.headers) as response:
        lines = messages(response)
        question = next(lines)
        reply = {"jsonrpc": "2.0", "id": question["id"], "result": {"action": "decline"}}
        # Another session may not answer, although it knows the question's id.
        other.post(answered.url, json=reply | {"result": GOOD}, headers=Legacy(other, answered).headers)
        assert other.post(answered.url, json=reply, headers=client.headers).status_code == 202
        assert next(lines)["result"]["content"][0]["text"] == "decline"


@pytest.mark.proves("P04b", "P07a")
def test_a_cancellation_finds_the_process_that_runs_the_request(
    processes: Site, http: httpx2.Client, other: httpx2.Client
) -> None:
    started, called, cancelled = processes
    client = Legacy(http, started)
    token = uuid4().hex
    message = request("tools/call", {"name": "wait-for-cancel", "arguments": {"token": token}}, 5)
    message["params"]["_meta"] = {"progressToken": 1}
    cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 5}}
    with http.stream("POST", called.url, json=message, headers=client.headers) as response:
        lines = messages(response)
        next(lines)
        assert other.post(cancelled.url, json=cancel, headers=client.headers).status_code == 202
        assert next(lines)["error"]["message"] == "The request was cancelled."
    assert wait_for(lambda: called.site.groups(f"cancelled {token}"), 5) == 1


@pytest.mark.proves("P07b")
def test_a_session_that_one_process_ended_is_over_for_all(processes: Site, http: httpx2.Client) -> None:
    started, ended, asked = processes
    client = Legacy(http, started)
    for served in processes:
        assert http.post(served.url, json=request("tools/list"), headers=client.headers).status_code == 200
    assert http.delete(ended.url, headers=client.headers).status_code == 204
    gone = wait_for(
        lambda: http.post(asked.url, json=request("tools/list"), headers=client.headers).status_code == 404, 5
    )
    assert gone


@pytest.mark.proves("P05b", "P07a")
def test_each_round_of_2026_may_reach_another_process(processes: Site, http: httpx2.Client) -> None:
    first, second, third = processes
    asked = send(http, first, call("order")).json()["result"]
    more = {"inputResponses": {"question-1": GOOD}, "requestState": asked["requestState"]}
    asked = send(http, second, call("order", **more)).json()["result"]
    more = {
        "inputResponses": {"question-2": {"action": "accept", "content": {"confirm": True}}},
        "requestState": asked["requestState"],
    }
    assert send(http, third, call("order", **more)).json()["result"]["content"][0]["text"] == "2 red"
    assert send(http, first, call("order", **more)).status_code == 400


@pytest.mark.proves("P07c")
def test_without_a_shared_layer_a_reply_at_the_wrong_process_is_refused_at_once(
    apart: Site, http: httpx2.Client, other: httpx2.Client
) -> None:
    called, answered = apart
    client = Legacy(http, called)
    message = request("tools/call", {"name": "order", "arguments": {}})
    with http.stream("POST", called.url, json=message, headers=client.headers) as response:
        lines = messages(response)
        reply = {"jsonrpc": "2.0", "id": next(lines)["id"], "result": {"action": "decline"}}
        refused = other.post(answered.url, json=reply, headers=client.headers)
        assert refused.status_code == 409
        assert "CHANNEL_LAYERS" in refused.json()["error"]["message"]
        assert other.post(called.url, json=reply, headers=client.headers).status_code == 202
        assert next(lines)["result"]["content"][0]["text"] == "decline"
