"""The page's class for tokens of REST framework; run by tests/access/test_oauth.py in a process with its settings."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from rest_framework.authtoken.models import Token

from mcp_server import Context, tool
from mcp_server.definitions.registry import registry
from mcp_server.testing import MCPClient, MCPError


@pytest.fixture(autouse=True)
def isolated(db: Any):
    with registry.isolated(empty=True):

        @tool
        def whoami(ctx: Context) -> str:
            return str(ctx.user.get_username())

        yield


@pytest.mark.proves("G09b")
def test_a_token_of_rest_framework_signs_in_its_user():
    ada = User.objects.create_user("ada")
    key = Token.objects.create(user=ada).key
    client = MCPClient(endpoint="rest", headers={"Authorization": f"Token {key}"})
    assert client.call_tool("whoami").text == "ada"
    ada.is_active = False
    ada.save()
    with pytest.raises(MCPError) as refused:
        client.list_tools()
    assert refused.value.status == 401


@pytest.mark.proves("G09b")
@pytest.mark.parametrize("value", ["Token wrong", "Token", "Token a b", None, "Basic YTpi"])
def test_a_wrong_one_and_none_are_401(value):
    headers = {} if value is None else {"Authorization": value}
    with pytest.raises(MCPError) as refused:
        MCPClient(endpoint="rest", headers=headers).list_tools()
    assert refused.value.status == 401
