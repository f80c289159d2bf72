"""Who calls: tokens, sessions and a project's own classes, through the view (G05, G06, G09, G10)."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.http import HttpRequest
from django.test import Client, override_settings
from django.utils import timezone

from mcp_server import Guidance, has_scope, tool
from mcp_server.access.authentication import Credential, InvalidCredential
from mcp_server.definitions.registry import registry
from mcp_server.models import Token
from mcp_server.testing import MCPClient
from tests.protocol.wire import JSON_HEADERS, request

CLOSED: dict[str, Any] = {"ENDPOINTS": {"code": {"CODE_MODE": "on"}}}
LIST = request("tools/list")


@pytest.fixture(autouse=True)
def tools(db: Any) -> Iterator[None]:
    with registry.isolated(empty=True), override_settings(MCP_SERVER=CLOSED):

        @tool(name="who-am-i")
        def who_am_i(request: HttpRequest) -> str:
            return str(request.user.get_username()) or "nobody"

        @tool(enabled="auth.delete_user")
        def guarded() -> str:
            return "deleted"

        yield


@pytest.fixture
def ada() -> User:
    return User.objects.create_user("ada")


def post(message: Any = LIST, *, signed_in: User | None = None, **headers: str) -> Any:
    client = Client()
    if signed_in is not None:
        client.force_login(signed_in)
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    return client.post(
        "/mcp",
        data=message,
        content_type="application/json",
        headers={"Accept": JSON_HEADERS["Accept"], **given},
    )


@pytest.mark.proves("G05b", "G06a", "G10a")
@pytest.mark.parametrize(
    "header",
    [None, "Bearer", "Bearer ", "Bearer nonsense", "Bearer mcp_" + "x" * 5000, "Bearer \x00", "Basic YTpi", "bearer x y"],
)  # fmt: skip
def test_without_a_valid_credential_there_is_a_401_that_says_what_to_do(ada: User, header: str | None):
    response = post(**({} if header is None else {"Authorization": header}))
    assert response.status_code == 401
    assert response["Content-Type"] == "application/json"
    assert response["WWW-Authenticate"].startswith('Bearer realm="mcp"')
    message = response.json()["error"]["message"]
    assert "token" in message
    assert "guarded" not in response.content.decode()
    assert "ada" not in message


@pytest.mark.proves("G05b", "G06a")
@pytest.mark.parametrize("why", ["revoked", "expired", "inactive", "deleted"])
def test_a_token_that_ended_is_refused_like_one_that_never_was(ada: User, why: str):
    token, text = Token.objects.issue(ada, "laptop", expires=timezone.now() + timedelta(days=1))
    assert MCPClient(token=text).call_tool("who-am-i").text == "ada"
    if why == "revoked":
        Token.objects.filter(pk=token.pk).revoke()
    elif why == "expired":
        Token.objects.filter(pk=token.pk).update(expires=timezone.now())
    elif why == "inactive":
        User.objects.update(is_active=False)
    else:
        token.delete()
    ended = post(Authorization=f"Bearer {text}")
    never = post(Authorization="Bearer mcp_never")
    assert (ended.status_code, ended.content, ended.headers["WWW-Authenticate"]) == (
        401,
        never.content,
        never.headers["WWW-Authenticate"],
    )
    assert 'error="invalid_token"' in ended.headers["WWW-Authenticate"]


@pytest.mark.proves("G05b")
def test_a_token_is_shown_once_and_stored_as_a_digest(ada: User):
    token, text = Token.objects.issue(ada, "laptop", scopes=["read"])
    row = Token.objects.filter(pk=token.pk).values().get()
    assert text not in str(row)
    assert text[10:] not in str(row)
    assert (row["name"], row["scopes"], row["user_id"]) == ("laptop", ["read"], ada.pk)


@pytest.mark.proves("G05c")
def test_the_last_use_is_written_at_most_once_a_minute(ada: User):
    token, text = Token.objects.issue(ada, "laptop")
    client = MCPClient(token=text)
    client.list_tools()
    first = Token.objects.get(pk=token.pk).last_used
    assert first is not None
    client.list_tools()
    assert Token.objects.get(pk=token.pk).last_used == first
    earlier = first - timedelta(seconds=61)
    Token.objects.update(last_used=earlier)
    client.list_tools()
    later = Token.objects.get(pk=token.pk).last_used
    assert later is not None
    assert later > earlier


@pytest.mark.proves("G10d", "G05b", "R07c")
def test_a_token_narrows_its_user_and_never_widens(ada: User):
    @tool(enabled=has_scope("shop:write"))
    def scoped() -> str:
        return "scoped"

    @tool(enabled=has_scope("shop:write", explain="Ask for a token with the scope shop:write."))
    def explained() -> str:
        return "explained"

    def names(client: MCPClient) -> list[str]:
        return [item["name"] for item in client.list_tools()]

    narrow = MCPClient(token=Token.objects.issue(ada, "n", scopes=["auth.delete_user", "read"])[1])
    fitting = MCPClient(token=Token.objects.issue(ada, "f", scopes=["shop:write"])[1])
    full = MCPClient(token=Token.objects.issue(ada, "a")[1])
    assert names(narrow) == ["explained", "who-am-i"]
    assert names(fitting) == names(full) == ["explained", "scoped", "who-am-i"]
    ada.user_permissions.add(Permission.objects.get(codename="delete_user"))
    assert "guarded" in names(narrow)
    refused = narrow.call_tool("explained")
    assert (refused.is_error, refused.text) == (True, "Ask for a token with the scope shop:write.")
    assert fitting.call_tool("explained").text == full.call_tool("explained").text == "explained"
    inner = MCPClient(token=Token.objects.issue(ada, "c", scopes=["x"])[1], endpoint="code")
    caught = inner.run("try { await codemode.explained() } catch (error) { return error.message }")
    assert caught.text == "Ask for a token with the scope shop:write."


@pytest.mark.proves("G05a")
@pytest.mark.parametrize(
    ("origin", "status"),
    [
        ("http://testserver", 200),
        (None, 401),
        ("https://testserver", 401),
        ("http://testserver:8000", 401),
        ("https://friend.example", 200),
    ],
)
def test_a_session_counts_for_pages_of_the_same_origin_only(ada: User, origin: str | None, status: int):
    with override_settings(MCP_SERVER={**CLOSED, "ALLOWED_ORIGINS": ["https://friend.example"]}):
        response = post(signed_in=ada, **({"Origin": origin} if origin else {}))
    assert response.status_code == status


@pytest.mark.proves("G05a", "G03a")
def test_a_session_ends_with_its_user(ada: User):
    assert post(signed_in=ada, Origin="http://testserver").status_code == 200
    client = MCPClient(ada)
    assert client.call_tool("who-am-i").text == "ada"
    User.objects.update(is_active=False)
    assert post(signed_in=ada, Origin="http://testserver").status_code == 401


@pytest.mark.proves("G05b")
def test_a_wrong_token_beside_a_session_is_refused_not_overlooked(ada: User):
    response = post(signed_in=ada, Origin="http://testserver", Authorization="Bearer mcp_wrong")
    assert response.status_code == 401


class ApiKeyAuthentication:
    """The example of the documentation: `X-API-Key`."""

    keys = {"k1": "ada"}

    def authenticate(self, request: HttpRequest) -> Credential | None:
        key = request.headers.get("X-API-Key")
        if key is None:
            return None
        user = User.objects.filter(username=self.keys.get(key, "")).first()
        if user is None:
            raise InvalidCredential
        return Credential(user=user, name="api-key", scopes=frozenset({"read"}))


class AsyncAuthentication:
    async def aauthenticate(self, request: HttpRequest) -> Any:
        if "X-Later" not in request.headers:
            return None
        return await User.objects.filter(username=request.headers["X-Later"]).afirst()


class DRFTokens:
    """REST framework's own classes, by their interface."""

    def authenticate(self, request: HttpRequest) -> Any:
        from rest_framework.authentication import BasicAuthentication
        from rest_framework.exceptions import AuthenticationFailed

        try:
            found = BasicAuthentication().authenticate(request)
        except AuthenticationFailed as error:
            raise InvalidCredential from error
        return found[0] if found else None


