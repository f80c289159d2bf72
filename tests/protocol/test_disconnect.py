"""A client that leaves, and one that waits (P04b, P04c)."""

import http.client
import json
import time
from collections.abc import Callable
from contextlib import closing
from typing import Any
from uuid import uuid4

import httpx2
import pytest

from tests.protocol.conftest import Served
from tests.protocol.wire import JSON_HEADERS, events, modern, modern_headers, request

SECONDS = 10.0
LEAVES = 8
"""How often a client leaves at most: what a busy machine delays once, it does not delay every time."""
NOTICE_SECONDS = 0.2


def wait_for(condition: Callable[[], Any], seconds: float) -> Any:
    deadline = time.monotonic() + seconds
    while not (found := condition()) and time.monotonic() < deadline:
        time.sleep(0.02)
    return found


def leave(served: Served, era: str, *, speaking: bool, beat: float = 30) -> float | None:
    """Call a tool and go away while it runs; how many seconds later it was cancelled, None for never.

    Both read the machine's clock. A speaking tool has begun a stream, a silent one has sent nothing yet.
    """
    token = uuid4().hex
    params: dict[str, Any] = {"name": "linger", "arguments": {"token": token, "beat": beat}}
    meta = {"progressToken": 1} if speaking else {}
    if era == "2026":
        message = modern("tools/call", params, **meta)
        headers = modern_headers(message)
    else:
        message, headers = request("tools/call", {**params, "_meta": meta}), JSON_HEADERS
    connection = http.client.HTTPConnection(served.root.removeprefix("http://"), timeout=SECONDS)
    with closing(connection):
        connection.request("POST", "/mcp", json.dumps(message), headers)
        if speaking:
            assert b"event: message" in connection.getresponse().readline()
        assert wait_for(lambda: served.site.groups(f"running {token}"), SECONDS)
        left = time.monotonic()
    noticed = wait_for(lambda: served.site.moment(f"left {token}"), SECONDS)
    return noticed and noticed - left


@pytest.mark.proves("P04b")
@pytest.mark.parametrize("kind", ["uvicorn", "daphne", "door"])
@pytest.mark.parametrize("era", ["2025", "2026"])
@pytest.mark.parametrize("speaking", [False, True], ids=["silent", "speaking"])
def test_a_client_that_leaves_cancels_its_async_tool_within_a_fifth_of_a_second(
    start: Callable[..., Served], kind: str, era: str, *, speaking: bool
) -> None:
    delays: list[float] = []
    while len(delays) < LEAVES and min(delays, default=SECONDS) >= NOTICE_SECONDS:
        delay = leave(start(kind), era, speaking=speaking)
        assert delay is not None
        delays.append(delay)
    assert min(delays) < NOTICE_SECONDS, delays


@pytest.mark.proves("P04b")
@pytest.mark.parametrize("kind", ["gunicorn", "runserver"])
@pytest.mark.parametrize("era", ["2025", "2026"])
def test_a_server_with_threads_notices_at_the_next_write(
    start: Callable[..., Served], kind: str, era: str
) -> None:
    assert leave(start(kind), era, speaking=True, beat=0.1) is not None


@pytest.mark.proves("P04c")
@pytest.mark.parametrize("kind", ["uvicorn", "daphne", "door"])
def test_a_short_call_is_plain_json_and_a_silent_long_one_a_stream(
    start: Callable[..., Served], http: httpx2.Client, kind: str
) -> None:
    served = start(kind)
    for seconds, media in ((0.0, "application/json"), (2.5, "text/event-stream")):
        message = request("tools/call", {"name": "sleep", "arguments": {"seconds": seconds, "token": "x"}})
        response = http.post(served.url, json=message, headers=JSON_HEADERS)
        assert response.headers["content-type"].startswith(media)
        answer = response.json() if seconds == 0 else events(response.text)[0]
        assert answer["result"]["content"][0]["text"] == "slept"
        assert (": keep-alive" in response.text) == (seconds > 0)
        assert (response.headers.get("x-accel-buffering") == "no") == (seconds > 0)


@pytest.mark.proves("P04c")
def test_a_client_that_takes_no_stream_waits_for_plain_json(
    start: Callable[..., Served], http: httpx2.Client
) -> None:
    message = request("tools/call", {"name": "work", "arguments": {"steps": 2}})
    for accept in ("application/json", "*/*"):
        response = http.post(start("uvicorn").url, json=message, headers={"Accept": accept})
        assert response.headers["content-type"] == "application/json"
        assert response.json()["result"]["content"][0]["text"] == "done"


@pytest.mark.proves("P04a")
def test_the_first_notification_opens_the_stream_at_once(
    start: Callable[..., Served], http: httpx2.Client
) -> None:
    message = request("tools/call", {"name": "work", "arguments": {"steps": 3, "pause": 0.3}})
    message["params"]["_meta"] = {"progressToken": "p"}
    arrivals = []
    with http.stream("POST", start("uvicorn").url, json=message, headers=JSON_HEADERS) as response:
        for line in response.iter_lines():
            if line.startswith("data: "):
                arrivals.append((time.monotonic(), events(line)[0]))
    kinds = [item.get("method", "result") for _, item in arrivals]
    assert kinds == ["notifications/progress", "notifications/message"] * 3 + ["result"]
    assert arrivals[-1][0] - arrivals[0][0] > 0.5
