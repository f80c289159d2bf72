"""The demo's tools, as its two users call them."""

import pytest
from django.contrib.auth.models import Permission, User

from demo_project.accounts import prepare_accounts
from demo_project.samples import load_samples
from demo_project.shop.models import Order, Product, Reminder, Todo
from mcp_server.models import Token
from mcp_server.testing import MCPClient, MCPError

EVERYBODY = [
    "create-todo",
    "get-user",
    "list-orders",
    "list-products",
    "list-todos",
    "list-users",
    "send-reminder",
]


def test_samples_are_loaded_once_and_are_the_same_at_every_start(people):
    counts = [model.objects.count() for model in (User, Todo, Product, Order)]
    assert counts == [202, 2_000, 300, 3_000]
    assert load_samples() is False
    assert User.objects.get(pk=123).get_full_name() == "Tim Eriksen"
    assert Order.objects.filter(status="pending").count() == 291


@pytest.mark.proves("T01a", "T02a", "T19a", "G01a", "G02a")
def test_the_plain_user_sees_what_is_for_everybody_and_staff_see_all(people):
    assert [tool["name"] for tool in MCPClient(people["plain"]).list_tools()] == EVERYBODY
    staff = [tool["name"] for tool in MCPClient(people["staff"]).list_tools()]
    own = ["delete-reminder", "delete-user", "get-reminder", "list-reminders", "order-stats"]
    assert staff == sorted([*EVERYBODY, *own])


@pytest.mark.proves("D09")
def test_staff_read_and_delete_the_reminders_that_were_sent(people):
    client = MCPClient(people["staff"])
    reminder = Reminder.objects.create(user=people["plain"], text="Overdue: Call")
    rows = client.call_tool("list-reminders", {"user": people["plain"].pk, "fields": ["text"]}).data
    assert rows == {"results": [{"id": reminder.pk, "text": "Overdue: Call"}]}
    assert not client.call_tool("delete-reminder", {"id": reminder.pk}).is_error
    assert not Reminder.objects.exists()


@pytest.mark.proves("G02b", "G03a")
def test_a_permission_makes_the_tool_appear_at_the_next_request(people):
    client = MCPClient(people["plain"])
    with pytest.raises(MCPError) as hidden:
        client.call_tool("delete-user", {"id": "7"})
    assert hidden.value.code == -32602
    people["plain"].user_permissions.add(Permission.objects.get(codename="delete_user"))
    assert client.call_tool("delete-user", {"id": "7"}).text == "Deleted Alan Castillo."
    assert not User.objects.filter(pk=7).exists()


@pytest.mark.proves("T14a")
@pytest.mark.parametrize("identifier", ["0", "99999", "one", "-1", "\uff11"])
def test_an_id_that_names_nobody_is_an_error_that_says_where_ids_come_from(people, identifier):
    result = MCPClient(people["plain"]).call_tool("get-user", {"id": identifier})
    assert (result.is_error, result.text) == (True, "[404] User not found. Take an id from list-users.")


def test_staff_cannot_delete_themselves(people):
    result = MCPClient(people["staff"]).call_tool("delete-user", {"id": str(people["staff"].pk)})
    assert (result.is_error, result.text) == (True, "[409] You cannot delete yourself.")


@pytest.mark.proves("T04f", "T06c")
def test_todos_are_asked_for_by_the_alias_and_by_no_other_name(people):
    client = MCPClient(people["plain"])
    todos = client.call_tool("list-todos", {"userId": "123"}).data["results"]
    assert {todo["userId"] for todo in todos} == {"123"}
    assert [todo["title"] for todo in todos if todo["overdue"]] == [
        "Visit Fabrikam", "Prepare the contract for Fabrikam", "Prepare the contract for Northwind",
    ]  # fmt: skip
    wrong = client.call_tool("list-todos", {"user_id": "123"})
    assert wrong.is_error
    assert "userId" in wrong.text


def test_a_new_todo_is_open_and_a_reminder_names_what_is_overdue(people):
    client = MCPClient(people["plain"])
    todo = client.call_tool("create-todo", {"title": "Welcome task", "userId": "123"}).data
    assert (todo["title"], todo["done"], todo["overdue"]) == ("Welcome task", False, False)
    reminder = client.call_tool("send-reminder", {"userId": "123"}).data
    assert reminder["overdue"] == 3
    assert Reminder.objects.get().text == reminder["text"]


def test_who_has_nothing_overdue_is_not_reminded(people):
    Todo.objects.filter(user=123).update(done=True)
    result = MCPClient(people["plain"]).call_tool("send-reminder", {"userId": "123"})
    assert result.text == "[409] This user has nothing overdue."
    assert not Reminder.objects.exists()


@pytest.mark.proves("T18a")
def test_products_come_from_an_async_tool_and_orders_by_status(people):
    client = MCPClient(people["plain"])
    assert len(client.call_tool("list-products").data["results"]) == 300
    assert len(client.call_tool("list-orders", {"status": "pending"}).data["results"]) == 291
    assert len(client.call_tool("list-orders").data["results"]) == 3_000
    wrong = client.call_tool("list-orders", {"status": "lost"})
    assert wrong.text.startswith("[400] ")


def test_statistics_add_up_all_orders(people):
    stats = MCPClient(people["staff"]).call_tool("order-stats").data["results"]
    assert [row["status"] for row in stats] == ["cancelled", "paid", "pending", "shipped"]
    assert sum(row["orders"] for row in stats) == 3_000


@pytest.mark.proves("G05b")
def test_each_start_replaces_the_tokens(people):
    old = [text for _, text in prepare_accounts()]
    new = [text for _, text in prepare_accounts()]
    assert MCPClient(token=new[0]).call_tool("get-user", {"id": "1"}).data["id"] == "1"
    with pytest.raises(MCPError) as refused:
        MCPClient(token=old[0]).list_tools()
    assert refused.value.status == 401
    assert Token.objects.usable().count() == 2
