"""The three programs that the Nuxt page shows, word for word, on the demo's data and within default limits (C01c)."""

from pathlib import Path

import pytest
from django.contrib.auth.models import User

from demo_project.shop.models import Reminder, Todo
from mcp_server.testing import MCPClient, MCPError

PROGRAMS = Path(__file__).parents[2] / "demo_project/programs"
pytestmark = pytest.mark.proves("C01c")


def run(user: User, name: str):
    return MCPClient(user, "code").run((PROGRAMS / f"{name}.js").read_text()).data


def test_sequential_calls_return_a_user_and_todos(people):
    value = run(people["plain"], "sequential")
    assert value["user"] == {"id": "123", "name": "Tim Eriksen", "email": "user123@example.com"}
    assert [todo["id"] for todo in value["todos"]] == [
        str(pk) for pk in Todo.objects.filter(user=123).values_list("pk", flat=True)
    ]
    assert not Todo.objects.filter(title="Welcome task").exists()


def test_sequential_calls_give_a_user_without_todos_one(people):
    Todo.objects.filter(user=123).delete()
    assert run(people["plain"], "sequential")["todos"] == []
    assert Todo.objects.get(user=123).title == "Welcome task"


def test_parallel_calls_count_users_products_and_pending_orders(people):
    assert run(people["plain"], "parallel") == {"userCount": 50, "productCount": 300, "pendingOrders": 291}


def test_a_loop_reminds_those_of_fifty_users_who_are_late(people):
    late = [
        user for user in User.objects.order_by("pk")[:50] if any(todo.overdue for todo in user.todos.all())
    ]
    assert run(people["plain"], "reminders") == {"reminded": [user.get_full_name() for user in late]}
    assert len(late) == 26
    assert set(Reminder.objects.values_list("user_id", flat=True)) == {user.pk for user in late}


@pytest.mark.proves("C01a", "C01b", "G02a")
def test_the_code_endpoint_lists_code_alone_with_the_types_of_what_the_user_may_call(people):
    plain, staff = (MCPClient(people[name], "code") for name in ("plain", "staff"))
    assert [tool["name"] for tool in plain.list_tools()] == ["code"]
    assert "list_todos" in plain.list_tools()[0]["description"]
    assert "delete_user" not in plain.list_tools()[0]["description"]
    assert "delete_user" in staff.list_tools()[0]["description"]
    with pytest.raises(MCPError):
        plain.call_tool("list-users")


def test_the_plain_user_cannot_call_a_staff_tool_from_code(people):
    result = MCPClient(people["plain"], "code").run('return await codemode.delete_user({ id: "7" })')
    assert result.is_error
    assert User.objects.filter(pk=7).exists()
