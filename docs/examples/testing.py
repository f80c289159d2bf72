"""The snippets of docs/testing.md, which are tests themselves."""

# [start:call]
import pytest
from django.contrib.auth.models import Permission, User

from mcp_server.testing import AsyncMCPClient, MCPClient, MCPError


@pytest.fixture
def ada(db):
    return User.objects.create_user("ada")


def test_todos_of_a_user_are_listed(ada):
    result = MCPClient(ada).call_tool("list-todos", {"userId": str(ada.pk)})
    assert result.data == {"results": []}


# [end:call]


# [start:refused]
def test_deleting_users_needs_the_permission(ada):
    client = MCPClient(ada)
    with pytest.raises(MCPError):  # as if there were no such tool
        client.call_tool("delete-user", {"id": "1"})
    ada.user_permissions.add(Permission.objects.get(codename="delete_user"))
    result = client.call_tool("delete-user", {"id": "999"})
    assert result.text == "[404] User not found. Take an id from list-users."


# [end:refused]


# [start:run]
def test_a_program_gives_its_value(ada):
    result = MCPClient(ada, "code").run("return (await codemode.list_users()).map(user => user.name)")
    assert result.data == {"results": ["ada"]}


# [end:run]


# [start:async]
async def test_products_are_listed_by_the_async_view(ada):
    result = await AsyncMCPClient(ada).call_tool("list-products")
    assert result.data == {"results": []}


# [end:async]


# [start:fixture]
def test_the_fixture_makes_clients(mcp_client, ada):
    assert "list-users" in [tool["name"] for tool in mcp_client(ada).list_tools()]


# [end:fixture]
