"""Every example of the pages does what its page says."""

import importlib
import json
import sys
from pathlib import Path

import pytest
from django.contrib.auth.models import Permission, User
from django.test import override_settings

from docs.examples.testing import *  # noqa: F403 - the page's tests are tests
from mcp_server import codemode
from mcp_server.definitions.registry import registry
from mcp_server.testing import MCPClient, MCPError
from mcp_server.testing.fixtures import *  # noqa: F403

pytestmark = pytest.mark.proves("D05b")


@pytest.fixture
def example(db):
    """Return a function that loads an example as the only definitions of the project."""
    with registry.isolated(empty=True):

        def load(name: str):
            sys.modules.pop(f"docs.examples.{name}", None)
            return importlib.import_module(f"docs.examples.{name}")

        yield load


@pytest.fixture
def root(db) -> User:
    return User.objects.create_superuser("root")


@pytest.mark.proves("T06b", "T13b")
def test_tools_take_arguments_and_say_what_is_wrong(example, root):
    example("tools")
    client = MCPClient(root)
    assert client.call_tool("echo", {"message": "Hello"}).text == "Echo: Hello"
    made = client.call_tool(
        "add-task", {"title": "Fix", "userId": "7", "place": {"city": "Bonn", "zipCode": "53113"}}
    )
    assert made.text == "7: Fix (low, 1 h, 0 tags, Bonn, None)"
    wrong = client.call_tool("add-task", {"title": "", "userId": "7", "hours": 101})
    assert wrong.text.startswith("[400] ")
    assert "title" in wrong.text
    assert "hours" in wrong.text
    tool = next(tool for tool in client.list_tools() if tool["name"] == "add-task")
    assert tool["_meta"]["inputExamples"] == [{"title": "Fix login bug", "userId": "7"}]


@pytest.mark.proves("T11a", "T14a", "T10a", "T10b")
def test_tools_return_models_errors_and_pictures(example, root):
    example("tools")
    client = MCPClient(root)
    assert client.call_tool("calculate-bmi", {"weight_kg": 70, "height_m": 1.75}).structured == {
        "bmi": 22.86,
        "category": "normal",
    }
    missing = client.call_tool("find-user", {"id": "9"})
    assert missing.text.split("\n")[0] == "[404] User not found"
    assert [item["type"] for item in client.call_tool("draw-dot").content] == ["text", "image"]
    assert client.call_tool("index-pages", {"count": 3}).text == "Indexed 3 pages."
    assert client.call_tool("opening-hours").text == "9 to 17"
    refused = client.call_tool("empty-trash")
    assert refused.is_error, "this client cannot ask a person"


@pytest.mark.proves("G01a", "G01b", "R07c")
def test_guards_decide_as_the_page_says(example):
    example("permissions")
    user = User.objects.create_user("ada")
    names = {tool["name"] for tool in MCPClient(user).list_tools()}
    assert names == {"phone-list", "refund-order", "my-name"}
    assert MCPClient(user).call_tool("my-name").text == "ada"
    user.is_staff = True
    user.save()
    with pytest.raises(MCPError):
        MCPClient(user).call_tool("close-order", {"id": "1"})


def test_a_scope_with_an_explanation_gives_advice(example):
    from mcp_server.models import Token

    example("permissions")
    user = User.objects.create_user("ada")
    _, narrow = Token.objects.issue(user, "narrow", scopes=["orders:read"])
    _, wide = Token.objects.issue(user, "wide", scopes=["orders:write"])
    advice = MCPClient(token=narrow).call_tool("refund-order", {"id": "1"})
    assert (advice.is_error, advice.text) == (True, "Ask the user for a token with the scope orders:write.")
    assert MCPClient(token=wide).call_tool("refund-order", {"id": "1"}).text == "Refunded 1."


@pytest.mark.proves("P13a", "C01d", "C03a")
def test_endpoints_offer_what_the_page_says(example, root):
    example("endpoints")
    names = {
        endpoint.name: [tool["name"] for tool in MCPClient(root, endpoint.name).list_tools()]
        for endpoint in registry.endpoints()
    }
    assert names["code"] == ["code", "delete-everything"]
    assert names["reports"] == ["code", "search"]
    description = MCPClient(root, "described").list_tools()[0]["description"]
    assert "calls the 1 functions" in description
    assert "monthly_report" in description


@pytest.mark.proves("G09a", "G09b")
def test_authentication_of_a_project_signs_in_by_a_header(example):
    User.objects.create_user("ada")
    example("start.mcp_tools")
    parts = importlib.import_module("docs.examples.settings_parts")
    assert parts.MCP_SERVER["LIMITS"]
    settings = {"AUTHENTICATION": ["docs.examples.authentication.KeyAuthentication"]}
    with override_settings(MCP_SERVER=settings):
        assert MCPClient(headers={"X-API-Key": "k-3f9a"}).list_tools() == []
        for headers in ({"X-API-Key": "wrong"}, {}):
            with pytest.raises(MCPError) as refused:
                MCPClient(headers=headers).list_tools()
            assert refused.value.status == 401