class Advising:
    def authenticate(self, request: HttpRequest) -> None:
        raise Guidance("Open https://example.com/tokens to get a token.")


def with_classes(*classes: type) -> Any:
    return override_settings(
        MCP_SERVER={**CLOSED, "AUTHENTICATION": [f"{__name__}.{item.__name__}" for item in classes]}
    )


@pytest.mark.proves("G09a")
def test_a_projects_own_classes_are_asked_in_order(ada: User):
    User.objects.create_user("bo")
    with with_classes(ApiKeyAuthentication, AsyncAuthentication):
        assert MCPClient(headers={"X-API-Key": "k1"}).call_tool("who-am-i").text == "ada"
        assert MCPClient(headers={"X-Later": "bo"}).call_tool("who-am-i").text == "bo"
        assert MCPClient(headers={"X-API-Key": "k1", "X-Later": "bo"}).call_tool("who-am-i").text == "ada"
        assert (
            MCPClient(headers={"X-Later": "bo"}, endpoint="code")
            .run("return await codemode['who-am-i']()")
            .text
            == "bo"
        )
        assert post(X_API_Key="k2").status_code == 401
        assert post(X_Later="nobody").status_code == 401
        User.objects.filter(username="bo").update(is_active=False)
        assert post(X_Later="bo").status_code == 401
        # Tokens are no longer a way in: the list says what is.
        assert post(Authorization=f"Bearer {Token.objects.issue(ada, 'x')[1]}").status_code == 401


@pytest.mark.proves("G09a", "G06a")
def test_classes_of_rest_framework_plug_in_and_guidance_says_where_to_go(ada: User):
    ada.set_password("pass")
    ada.save()
    with with_classes(DRFTokens):
        assert MCPClient(headers={"Authorization": "Basic YWRhOnBhc3M="}).call_tool("who-am-i").text == "ada"
        assert post(Authorization="Basic YWRhOndyb25n").status_code == 401
    with with_classes(Advising):
        response = post()
        assert response.status_code == 401
        assert response.json()["error"]["message"] == "Open https://example.com/tokens to get a token."


@pytest.mark.proves("G09a")
def test_an_endpoint_may_have_classes_of_its_own(ada: User):
    own = {"ENDPOINTS": {"own": {"AUTHENTICATION": [ApiKeyAuthentication]}}}
    with override_settings(MCP_SERVER=own):
        assert MCPClient(headers={"X-API-Key": "k1"}, endpoint="own").call_tool("who-am-i").text == "ada"
        assert post(X_API_Key="k1").status_code == 401


@pytest.mark.proves("G10a", "G05b")
def test_nobody_is_let_in_where_the_endpoint_says_so_and_then_has_no_scopes(ada: User):
    @tool(enabled=has_scope("read"))
    def scoped() -> None: ...

    with override_settings(MCP_SERVER={"ENDPOINTS": {"default": {"LOGIN_REQUIRED": False}}}):
        client = MCPClient()
        assert client.call_tool("who-am-i").text == "nobody"
        assert [item["name"] for item in client.list_tools()] == ["who-am-i"]
        assert post(Authorization="Bearer mcp_wrong").status_code == 401
