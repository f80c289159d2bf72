"""Endpoint middleware: before any guard, once a request, for lists, calls and programs alike (contract P14, R07b)."""

import asyncio
import json
from contextvars import ContextVar
from typing import Any

import pytest
from django.contrib.auth.models import AnonymousUser, User
from django.core.exceptions import PermissionDenied
from django.core.management import call_command
from django.http import HttpRequest, HttpResponse, JsonResponse, StreamingHttpResponse
from django.test import Client, override_settings
from django.urls import reverse

from mcp_server import Context, Guidance, ToolError, codemode, endpoint, is_staff, tool
from mcp_server.access.authentication import InvalidCredential
from mcp_server.definitions.registry import registry
from mcp_server.testing import AsyncMCPClient, MCPClient, MCPError
from tests.protocol.wire import modern, modern_headers

tenant: ContextVar[str] = ContextVar("tenant", default="none")


def act_as_header_says(request: HttpRequest) -> None:
    name = request.headers.get("X-User")
    if name is not None:
        request.user = User.objects.get(username=name)


async def set_tenant(request: HttpRequest) -> None:
    await asyncio.sleep(0)
    tenant.set(request.headers.get("X-Tenant", "default"))


class Closed:
    """A middleware with a state, made once."""

    def __call__(self, request: HttpRequest) -> HttpResponse | None:
        if "X-Closed" in request.headers:
            return JsonResponse({"closed": True}, status=503, headers={"Retry-After": "60"})
        return None


def refuse_by_header(request: HttpRequest) -> None:
    kind = request.headers.get("X-Refuse")
    errors: dict[str | None, Exception] = {
        "denied": PermissionDenied("Not from this network."),
        "credential": InvalidCredential(),
        "guidance": Guidance("Sign in at https://example.com/ first.\nThen call again."),
        "error": ToolError("Down for maintenance", 503, {"until": "noon"}),
        "crash": RuntimeError("secret /path"),
    }
    if kind in errors:
        raise errors[kind]


@pytest.fixture(autouse=True)
def isolated(db: Any):
    with registry.isolated(empty=True):
        here = __name__
        endpoint(
            "guarded",
            middleware=[act_as_header_says, f"{here}.set_tenant", f"{here}.Closed", refuse_by_header],
            login_required=True,
        )
        endpoint("code", middleware=[act_as_header_says, set_tenant, refuse_by_header], code_mode="on")
        endpoint("json", middleware=[refuse_by_header], result_format="json")

        @tool
        def whoami(ctx: Context) -> str:
            return f"{ctx.user.get_username()} of {tenant.get()}"

        @tool
        async def awhoami(ctx: Context) -> str:
            return f"{ctx.user.get_username()} of {tenant.get()}"

        @tool(enabled=is_staff)
        def secret() -> str:
            return "42"

        yield


@pytest.fixture
def ada() -> User:
    return User.objects.create_user("ada")


@pytest.fixture
def root() -> User:
    return User.objects.create_superuser("root")


def names(client: MCPClient) -> list[str]:
    return [item["name"] for item in client.list_tools()]


@pytest.mark.proves("P14")
def test_a_middleware_may_set_the_user_before_guards_are_asked(ada, root):
    plain = MCPClient(ada, "guarded")
    assert names(plain) == ["awhoami", "whoami"]
    with pytest.raises(MCPError):
        plain.call_tool("secret")
    acting = MCPClient(ada, "guarded", headers={"X-User": "root"})
    assert names(acting) == ["awhoami", "secret", "whoami"]
    assert acting.call_tool("secret").text == "42"
    assert acting.call_tool("whoami").text == "root of default"


@pytest.mark.proves("P14")
def test_a_user_that_a_middleware_sets_counts_as_signed_in_and_one_who_ended_does_not(ada):
    client = MCPClient(None, "guarded", headers={"X-User": "ada", "X-Tenant": "north"})
    assert [client.call_tool(name).text for name in ("whoami", "awhoami")] == ["ada of north"] * 2
    ada.is_active = False
    ada.save()
    with pytest.raises(MCPError) as refused:
        client.list_tools()
    assert refused.value.status == 401
    with pytest.raises(MCPError) as refused:
        MCPClient(None, "guarded").list_tools()
    assert refused.value.status == 401


@pytest.mark.proves("P14")
async def test_the_async_view_runs_both_kinds(ada, root):
    client = AsyncMCPClient(ada, "guarded", headers={"X-User": "root", "X-Tenant": "north"})
    assert (await client.call_tool("whoami")).text == "root of north"
    assert (await client.call_tool("awhoami")).text == "root of north"
    assert [item["name"] for item in await client.list_tools()] == ["awhoami", "secret", "whoami"]


@pytest.mark.proves("P14")
def test_what_a_middleware_did_reaches_calls_from_code(ada, root):
    program = "return [await codemode.whoami(), await codemode.awhoami(), 'secret' in codemode]"
    client = MCPClient(ada, "code", headers={"X-User": "root", "X-Tenant": "north"})
    assert client.run(program).data == {"results": ["root of north", "root of north", True]}
    assert MCPClient(ada, "code").run(program).data == {
        "results": ["ada of default", "ada of default", False]
    }


@pytest.mark.proves("P14")
def test_a_middleware_may_answer(ada):
    client = Client(headers={"X-Closed": "1", "Origin": "http://testserver"})
    client.force_login(ada)
    response = client.post(reverse("mcp-endpoint", args=["guarded"]), "{}", content_type="application/json")
    assert (response.status_code, response.json()) == (503, {"closed": True})
    assert response.headers["Retry-After"] == "60"
    assert response.headers["Content-Type"] == "application/json"