@pytest.mark.proves("D02")
def test_the_first_tool_counts_users_for_those_who_may_view_them(example):
    example("start.mcp_tools")
    user = User.objects.create_user("ada")
    assert MCPClient(user).list_tools() == []
    user.user_permissions.add(Permission.objects.get(codename="view_user"))
    assert MCPClient(user).call_tool("count-users").text == "1"
    assert "count_users" in MCPClient(user, "code").list_tools()[0]["description"]


def test_the_skill_s_tools_work(example, root):
    example("skill")
    ada = User.objects.create_user("ada", first_name="Ada", last_name="Byron")
    client = MCPClient(root)
    renamed = client.call_tool("rename-member", {"id": str(ada.pk), "last_name": "Lovelace"})
    assert renamed.structured == {"id": str(ada.pk), "name": "Ada Lovelace"}
    assert {"id": str(ada.pk), "name": "Ada Lovelace"} in client.call_tool("list-members").data["results"]
    own = client.call_tool("rename-member", {"id": str(root.pk), "last_name": "X"})
    assert own.text == "[404] Member not found. Take an id from list-members."


@pytest.mark.proves("D09")
def test_tools_of_a_model_reach_the_rows_of_their_user_only(example):
    example("model_rows")
    ada, eve = (User.objects.create_user(name) for name in ("ada", "eve"))
    assert MCPClient(ada).list_tools() == []
    for user in (ada, eve):
        user.user_permissions.set(
            Permission.objects.filter(content_type__app_label="shop", content_type__model="todo")
        )
    made = MCPClient(ada).call_tool("create-my-todo", {"title": "Read"}).data
    assert [row["title"] for row in MCPClient(ada).call_tool("list-my-todos").data["results"]] == ["Read"]
    assert MCPClient(eve).call_tool("list-my-todos").data["results"] == []
    assert MCPClient(eve).call_tool("delete-my-todo", {"id": made["id"]}).text.startswith("[404] ")
    assert not MCPClient(ada).call_tool("update-my-todo", {"id": made["id"], "done": True}).is_error
    assert not MCPClient(ada).call_tool("delete-my-todo", {"id": made["id"]}).is_error


@pytest.mark.proves("P03a", "P03b")
def test_resources_and_prompts_are_read_as_the_page_says(example, root):
    example("resources")
    client = MCPClient(root)
    (read,) = client.request("resources/read", {"uri": f"accounts://{root.pk}"})["contents"]
    assert json.loads(read["text"])["name"] == "root"
    (guide,) = client.request("resources/read", {"uri": "guides://all/settings_redis.py"})["contents"]
    assert "RedisChannelLayer" in guide["text"]
    with pytest.raises(MCPError):
        client.request("resources/read", {"uri": "guides://all/../settings.py"})
    prompt = client.request("prompts/get", {"name": "write-reminder", "arguments": {"name": "Ada"}})
    assert prompt["messages"][0]["content"]["text"].startswith("Write a friendly reminder to Ada")
    wanted = {
        "ref": {"type": "ref/prompt", "name": "write-reminder"},
        "argument": {"name": "tone", "value": "fo"},
    }
    assert client.request("completion/complete", wanted)["completion"]["values"] == ["formal"]


@pytest.mark.proves("P03c")
def test_a_resource_without_the_permission_does_not_exist(example):
    example("resources")
    client = MCPClient(User.objects.create_user("ada"))
    assert (
        client.request("resources/templates/list")["resourceTemplates"][0]["uriTemplate"]
        == "guides://all/{+path}"
    )
    with pytest.raises(MCPError) as hidden:
        client.request("resources/read", {"uri": "accounts://1"})
    with pytest.raises(MCPError) as missing:
        client.request("resources/read", {"uri": "nothing://1"})
    assert hidden.value.code == missing.value.code


@pytest.mark.parametrize("name", ["authentication", "oauth", "rates", "limits"])
def test_settings_of_the_pages_are_valid(name):
    from mcp_server import conf

    source = (Path(__file__).parents[2] / "docs/examples/settings_parts.py").read_text(encoding="utf-8")
    text = source.split(f"# [start:{name}]")[1].split("# [end:")[0]
    found: dict = {}
    exec(text, found)
    with override_settings(MCP_SERVER=found["MCP_SERVER"]):
        assert conf.problems() == []


def test_the_settings_page_s_example_is_valid():
    from docs.examples.settings import MCP_SERVER
    from mcp_server import conf

    with override_settings(MCP_SERVER=MCP_SERVER):
        assert conf.problems() == []


@pytest.fixture(autouse=True, scope="module")
def no_workers_left():
    yield
    codemode.shutdown()
