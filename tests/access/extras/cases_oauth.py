"""Access tokens of django-oauth-toolkit; run by tests/access/test_oauth.py in a process with its settings."""

import datetime as dt
from typing import Any

import httpx2
import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client
from django.utils import timezone
from oauth2_provider.models import AccessToken, Application

from mcp_server import Context, has_scope, tool
from mcp_server.definitions.registry import registry
from mcp_server.models import Token
from mcp_server.testing import AsyncMCPClient, MCPClient, MCPError

SITE = "http://testserver"
METADATA = f"{SITE}/.well-known/oauth-protected-resource"


@pytest.fixture(autouse=True)
def isolated(db: Any):
    with registry.isolated(empty=True):

        @tool
        def whoami(ctx: Context) -> str:
            return str(ctx.user.get_username())

        @tool(enabled=has_scope("orders"))
        def orders() -> int:
            return 3

        yield


@pytest.fixture
def ada() -> User:
    return User.objects.create_user("ada")


def issue(user: User | None, **values: Any) -> str:
    application, _ = Application.objects.get_or_create(
        name="client",
        defaults={"client_type": "public", "authorization_grant_type": "authorization-code"},
    )
    text = f"token-{AccessToken.objects.count()}"
    defaults = {
        "expires": timezone.now() + dt.timedelta(hours=1),
        "scope": "mcp",
        "resource": [f"{SITE}/mcp"],
        "application": application,
    }
    AccessToken.objects.create(user=user, token=text, **{**defaults, **values})
    return text


def refused(endpoint: str = "default", **options: Any) -> MCPError:
    with pytest.raises(MCPError) as found:
        MCPClient(endpoint=endpoint, **options).list_tools()
    return found.value


def challenge(url: str = "/mcp", token: str | None = None) -> tuple[int, str]:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    response = Client(headers=headers).post(url, "{}", content_type="application/json")
    return response.status_code, response.headers["WWW-Authenticate"]


@pytest.mark.proves("G09b")
def test_an_access_token_of_this_endpoint_signs_in_its_user_with_its_scopes(ada):
    client = MCPClient(token=issue(ada))
    assert [item["name"] for item in client.list_tools()] == ["whoami"]
    assert client.call_tool("whoami").text == "ada"
    wider = MCPClient(token=issue(ada, scope="mcp orders"))
    assert wider.call_tool("orders").text == "3"


async def test_it_does_so_in_the_async_view(ada):
    from asgiref.sync import sync_to_async

    token = await sync_to_async(issue)(ada)
    assert (await AsyncMCPClient(token=token).call_tool("whoami")).text == "ada"


@pytest.mark.parametrize(
    "values",
    [
        {"resource": ["https://other.example.com/mcp"]},
        {"resource": [f"{SITE}/mcp/scoped"]},
        {"resource": [f"{SITE}/mcpx"]},
        {"resource": []},
        {"expires": timezone.now() - dt.timedelta(seconds=1)},
    ],
)
def test_a_token_of_another_resource_of_none_or_of_yesterday_is_refused(ada, values):
    token = issue(ada, **values)
    assert refused(token=token).status == 401
    status, header = challenge(token=token)
    assert status == 401
    assert 'error="invalid_token"' in header
    assert f'resource_metadata="{METADATA}/mcp"' in header


def test_a_token_of_nobody_of_an_inactive_user_and_an_unknown_one_are_refused(ada):
    assert refused(token=issue(None)).status == 401
    assert refused(token="never-issued").status == 401
    token = issue(ada)
    ada.is_active = False
    ada.save()
    assert refused(token=token).status == 401


def test_a_token_without_a_resource_is_taken_only_where_the_project_says_so(ada):
    token = issue(ada, resource=[])
    assert refused("default", token=token).status == 401
    assert MCPClient(endpoint="unbound", token=token).call_tool("whoami").text == "ada"
    assert refused("unbound", token=issue(ada, resource=["https://other.example.com"])).status == 401


def test_a_token_that_was_revoked_ends_at_the_next_request(ada):
    client = MCPClient(token=issue(ada))
    assert client.list_tools()
    AccessToken.objects.get().revoke()
    with pytest.raises(MCPError):
        client.list_tools()


def test_missing_scopes_are_403_and_name_what_to_ask_for(ada):
    token = issue(ada, scope="mcp", resource=[f"{SITE}/mcp/scoped"])
    error = refused("scoped", token=token)
    assert (error.status, error.message) == (403, "The token lacks a scope. Needed: mcp, orders.")
    status, header = challenge("/mcp/scoped", token)
    assert status == 403
    assert 'error="insufficient_scope"' in header
    assert 'scope="mcp orders"' in header
    assert f'resource_metadata="{METADATA}/mcp/scoped"' in header
    enough = issue(ada, scope="mcp orders", resource=[f"{SITE}/mcp/scoped"])
    assert MCPClient(endpoint="scoped", token=enough).call_tool("orders").text == "3"


