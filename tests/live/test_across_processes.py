"""A run in one web process is watched at another one; Redis carries its console."""

import json
import re
import threading
import time

import httpx2
import pytest
from websockets.sync.client import connect

from tests.protocol.wire import JSON_HEADERS, request

ENDLESS = """
for (let n = 0; ; n++) {
  console.log("round", n);
  await new Promise((resolve) => setTimeout(resolve, 100));
}
"""


def start_run(pair):
    """Start an endless run at the first process; return the client's thread and where its answer comes."""
    answers = []

    def call():
        message = request("tools/call", {"name": "code", "arguments": {"code": ENDLESS}})
        headers = {**JSON_HEADERS, "Authorization": f"Bearer {pair.token}"}
        answers.append(
            httpx2.post(f"http://{pair.first}/mcp/code", json=message, headers=headers, timeout=90).text
        )

    client = threading.Thread(target=call)
    client.start()
    return client, answers


def find_run(admin):
    """Return the id of the run that goes on, as the list of runs shows it."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        page = admin.get("/admin/mcp_toolkit/coderun/?outcome=running").text
        if found := re.search(r"/coderun/(\w+)/change/", page):
            return found[1]
    raise TimeoutError("No run is listed.")


@pytest.mark.proves("A04a")
def test_console_lines_reach_a_watcher_at_another_process_who_stops_the_run(pair):
    client, answers = start_run(pair)
    cookies = {"sessionid": pair.session}
    with httpx2.Client(base_url=f"http://{pair.second}", cookies=cookies, timeout=20) as admin:
        run = find_run(admin)
        address = f"/admin/mcp_toolkit/coderun/{run}"
        page = admin.get(f"{address}/change/").text
        (token,) = set(
            re.findall(r'/stop/"><input type="hidden" name="csrfmiddlewaretoken" value="(\w+)"', page)
        )
        url = f"ws://{pair.second}/mcp-live/runs/{run}/"
        headers = {"Cookie": f"sessionid={pair.session}", "Origin": f"http://{pair.second}"}
        lines = []
        with connect(url, additional_headers=headers) as socket:
            while len(lines) < 3:
                lines += json.loads(socket.recv(timeout=20)).get("console", [])
            assert admin.post(f"{address}/stop/", data={"csrfmiddlewaretoken": token}).status_code == 302
            last = list(socket)
        assert json.loads(last[-1]) == {"changed": True}
        assert all(line["level"] == "log" and line["text"].startswith("round ") for line in lines)
        numbers = [int(line["text"].split()[1]) for line in lines]
        assert numbers == list(range(numbers[0], numbers[0] + len(lines)))
    client.join(30)
    assert "stopped" in answers[0]
