"""What a server says to HTTP that is not, or not yet, MCP (P08, P11, G06, G07)."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client, override_settings

from mcp_server import tool
from mcp_server.definitions.registry import registry
from mcp_server.exceptions import ConfigurationError
from tests.protocol.wire import JSON_HEADERS, modern, modern_headers, request

pytestmark = pytest.mark.django_db
OPEN = {"ENDPOINTS": {"default": {"LOGIN_REQUIRED": False}}}


@pytest.fixture(autouse=True)
def tools() -> Iterator[None]:
    with registry.isolated(empty=True), override_settings(MCP_SERVER=OPEN):

        @tool
        def echo(text: str = "") -> str:
            return text

        yield


@pytest.fixture
def client() -> Client:
    return Client(raise_request_exception=False)


def post(client: Client, body: Any, path: str = "/mcp", **headers: str) -> Any:
    data = body if isinstance(body, bytes | str) else json.dumps(body)
    given = {**JSON_HEADERS, **headers}
    kind = given.pop("Content-Type")
    return client.post(path, data, content_type=kind, headers=given)


def error(response: Any) -> dict[str, Any]:
    assert response["Content-Type"] == "application/json", response.content
    message = response.json()
    assert message["jsonrpc"] == "2.0"
    found: dict[str, Any] = message["error"]
    return found


PING = request("ping")


@pytest.mark.proves("P11b")
@pytest.mark.parametrize("path", ["/mcp", "/mcp/", "/mcp/default", "/mcp/default/"])
@pytest.mark.parametrize("append_slash", [True, False])
def test_an_endpoint_answers_with_and_without_the_final_slash_and_never_redirects(
    client: Client, path: str, append_slash: bool
) -> None:
    with override_settings(APPEND_SLASH=append_slash):
        response = post(client, PING, path)
    assert response.status_code == 200
    assert response.json() == {"jsonrpc": "2.0", "id": 1, "result": {}}


@pytest.mark.proves("P13b")
@pytest.mark.parametrize("path", ["/mcp/nothing", "/mcp/nothing/"])
def test_an_unknown_endpoint_is_a_404_in_json(client: Client, path: str) -> None:
    response = post(client, PING, path)
    assert response.status_code == 404
    assert "no MCP endpoint" in error(response)["message"]


@pytest.mark.proves("P11b")
@pytest.mark.parametrize("path", ["/mcp-admin/", "/mcpx", "/x/mcp"])
def test_neighbouring_urls_are_left_alone(client: Client, path: str) -> None:
    assert client.get(path).status_code == 404
    assert client.get(path)["Content-Type"] != "application/json"


@pytest.mark.proves("P11a")
@pytest.mark.parametrize("method", ["GET", "PUT", "PATCH", "OPTIONS", "HEAD"])
@pytest.mark.parametrize("accept", ["text/event-stream", "application/json", "*/*"])
def test_other_methods_get_405_with_allow(client: Client, method: str, accept: str) -> None:
    response = client.generic(method, "/mcp", headers={"Accept": accept})
    assert response.status_code == 405
    assert "POST" in response["Allow"]


@pytest.mark.proves("P11a")
def test_a_client_set_to_sse_is_told_which_transport_to_choose(client: Client) -> None:
    response = client.get("/mcp", headers={"Accept": "text/event-stream"})
    assert "Streamable HTTP" in error(response)["message"]
    response = post(client, PING, Accept="text/event-stream")
    assert response.status_code == 406
    assert "application/json" in error(response)["message"]


@pytest.mark.proves("P11a")
@pytest.mark.parametrize(
    "accept", ["", "application/json", "*/*", "application/json, text/event-stream", "application/*;q=0.5"]
)
def test_any_accept_that_takes_json_gets_json(client: Client, accept: str) -> None:
    response = post(client, PING, Accept=accept)
    assert response.status_code == 200
    assert response["Content-Type"] == "application/json"


@pytest.mark.proves("P08")
@pytest.mark.parametrize(
    "kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"]
)
def test_a_body_that_is_not_sent_as_json_is_415(client: Client, kind: str) -> None:
    response = post(client, PING, **{"Content-Type": kind})
    assert response.status_code == 415
    assert "application/json" in error(response)["message"]


@pytest.mark.proves("P08")
def test_a_charset_beside_the_content_type_is_fine(client: Client) -> None:
    assert post(client, PING, **{"Content-Type": "Application/JSON; charset=UTF-8"}).status_code == 200


def deep(levels: int) -> str:
    return '{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":' + "[" * levels + "]" * levels + "}}"


@pytest.mark.proves("P08")
@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b" ", -32700),
        (b"{", -32700),
        (b"nonsense", -32700),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping"}\x00', -32700),
        (b'\xff\xfe{"jsonrpc":"2.0"}', -32700),
        (b'\xef\xbb\xbf{"jsonrpc":"2.0","id":1,"method":"ping"}', -32700),
        ('{"jsonrpc":"2.0","id":1,"method":"ping"}'.encode("utf-16"), -32700),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":NaN}}', -32700),
        (b'{"jsonrpc":"2.0","id":' + b"9" * 5000 + b',"method":"ping"}', -32700),
        (deep(150), -32700),
        (deep(100_000), -32700),
        ("[" * 100_000, -32700),
        ([], -32600),
        ([PING], -32600),
        ("1", -32600),
        ("null", -32600),
        ('"ping"', -32600),
        ({}, -32600),
        ({"id": 1, "method": "ping"}, -32600),
        ({"jsonrpc": "1.0", "id": 1, "method": "ping"}, -32600),
        ({"jsonrpc": "2.0", "id": 1}, -32600),
        ({"jsonrpc": "2.0", "id": 1, "method": 5}, -32600),
        ({"jsonrpc": "2.0", "id": 1, "method": "ping", "params": []}, -32600),
        ({"jsonrpc": "2.0", "id": None, "method": "ping"}, -32600),
        ({"jsonrpc": "2.0", "id": True, "method": "ping"}, -32600),
        ({"jsonrpc": "2.0", "id": 1.5, "method": "ping"}, -32600),
        ({"jsonrpc": "2.0", "id": [], "method": "ping"}, -32600),
    ],
)
def test_a_body_that_is_no_message_gets_400_and_the_reason(client: Client, body: Any, code: int) -> None:
    for headers in ({}, {"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "ping"}):
        response = post(client, body, **headers)
        assert response.status_code == 400
        assert error(response)["code"] == code


@pytest.mark.proves("P08")
def test_an_error_carries_the_id_that_could_still_be_read(client: Client) -> None:
    assert post(client, {"jsonrpc": "2.0", "id": "seven", "method": 5}).json()["id"] == "seven"
    assert post(client, "nonsense").json()["id"] is None


@pytest.mark.proves("P08")
@override_settings(DATA_UPLOAD_MAX_MEMORY_SIZE=1000)
def test_a_body_over_the_projects_bound_is_413(client: Client) -> None:
    response = post(client, request("ping", {"padding": "x" * 1000}))
    assert response.status_code == 413
    assert "1000 bytes" in error(response)["message"]
    assert post(client, PING).status_code == 200


@pytest.mark.proves("P08")
@override_settings(DATA_UPLOAD_MAX_MEMORY_SIZE=None)
def test_a_project_without_a_bound_still_has_ours(client: Client) -> None:
    assert post(client, "x" * (5 * 1024 * 1024)).status_code == 400
    assert post(client, "x" * (8 * 1024 * 1024 + 1)).status_code == 413


@pytest.mark.proves("P08")
def test_notifications_are_accepted_and_answered_with_nothing(client: Client) -> None:
    for message in (
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}},
        {"jsonrpc": "2.0", "method": "made/up"},
    ):
        response = post(client, message)
        assert (response.status_code, response.content) == (202, b"")
        assert "Content-Type" not in response.headers


@pytest.mark.proves("P08")
@pytest.mark.parametrize(
    ("changed", "code", "status"),
    [
        ({"Mcp-Method": "tools/list"}, -32020, 400),
        ({"Mcp-Method": None}, -32020, 400),
        ({"Mcp-Name": "other"}, -32020, 400),
        ({"Mcp-Name": None}, -32020, 400),
        ({"Mcp-Name": "=?base64?!!?="}, -32020, 400),
        ({"Mcp-Protocol-Version": "2027-01-01"}, -32020, 400),
    ],
)
def test_headers_that_disagree_with_the_body_are_refused(
    client: Client, changed: dict[str, str | None], code: int, status: int
) -> None:
    message = modern("tools/call", {"name": "echo", "arguments": {"text": "hi"}})
    headers = {
        key: value for key, value in {**modern_headers(message), **changed}.items() if value is not None
    }
    response = post(client, message, **headers)
    assert (response.status_code, error(response)["code"]) == (status, code)


@pytest.mark.proves("P08")
def test_an_unknown_revision_is_told_which_ones_are_served(client: Client) -> None:
    message = modern("ping")
    message["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] = "2031-01-01"
    response = post(client, message, **{**modern_headers(message), "Mcp-Protocol-Version": "2031-01-01"})
    assert response.status_code == 400
    assert error(response)["code"] == -32022
    assert error(response)["data"] == {"supported": ["2026-07-28"], "requested": "2031-01-01"}


@pytest.mark.proves("P08")
@pytest.mark.parametrize("missing", ["protocolVersion", "clientCapabilities"])
def test_a_missing_part_of_the_envelope_is_named(client: Client, missing: str) -> None:
    message = modern("tools/list")
    del message["params"]["_meta"][f"io.modelcontextprotocol/{missing}"]
    response = post(client, message, **modern_headers(message))
    assert response.status_code == 400
    assert error(response)["code"] == -32602
    assert missing in error(response)["message"]


@pytest.mark.proves("P08")
def test_an_unknown_method_is_32601_and_since_2026_also_404(client: Client) -> None:
    response = post(client, request("made/up"))
    assert (response.status_code, error(response)["code"]) == (200, -32601)
    message = modern("made/up")
    response = post(client, message, **modern_headers(message))
    assert (response.status_code, error(response)["code"]) == (404, -32601)


@pytest.mark.proves("P08")
def test_a_posted_response_without_a_session_is_taken_in_2025_and_refused_in_2026(client: Client) -> None:
    message = {"jsonrpc": "2.0", "id": 1, "result": {}}
    assert post(client, message).status_code == 202
    response = post(client, message, **{"Mcp-Protocol-Version": "2026-07-28"})
    assert (response.status_code, error(response)["code"]) == (400, -32600)


@pytest.mark.proves("G07a")
@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://testserver.evil.example"])
def test_a_foreign_origin_is_403(client: Client, origin: str) -> None:
    response = post(client, PING, Origin=origin)
    assert response.status_code == 403
    assert "Origin" in error(response)["message"]


@pytest.mark.proves("G07a")
@override_settings(MIDDLEWARE=[])
def test_a_foreign_host_is_403_in_json(client: Client) -> None:
    response = post(client, PING, Host="evil.example")
    assert response.status_code == 403
    assert "ALLOWED_HOSTS" in error(response)["message"]


@pytest.mark.proves("G06a")
@pytest.mark.django_db
@pytest.mark.parametrize(
    "authorization", [None, "Bearer wrong", "Bearer ", "Basic dXNlcjpwYXNz", "Bearer \xff"]
)
@override_settings(MCP_SERVER={})
def test_no_or_wrong_credentials_get_401_with_a_challenge(client: Client, authorization: str | None) -> None:
    headers = {} if authorization is None else {"Authorization": authorization}
    for message in (PING, request("tools/list"), request("tools/call", {"name": "echo"})):
        response = post(client, message, **headers)
        assert response.status_code == 401
        assert response["WWW-Authenticate"].startswith("Bearer")
        assert "echo" not in response.content.decode()


@pytest.mark.proves("T20b")
def test_a_broken_module_of_tools_closes_the_endpoints_and_says_so_in_the_log(
    client: Client, caplog: pytest.LogCaptureFixture
) -> None:
    registry.add_broken(
        ConfigurationError("shop.mcp_tools cannot be imported.", where="/srv/shop/mcp_tools.py:3")
    )
    response = post(client, PING)
    assert response.status_code == 503
    assert "shop" not in response.content.decode()
    assert "shop.mcp_tools cannot be imported. (/srv/shop/mcp_tools.py:3)" in caplog.text


class Failing:
    def authenticate(self, request: Any) -> None:
        raise OSError("postgres://admin:hunter2@db/prod")


@pytest.mark.proves("P08")
@override_settings(MCP_SERVER={"AUTHENTICATION": ["tests.protocol.test_admission.Failing"]})
def test_a_failure_of_the_projects_own_code_is_json_without_its_text(
    client: Client, caplog: pytest.LogCaptureFixture
) -> None:
    response = post(client, PING)
    assert response.status_code == 500
    assert "hunter2" not in json.dumps(error(response))
    assert "hunter2" in caplog.text
