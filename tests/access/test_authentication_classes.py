"""Authentication of a project's own: classes, sync and async, that find a user in a request (contract G09)."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core import signing
from django.http import HttpRequest
from django.test import Client
from django.urls import reverse

from docs.examples.authentication import KeyAuthentication
from docs.examples.authentication_async import SignedLinkAuthentication
from mcp_server import Context, Guidance, endpoint, has_scope, tool
from mcp_server.access.authentication import (
    Credential,
    InsufficientScope,
    SessionAuthentication,
    TokenAuthentication,
)
from mcp_server.definitions.registry import registry
from mcp_server.models import Token, ToolCall
from mcp_server.testing import AsyncMCPClient, MCPClient, MCPError

KEY = {"X-API-Key": "k-3f9a"}


class ByHeader:
    """Finds what the header `X-Kind` says; each kind is one way in which a class may end."""

    def authenticate(self, request: HttpRequest) -> Any:
        kind = request.headers.get("X-Kind")
        ada = User.objects.filter(username="ada").first()
        if kind == "user":
            return ada
        if kind == "credential":
            return Credential(user=ada, name="test:1", scopes=frozenset({"read"}))
        if kind == "guidance":
            raise Guidance("Sign in at https://example.com/ and add the key to your client.")
        if kind == "scope":
            raise InsufficientScope(["read", 'write"\r\nX-Evil: 1'])
        if kind == "crash":
            raise RuntimeError("secret")
        return None


@pytest.fixture(autouse=True)
def isolated(db: Any):
    with registry.isolated(empty=True):
        endpoint("keys", authentication=[TokenAuthentication, KeyAuthentication, SessionAuthentication])
        endpoint("links", authentication=[ByHeader, SignedLinkAuthentication, KeyAuthentication])
        endpoint("named", authentication=["docs.examples.authentication.KeyAuthentication"])
        endpoint("open", authentication=[KeyAuthentication], login_required=False)

        @tool
        def whoami(ctx: Context) -> str:
            return ctx.user.get_username() or "nobody"

        @tool(enabled=has_scope("write"))
        def write() -> str:
            return "written"

        yield


@pytest.fixture
def ada() -> User:
    return User.objects.create_user("ada")


def refused(name: str, **options: Any) -> MCPError:
    with pytest.raises(MCPError) as found:
        MCPClient(endpoint=name, **options).list_tools()
    return found.value


@pytest.mark.proves("G09a", "G09b")
@pytest.mark.parametrize("name", ["keys", "links", "named"])
def test_a_key_in_a_header_signs_in_its_user(ada, name):
    client = MCPClient(endpoint=name, headers=KEY)
    assert client.call_tool("whoami").text == "ada"
    assert client.call_tool("write").text == "written", (
        "a key without scopes carries all of its user's rights"
    )


@pytest.mark.proves("G09a", "G09b")
@pytest.mark.parametrize("key", ["wrong", "", "k-3f9\xe4"])
def test_a_wrong_key_is_401_on_an_open_endpoint_too(ada, key):
    for name in ("keys", "open"):
        response = Client(headers={"X-API-Key": key}).post(
            reverse("mcp-endpoint", args=[name]), "{}", content_type="application/json"
        )
        assert response.status_code == 401
        assert response.headers["WWW-Authenticate"] == 'Bearer realm="mcp", error="invalid_token"'
        assert response.json()["error"]["message"] == "The credential is not valid. Ask for a new token."


@pytest.mark.proves("G09a")
def test_no_credential_at_all_is_401_unless_the_endpoint_is_open(ada):
    assert refused("keys").status == 401
    assert MCPClient(endpoint="open").call_tool("whoami").text == "nobody"


@pytest.mark.proves("G09a")
def test_classes_are_asked_in_order_and_the_built_in_ones_work_beside(ada):
    bob = User.objects.create_user("bob")
    _, token = Token.objects.issue(bob, "laptop")
    assert MCPClient(endpoint="keys", token=token).call_tool("whoami").text == "bob"
    assert MCPClient(endpoint="keys", token=token, headers=KEY).call_tool("whoami").text == "bob"
    assert MCPClient(bob, "keys").call_tool("whoami").text == "bob"
    assert MCPClient(bob, "keys", headers=KEY).call_tool("whoami").text == "ada"
    assert refused("named", token=token).status == 401, "the endpoint names its own classes only"


def test_a_token_that_no_class_knows_is_refused_and_a_session_does_not_make_it_good(ada):
    for name in ("keys", "links", "open", "default"):
        assert refused(name, user=ada, token="mcp_unknown").status == 401
        assert refused(name, user=ada, token="of-another-service").status == 401


@pytest.mark.proves("G09a", "G09b")
def test_a_class_may_await_and_limit_what_it_lets_in(ada):
    key = signing.dumps("ada", salt="mcp-link")
    client = Client(headers={"Accept": "application/json"})
    url = f"{reverse('mcp-endpoint', args=['links'])}?key="
    listing = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    answer = client.post(f"{url}{key}", listing, content_type="application/json").json()
    assert [item["name"] for item in answer["result"]["tools"]] == ["whoami"]
    for wrong in (f"{key}x", signing.dumps("nobody", salt="mcp-link"), signing.dumps("ada", salt="other")):
        assert client.post(f"{url}{wrong}", listing, content_type="application/json").status_code == 401


@pytest.mark.proves("G09a")
async def test_both_kinds_work_in_the_async_view(ada):
    client = AsyncMCPClient(endpoint="links", headers=KEY)
    assert (await client.call_tool("whoami")).text == "ada"
    assert (
        await AsyncMCPClient(endpoint="links", headers={"X-Kind": "user"}).call_tool("whoami")
    ).text == "ada"


@pytest.mark.proves("G09a", "G10d")
def test_a_class_gives_a_user_or_a_credential(ada):
    for kind in ("user", "credential"):
        client = MCPClient(endpoint="links", headers={"X-Kind": kind})
        assert client.call_tool("whoami").text == "ada"
    with pytest.raises(MCPError):
        MCPClient(endpoint="links", headers={"X-Kind": "credential"}).call_tool("write")
    assert ToolCall.objects.filter(user_id=ada.pk, username="ada").exists()
    ada.is_active = False
    ada.save()
    for kind in ("user", "credential"):
        assert refused("links", headers={"X-Kind": kind}).status == 401


def test_a_class_may_advise_or_name_missing_scopes_and_no_value_breaks_out_of_the_header(ada):
    advised = refused("links", headers={"X-Kind": "guidance"})
    assert (advised.status, "https://example.com/" in advised.message) == (401, True)
    lacking = refused("links", headers={"X-Kind": "scope"})
    assert lacking.status == 403
    response = Client(headers={"X-Kind": "scope"}).post(
        reverse("mcp-endpoint", args=["links"]), "{}", content_type="application/json"
    )
    assert response.headers["WWW-Authenticate"] == (
        'Bearer realm="mcp", error="insufficient_scope", scope="read writeX-Evil: 1"'
    )


def test_a_class_that_crashes_is_a_500_that_says_nothing(ada):
    client = Client(raise_request_exception=False, headers={"X-Kind": "crash"})
    response = client.post(reverse("mcp-endpoint", args=["links"]), "{}", content_type="application/json")
    assert response.status_code == 500
    assert "secret" not in response.text


@pytest.mark.proves("G09a")
def test_the_user_is_the_same_for_code_that_awaits_it(ada):
    @tool
    async def awaited(ctx: Context) -> str:
        return str((await ctx.request.auser()).get_username())

    bob = User.objects.create_user("bob")
    assert MCPClient(bob, "keys", headers=KEY).call_tool("awaited").text == "ada"