def test_the_page_s_class_asks_for_its_scope(ada):
    bound = {"resource": [f"{SITE}/mcp/shop"]}
    assert refused("shop", token=issue(ada, scope="orders", **bound)).status == 403
    assert MCPClient(endpoint="shop", token=issue(ada, **bound)).call_tool("whoami").text == "ada"


def test_without_a_token_the_challenge_says_where_the_metadata_is_and_which_scopes_are_needed():
    assert challenge() == (401, f'Bearer realm="mcp", resource_metadata="{METADATA}/mcp"')
    status, header = challenge("/mcp/scoped/")
    assert (status, 'scope="mcp orders"' in header, f'"{METADATA}/mcp/scoped"' in header) == (401, True, True)


@pytest.mark.parametrize(
    ("path", "resource"),
    [
        ("/.well-known/oauth-protected-resource", "/mcp"),
        ("/.well-known/oauth-protected-resource/mcp", "/mcp"),
        ("/.well-known/oauth-protected-resource/mcp/", "/mcp"),
        ("/.well-known/oauth-protected-resource/mcp/unbound", "/mcp/unbound"),
    ],
)
def test_the_metadata_names_the_resource_and_its_authorization_server(path, resource):
    response = Client().get(path)
    assert response.json() == {
        "resource": f"{SITE}{resource}",
        "authorization_servers": [f"{SITE}/o"],
        "scopes_supported": ["mcp", "orders"],
        "bearer_methods_supported": ["header"],
    }
    assert response.headers["Access-Control-Allow-Origin"] == "*"


def test_every_address_of_a_challenge_answers():
    for url in ("/mcp", "/mcp/scoped", "/mcp/unbound"):
        address = challenge(url)[1].split('resource_metadata="')[1].split('"')[0]
        document = Client().get(address.removeprefix(SITE))
        assert document.json()["resource"] == SITE + url
    assert Client().get("/.well-known/oauth-protected-resource/mcp/scoped").json()[
        "authorization_servers"
    ] == ["https://login.example.com"]


def test_the_official_client_understands_challenge_and_metadata(ada):
    from mcp.client.auth.utils import extract_resource_metadata_from_www_auth, extract_scope_from_www_auth
    from mcp.shared.auth import ProtectedResourceMetadata
    from mcp.shared.auth_utils import check_resource_allowed

    headers = {"WWW-Authenticate": challenge("/mcp/scoped")[1]}
    response = httpx2.Response(401, headers=headers, request=httpx2.Request("POST", f"{SITE}/mcp/scoped"))
    address = extract_resource_metadata_from_www_auth(response)
    assert extract_scope_from_www_auth(response) == "mcp orders"
    assert address == f"{METADATA}/mcp/scoped"
    document = ProtectedResourceMetadata.model_validate_json(Client().get(address.removeprefix(SITE)).content)
    assert check_resource_allowed(f"{SITE}/mcp/scoped", str(document.resource))
    assert [str(item) for item in document.authorization_servers] == ["https://login.example.com"]


def test_an_endpoint_without_oauth_and_one_that_is_not_there_have_no_metadata():
    for name in ("keys", "nowhere"):
        assert Client().get(f"/.well-known/oauth-protected-resource/mcp/{name}").status_code == 404
    assert "resource_metadata" not in challenge("/mcp/keys")[1]


def test_browsers_may_ask_before_they_read_and_nobody_may_write():
    path = "/.well-known/oauth-protected-resource/mcp"
    asked = Client().options(path)
    assert (asked.status_code, asked.headers["Access-Control-Allow-Headers"]) == (204, "MCP-Protocol-Version")
    assert Client().post(path).status_code == 405


def test_tokens_of_the_admin_and_sessions_work_beside_it(ada):
    _, text = Token.objects.issue(ada, "laptop")
    assert MCPClient(token=text).call_tool("whoami").text == "ada"
    assert MCPClient(ada).call_tool("whoami").text == "ada"
    assert refused(user=ada, token="never-issued").status == 401, (
        "a wrong token is not made good by a session"
    )


def test_check_has_nothing_to_say(capsys):
    call_command("check", "--tag", "mcp_toolkit")
    assert "no issues" in capsys.readouterr().out
