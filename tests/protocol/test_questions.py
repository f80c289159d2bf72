"""Questions to a person and to the client, from one handler line in both eras (P05, P07)."""

import json
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import httpx2
import pytest
from mcp_types import CreateMessageResult, ElicitResult, ListRootsResult, Root, TextContent

from tests.protocol.conftest import Served
from tests.protocol.test_clients import ERAS, connect, text_of
from tests.protocol.test_disconnect import wait_for
from tests.protocol.wire import JSON_HEADERS, events, modern, modern_headers, request


def answers(*given: ElicitResult) -> tuple[Callable[..., Any], list[str]]:
    """A client's person, who gives these answers in turn, and the questions that were put."""
    heard: list[str] = []

    async def answer(context: Any, params: Any) -> ElicitResult:
        heard.append(params.message)
        return given[min(len(heard), len(given)) - 1]

    return answer, heard


def accept(**content: Any) -> ElicitResult:
    return ElicitResult(action="accept", content=content)


@ERAS
@pytest.mark.proves("P05a", "P05b", "P02a")
async def test_a_tool_asks_twice_and_goes_on_with_the_answers(
    served: Served, mode: str, version: str
) -> None:
    person, heard = answers(accept(color="red", count=2), accept(confirm=True))
    async with connect(served, mode, served.site.plain, elicitation_callback=person) as client:
        result = await client.call_tool("order", {"prefix": "> "})
    assert text_of(result) == "> 2 red"
    assert heard == ["What shall it be?", "Deliver 2 in red?"]


@ERAS
@pytest.mark.proves("P05a", "P05b")
async def test_a_plain_function_asks_in_the_same_way(served: Served, mode: str, version: str) -> None:
    person, heard = answers(accept(color="blue", count=1))
    async with connect(served, mode, elicitation_callback=person) as client:
        result = await client.call_tool("order-in-thread")
    assert text_of(result) == "1 blue"
    assert heard == ["What shall it be?"]


@ERAS
@pytest.mark.proves("P05a", "P05b")
@pytest.mark.parametrize("action", ["decline", "cancel"])
async def test_a_person_may_say_no(
    start: Callable[..., Served], mode: str, version: str, action: Any
) -> None:
    person, _ = answers(ElicitResult(action=action))
    async with connect(start("uvicorn"), mode, elicitation_callback=person) as client:
        assert text_of(await client.call_tool("order")) == action


@ERAS
@pytest.mark.proves("T18d")
async def test_nobody_is_asked_inside_a_transaction(
    start: Callable[..., Served], mode: str, version: str
) -> None:
    person, heard = answers(accept(confirm=True))
    async with connect(start("uvicorn"), mode, elicitation_callback=person) as client:
        result = await client.call_tool("order-in-transaction")
    assert result.is_error
    assert "transaction" in text_of(result)
    assert heard == []


@ERAS
@pytest.mark.proves("P05a", "P05b")
async def test_questions_side_by_side_are_answered_together(served: Served, mode: str, version: str) -> None:
    async def sample(context: Any, params: Any) -> CreateMessageResult:
        return CreateMessageResult(
            role="assistant",
            content=TextContent(type="text", text=params.messages[0].content.text.upper()),
            model="m",
        )

    async def roots(context: Any) -> ListRootsResult:
        return ListRootsResult(roots=[Root(uri="file:///a"), Root(uri="file:///b")])

    async with connect(served, mode, sampling_callback=sample, list_roots_callback=roots) as client:
        assert text_of(await client.call_tool("summarize", {"text": "hi"})) == "HI in 2 roots"


@pytest.mark.proves("P05a")
async def test_a_2025_client_that_cannot_ask_gets_a_sentence_for_its_model(
    start: Callable[..., Served],
) -> None:
    async with connect(start("uvicorn"), "legacy") as client:
        result = await client.call_tool("order")
    assert result.is_error
    assert "cannot answer" in text_of(result)


