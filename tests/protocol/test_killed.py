"""One of three processes is killed between a question and its answer: only what it was computing is lost (P05, P07)."""

import dataclasses
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from uuid import uuid4

import httpx2
import pytest

from tests.protocol.balancer import Balancer, balancing
from tests.protocol.conftest import Served
from tests.protocol.test_processes import messages
from tests.protocol.test_questions import GOOD, Legacy, call, send
from tests.protocol.wire import request

PUBSUB = ("uvicorn", "pubsub.RedisPubSubChannelLayer")
CORE = ("door", "core.RedisChannelLayer")
"""The layer that keeps the address of a process for a day, whatever becomes of the process."""


@dataclasses.dataclass
class Site:
    """Three processes, and the address at which any of them answers."""

    processes: list[Served]
    balancer: Balancer
    front: Served

    def last_asked(self) -> tuple[Served, list[Served]]:
        """The process that had the last request, and the others."""
        port = self.balancer.passed[-1]
        asked = next(item for item in self.processes if item.root.endswith(f":{port}"))
        return asked, [item for item in self.processes if item is not asked]


def kill(served: Served) -> None:
    served.process.kill()
    served.process.wait()


@pytest.fixture
def other() -> Iterator[httpx2.Client]:
    with httpx2.Client(timeout=20) as client:
        yield client


@pytest.fixture
def site_of_three(request: pytest.FixtureRequest, start: Callable[..., Served], redis: str) -> Iterator[Site]:
    kind, layer = request.param
    name = uuid4().hex
    processes = [
        start(kind, copy=f"{name} {number}", TEST_REDIS=redis, TEST_LAYER=layer) for number in range(3)
    ]
    ports = [int(item.root.rpartition(":")[2]) for item in processes]
    with balancing(ports) as balancer:
        front = dataclasses.replace(processes[0], root=f"http://127.0.0.1:{balancer.port}")
        yield Site(processes, balancer, front)


@contextmanager
def calling(
    http: httpx2.Client, client: Legacy, name: str, **arguments: Any
) -> Iterator[tuple[dict[str, Any], Iterator[dict[str, Any]]]]:
    """A call that runs: the first message of its stream, and those that follow."""
    message = request("tools/call", {"name": name, "arguments": arguments})
    with http.stream("POST", client.url, json=message, headers=client.headers) as response:
        lines = messages(response)
        yield next(lines), lines


def refusal(question: dict[str, Any]) -> dict[str, Any]:
    """The answer of a person who says no."""
    assert question["method"] == "elicitation/create"
    return {"jsonrpc": "2.0", "id": question["id"], "result": {"action": "decline"}}


def text_of(message: dict[str, Any]) -> str:
    text: str = message["result"]["content"][0]["text"]
    return text


@pytest.mark.proves("P05a", "P07a")
@pytest.mark.parametrize("site_of_three", [PUBSUB, CORE], indirect=True, ids=["uvicorn", "door"])
def test_of_a_killed_process_only_what_it_was_computing_is_lost(
    site_of_three: Site, http: httpx2.Client, other: httpx2.Client
) -> None:
    site = site_of_three
    client = Legacy(http, site.front)
    with calling(http, client, "order") as (question, lost):
        asker, (second, third) = site.last_asked()
        asked, working = Legacy(other, second), Legacy(other, third)
        with (
            calling(other, asked, "order") as (their_question, theirs),
            calling(other, working, "work", steps=40) as (_, worked),
        ):
            kill(asker)
            with pytest.raises(httpx2.RemoteProtocolError):
                next(lost)
            # Wherever the answer arrives, the client hears that the call is gone, and the session goes on.
            for _ in range(2):
                response = http.post(client.url, json=refusal(question), headers=client.headers)
                assert response.status_code == 409
                assert (
                    "the process of the server that asked it has ended" in response.json()["error"]["message"]
                )
                assert client.post(request("tools/list")).status_code == 200
            assert (
                other.post(asked.url, json=refusal(their_question), headers=asked.headers).status_code == 202
            )
            assert text_of(next(theirs)) == "decline"
            assert text_of(list(worked)[-1]) == "done"
    for _ in range(2):
        with calling(http, client, "order") as (question, lines):
            assert http.post(client.url, json=refusal(question), headers=client.headers).status_code == 202
            assert text_of(next(lines)) == "decline"
    assert len(set(site.balancer.passed[-4:])) == 2


@pytest.mark.proves("P05b", "P07a")
@pytest.mark.parametrize("site_of_three", [CORE], indirect=True, ids=["door"])
def test_a_round_of_2026_goes_on_although_the_process_that_asked_was_killed(
    site_of_three: Site, http: httpx2.Client
) -> None:
    site = site_of_three
    asked = send(http, site.front, call("order")).json()["result"]
    asker, _ = site.last_asked()
    kill(asker)
    more = {"inputResponses": {"question-1": GOOD}, "requestState": asked["requestState"]}
    asked = send(http, site.front, call("order", **more)).json()["result"]
    assert asked["inputRequests"]["question-2"]["params"]["message"] == "Deliver 2 in red?"
    more = {
        "inputResponses": {"question-2": {"action": "accept", "content": {"confirm": True}}},
        "requestState": asked["requestState"],
    }
    assert text_of(send(http, site.front, call("order", **more)).json()) == "2 red"
    # The state is used up, for the process that has not seen it too.
    assert [send(http, site.front, call("order", **more)).status_code for _ in range(2)] == [400, 400]
    assert asker.process.returncode == -signal.SIGKILL