def test_an_answer_in_pieces_is_sent_whole(ada):
    def stream(request: HttpRequest) -> StreamingHttpResponse:
        return StreamingHttpResponse(["a", b"b"], content_type="text/plain")

    endpoint("streaming", middleware=[stream])
    client = Client(headers={"Origin": "http://testserver"})
    response = client.post(reverse("mcp-endpoint", args=["streaming"]), "{}", content_type="application/json")
    assert (response.status_code, response.content) == (200, b"ab")


@pytest.mark.proves("P14")
def test_a_middleware_may_refuse_the_request(ada):
    for kind, status, words in (("denied", 403, "this network"), ("credential", 401, "credential")):
        client = MCPClient(ada, "guarded", headers={"X-Refuse": kind})
        for ask in (client.list_tools, lambda client=client: client.call_tool("whoami")):
            with pytest.raises(MCPError, match=words) as refused:
                ask()
            assert refused.value.status == status


@pytest.mark.proves("P14", "R07b")
@pytest.mark.parametrize("name", ["guarded", "json"])
def test_advice_of_a_middleware_is_the_result_of_each_call_word_for_word_in_both_formats(ada, name):
    client = MCPClient(ada, name, headers={"X-Refuse": "guidance"})
    assert names(client) == ["awhoami", "whoami"]
    for tool_name in ("whoami", "awhoami"):
        result = client.call_tool(tool_name)
        assert (result.is_error, result.structured) == (True, None)
        assert result.text == "Sign in at https://example.com/ first.\nThen call again."
    with pytest.raises(MCPError, match="Unknown tool"):
        client.call_tool("secret")


@pytest.mark.proves("P14")
def test_an_error_of_a_middleware_is_the_result_of_each_call(ada):
    text = MCPClient(ada, "guarded", headers={"X-Refuse": "error"}).call_tool("whoami").text
    assert text.split("\n")[0] == "[503] Down for maintenance"
    as_json = json.loads(MCPClient(ada, "json", headers={"X-Refuse": "error"}).call_tool("whoami").text)
    assert as_json == {
        "error": True, "status": 503, "message": "Down for maintenance", "data": {"until": "noon"}
    }  # fmt: skip


@pytest.mark.proves("R07b")
def test_advice_of_a_middleware_answers_the_code_tool_too(ada):
    result = MCPClient(ada, "code", headers={"X-Refuse": "guidance"}).run("return 1")
    assert (result.is_error, result.text.split("\n")[0]) == (True, "Sign in at https://example.com/ first.")


def test_a_middleware_that_crashes_or_returns_something_else_is_a_500_that_says_nothing(ada, caplog):
    endpoint("wrong", middleware=[lambda request: {"user": "root"}])
    client = Client(
        raise_request_exception=False, headers={"Origin": "http://testserver", "X-Refuse": "crash"}
    )
    client.force_login(ada)
    for name in ("guarded", "wrong"):
        url = reverse("mcp-endpoint", args=[name])
        response = client.post(url, "{}", content_type="application/json")
        assert response.status_code == 500
        assert not {"secret", "root", "/path"} & set(response.json()["error"]["message"].split())
    assert "neither None nor a response" in caplog.text


def test_scopes_that_a_middleware_takes_away_are_gone():
    from mcp_server import has_scope

    def narrow(request: HttpRequest) -> None:
        request.user = User.objects.create_user("narrow")
        setattr(request, "mcp_scopes", frozenset({"read"}))  # noqa: B010 - not an attribute that Django declares

    endpoint("narrow", middleware=[narrow])

    @tool(enabled=has_scope("read"))
    def read() -> str:
        return "read"

    @tool(enabled=has_scope("write"))
    def write() -> str:
        return "written"

    assert "read" in names(MCPClient(None, "narrow"))
    User.objects.all().delete()
    assert "write" not in names(MCPClient(None, "narrow"))


@pytest.mark.proves("P14")
def test_the_python_door_walks_through_the_middleware_too(ada):
    endpoint("shut", middleware=[Shut], code_mode="on")
    outcome = codemode.run("return await codemode.awhoami()", user=ada, endpoint="code")
    assert outcome.value == '"ada of default"'
    with pytest.raises(PermissionDenied):
        codemode.run("return 1", user=ada, endpoint="shut")


class Shut:
    async def __call__(self, request: HttpRequest) -> HttpResponse:
        assert not isinstance(request.user, AnonymousUser)
        return HttpResponse(status=503)


def test_check_says_which_middleware_cannot_be_imported_or_called(capsys):
    from django.core.management.base import SystemCheckError

    endpoint("missing", middleware=["tests.calls.test_middleware.nothing", "nowhere.at.all", 7])
    with override_settings(MCP_SERVER={}), pytest.raises(SystemCheckError) as found:
        call_command("check")
    text = str(found.value)
    assert text.count("mcp_toolkit.E013") == 3
    for part in ("test_middleware.nothing", "nowhere", "names 7: it cannot be called"):
        assert part in text
    assert "tests.calls.test_middleware:" in text


def test_a_list_that_a_middleware_may_change_is_nobody_s_to_keep(ada):
    endpoint("public", login_required=False, tools=["whoami"])
    endpoint("acting", login_required=False, tools=["whoami"], middleware=[act_as_header_says])
    message = modern("tools/list")
    kept = {}
    for name in ("public", "acting"):
        response = Client(headers=modern_headers(message)).post(
            reverse("mcp-endpoint", args=[name]), message, content_type="application/json"
        )
        kept[name] = response.json()["result"]["cacheScope"]
    assert kept == {"public": "public", "acting": "private"}