def call(name: str, arguments: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    """A modern call of a client that declares elicitation."""
    return modern(
        "tools/call",
        {"name": name, "arguments": arguments or {}, **more},
        **{"io.modelcontextprotocol/clientCapabilities": {"elicitation": {}}},
    )


def send(http: httpx2.Client, served: Served, message: dict[str, Any], token: str = "") -> Any:
    headers = {**modern_headers(message), **({"Authorization": f"Bearer {token}"} if token else {})}
    return http.post(served.url, json=message, headers=headers)


@pytest.mark.proves("P05b")
def test_a_2026_client_without_the_capability_is_told_which_one(
    start: Callable[..., Served], http: httpx2.Client
) -> None:
    response = send(http, start("uvicorn"), modern("tools/call", {"name": "order", "arguments": {}}))
    assert response.status_code == 400
    assert response.json()["error"]["code"] == -32021
    assert response.json()["error"]["data"] == {"requiredCapabilities": {"elicitation": {}}}


def first_question(http: httpx2.Client, served: Served, token: str = "") -> tuple[str, str]:
    asked = send(http, served, call("order"), token).json()["result"]
    assert asked["resultType"] == "input_required"
    ((key, question),) = asked["inputRequests"].items()
    assert question["params"]["requestedSchema"]["properties"]["color"]["enum"] == ["red", "blue"]
    return key, asked["requestState"]


GOOD = {"action": "accept", "content": {"color": "red", "count": 2}}


@pytest.mark.proves("P05b", "P07b")
def test_a_state_is_bound_to_user_request_and_seal_and_is_used_once(
    start: Callable[..., Served], http: httpx2.Client
) -> None:
    served = start("uvicorn")
    site = served.site
    key, state = first_question(http, served, site.plain)
    good = call("order", inputResponses={key: GOOD}, requestState=state)
    others = call("order", {"prefix": "x"}, inputResponses={key: GOOD}, requestState=state)
    forged = call("order", inputResponses={key: GOOD}, requestState=state[:-4] + "AAAA")
    for message, token in ((good, site.staff), (good, ""), (others, site.plain), (forged, site.plain)):
        response = send(http, served, message, token)
        assert (response.status_code, response.json()["error"]["code"]) == (400, -32602)
    second = send(http, served, good, site.plain).json()["result"]
    assert [item["params"]["message"] for item in second["inputRequests"].values()] == ["Deliver 2 in red?"]
    again = send(http, served, good, site.plain)
    assert again.json()["error"]["message"] == "Invalid or expired requestState"


@pytest.mark.proves("P05b")
@pytest.mark.parametrize(
    "responses",
    [
        {},
        {"wrong": GOOD},
        {"question-1": {"action": "accept", "content": {"color": "green", "count": 2}}},
        {"question-1": {"action": "accept", "content": {}}},
        {"question-1": {"action": "accept"}},
    ],
)
def test_missing_and_wrong_answers_are_asked_again(
    start: Callable[..., Served], http: httpx2.Client, responses: dict[str, Any]
) -> None:
    served = start("uvicorn")
    key, state = first_question(http, served)
    again = send(http, served, call("order", inputResponses=responses, requestState=state)).json()["result"]
    assert list(again["inputRequests"]) == [key]
    good = call("order", inputResponses={key: GOOD}, requestState=again["requestState"])
    assert send(http, served, good).json()["result"]["resultType"] == "input_required"


class Legacy:
    """A 2025 client by hand."""

    def __init__(self, http: httpx2.Client, served: Served, token: str = "") -> None:
        self.http = http
        self.url = served.url
        self.headers = {**JSON_HEADERS, **({"Authorization": f"Bearer {token}"} if token else {})}
        answer = self.post(
            request(
                "initialize",
                {
                    "protocolVersion": "2025-11-25",
                    "capabilities": {"elicitation": {}, "experimental": {"padding": {"x": "x" * 100_000}}},
                    "clientInfo": {"name": "by hand", "version": "1"},
                },
            )
        )
        self.session = answer.headers["mcp-session-id"]
        self.headers |= {"Mcp-Session-Id": self.session, "Mcp-Protocol-Version": "2025-11-25"}

    def post(self, message: Any, **headers: str) -> httpx2.Response:
        return self.http.post(self.url, json=message, headers={**self.headers, **headers})


@pytest.mark.proves("P07a", "P07b")
def test_a_session_belongs_to_its_user_and_credential_and_can_be_ended(
    served: Served, http: httpx2.Client
) -> None:
    client = Legacy(http, served, served.site.plain)
    assert len(client.session) < 1000
    assert client.session.isascii()
    assert client.post(request("tools/list")).status_code == 200
    for authorization in (f"Bearer {served.site.staff}", ""):
        assert client.post(request("tools/list"), Authorization=authorization).status_code in {401, 404}
    assert client.post(request("tools/list"), **{"Mcp-Session-Id": client.session + "x"}).status_code == 404
    assert http.delete(served.url, headers=client.headers).status_code == 204
    response = client.post(request("tools/list"))
    assert response.status_code == 404
    assert "initialize" in response.json()["error"]["message"]
    assert http.delete(served.url, headers=client.headers).status_code == 404


@pytest.mark.proves("P11c")
def test_a_client_that_loses_its_session_is_still_served(served: Served, http: httpx2.Client) -> None:
    client = Legacy(http, served)
    del client.headers["Mcp-Session-Id"]
    assert client.post(request("tools/list")).status_code == 200
    result = client.post(request("tools/call", {"name": "order", "arguments": {}})).json()["result"]
    assert "cannot answer" in result["content"][0]["text"]


@pytest.mark.proves("P07c", "P08")
def test_a_reply_that_nobody_waits_for_is_told_why(start: Callable[..., Served], http: httpx2.Client) -> None:
    client = Legacy(http, start("uvicorn"))
    response = client.post({"jsonrpc": "2.0", "id": "nobody", "result": {}})
    assert response.status_code == 409
    assert "CHANNEL_LAYERS" in response.json()["error"]["message"]
    wrong: dict[str, Any]
    for wrong in (
        {"id": "x", "result": 5},
        {"id": "x", "error": {}},
        {"result": {}},
        {"id": [], "error": "x"},
    ):
        assert client.post({"jsonrpc": "2.0", **wrong}).status_code == 400


@pytest.mark.proves("P05a")
def test_a_client_that_answers_nonsense_gets_a_failed_call(
    start: Callable[..., Served], http: httpx2.Client
) -> None:
    served = start("uvicorn")
    client = Legacy(http, served)
    reply: dict[str, Any]
    for reply in (
        {"result": {"action": "accept", "content": {"color": "green"}}},
        {"result": {"action": "explode"}},
        {"result": {}},
        {"error": {"code": -32603, "message": "no"}},
    ):
        message = request("tools/call", {"name": "order", "arguments": {}})
        with http.stream("POST", served.url, json=message, headers=client.headers) as response:
            lines = (json.loads(line[6:]) for line in response.iter_lines() if line.startswith("data: {"))
            question = next(lines)
            with httpx2.Client() as other:
                sent = other.post(
                    served.url, json={"jsonrpc": "2.0", "id": question["id"], **reply}, headers=client.headers
                )
            assert sent.status_code == 202
            assert next(lines)["result"]["isError"]


@pytest.mark.proves("P04b")
def test_a_2025_client_cancels_its_own_request_and_nobody_elses(served: Served, http: httpx2.Client) -> None:
    client, stranger = Legacy(http, served), Legacy(http, served)
    token = uuid4().hex
    message = request("tools/call", {"name": "wait-for-cancel", "arguments": {"token": token}}, 77)
    message["params"]["_meta"] = {"progressToken": "p"}
    cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 77}}
    with http.stream("POST", served.url, json=message, headers=client.headers) as response:
        lines = (json.loads(line[6:]) for line in response.iter_lines() if line.startswith("data: {"))
        assert next(lines)["method"] == "notifications/progress"
        with httpx2.Client() as other:
            assert other.post(served.url, json=cancel, headers=stranger.headers).status_code == 202
            assert other.post(served.url, json=cancel, headers=client.headers).status_code == 202
        assert next(lines)["error"]["message"] == "The request was cancelled."
    assert wait_for(lambda: served.site.groups(f"cancelled {token}"), 5) == 1


