import pytest

from mcp_server.definitions.endpoint import endpoint
from mcp_server.definitions.registry import registry
from mcp_server.definitions.tool import tool
from mcp_server.models import Limits
from mcp_server.testing import MCPClient

pytestmark = [pytest.mark.proves("C19")]


@pytest.fixture
def client(admin_user):
    with registry.isolated(empty=True):
        endpoint("code", code_mode="on")

        @tool
        def plain_one() -> str:
            return "plain"

        yield MCPClient(user=admin_user, endpoint="code")


def names(client):
    return [item["name"] for item in client.list_tools()]


@pytest.mark.django_db
def test_staff_change_whether_a_client_gets_code(client):
    assert names(client) == ["code"]
    row = Limits.objects.create(endpoint="code", code_policy="off")
    assert names(client) == ["plain-one"]
    assert client.call_tool("plain-one").text == "plain"
    row.code_policy = "opt-in"
    row.save()
    assert names(client) == ["plain-one"]
    row.delete()
    assert names(client) == ["code"]


@pytest.mark.django_db(transaction=True)
def test_the_change_holds_within_a_second_outside_a_transaction(client):
    assert names(client) == ["code"]
    Limits.objects.create(endpoint="code", code_policy="off")
    assert names(client) == ["plain-one"]