@pytest.mark.proves("P04a")
def test_a_session_sets_its_log_level(served: Served, http: httpx2.Client) -> None:
    client = Legacy(http, served)
    message = request("tools/call", {"name": "work", "arguments": {"steps": 1}})
    assert "notifications/message" in client.post(message).text
    assert client.post(request("logging/setLevel", {"level": "error"})).json()["result"] == {}
    assert "notifications/message" not in client.post(message).text


@pytest.mark.proves("P05a", "P04b")
def test_a_2025_client_whose_stream_broke_learns_that_its_call_ended(
    served: Served, http: httpx2.Client
) -> None:
    client = Legacy(http, served)
    message = request("tools/call", {"name": "work", "arguments": {"steps": 1}}, "seven")
    first = client.post(message).text.split("\n\n")[0].splitlines()
    assert first[0].startswith("id: ")
    assert first[1] == "retry: 1000"
    headers = {**client.headers, "Accept": "text/event-stream", "Last-Event-ID": first[0][4:]}
    answer = http.get(served.url, headers=headers)
    assert events(answer.text) == [
        {
            "jsonrpc": "2.0",
            "id": "seven",
            "error": {"code": -32603, "message": "The stream broke, and the call ended with it. Call again."},
        }
    ]
    assert http.get(served.url, headers={**headers, "Last-Event-ID": "nonsense"}).status_code == 400
