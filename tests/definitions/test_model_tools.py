"""Tools made of a model: shown, filtered, changed and guarded as its permissions and its author say (contract D09)."""

import datetime as dt
from typing import Any

import pytest
from django.contrib.auth.models import Group, Permission, User
from django.db import models
from django.http import HttpRequest

from demo_project.shop.models import Order, Product, Reminder, Todo
from mcp_server import endpoint, has_scope, is_staff, model_tools
from mcp_server.definitions.registry import registry
from mcp_server.testing import MCPClient, MCPError

ALL = ["list", "get", "create", "update", "delete"]
TODO = ["user", "title", "done", "due"]


@pytest.fixture(autouse=True)
def isolated(db: Any):
    with registry.isolated(empty=True):
        yield


@pytest.fixture
def root() -> User:
    return User.objects.create_superuser("root")


@pytest.fixture
def ada() -> User:
    return User.objects.create_user("ada")


def allow(user: User, *codenames: str) -> None:
    user.user_permissions.add(*Permission.objects.filter(codename__in=codenames))


def names(client: MCPClient) -> list[str]:
    return [item["name"] for item in client.list_tools()]


def schema(client: MCPClient, name: str) -> dict[str, Any]:
    found: dict[str, Any] = next(item for item in client.list_tools() if item["name"] == name)
    return found


def own_todos(request: HttpRequest) -> models.QuerySet[Todo]:
    return Todo.objects.filter(user=request.user.pk)


@pytest.mark.proves("D09")
def test_a_row_is_made_shown_changed_and_deleted(root):
    model_tools(Todo, fields=TODO, actions=ALL)
    client = MCPClient(root)
    assert names(client) == ["create-todo", "delete-todo", "get-todo", "list-todos", "update-todo"]
    made = client.call_tool("create-todo", {"user": root.pk, "title": "Call", "due": "2026-01-31"}).data
    expected = {"id": made["id"], "user": root.pk, "title": "Call", "done": False, "due": "2026-01-31"}
    assert made == expected
    assert client.call_tool("get-todo", {"id": made["id"]}).data == expected
    changed = client.call_tool("update-todo", {"id": made["id"], "done": True, "due": None}).data
    assert changed == {**expected, "done": True, "due": None}
    assert client.call_tool("list-todos").data == {"results": [changed]}
    gone = client.call_tool("delete-todo", {"id": made["id"]})
    assert (gone.is_error, gone.content) == (False, [])
    missing = client.call_tool("delete-todo", {"id": made["id"]})
    assert missing.text == "[404] Todo not found. Take an id from list-todos."


@pytest.mark.proves("D09")
def test_only_list_and_get_are_made_unless_the_author_names_more_and_without_a_list_none_is_named(root):
    model_tools(Product, fields=["name"])
    model_tools(Order, fields=["status"], actions=["get"])
    client = MCPClient(root)
    assert names(client) == ["get-order", "get-product", "list-products"]
    assert client.call_tool("get-order", {"id": 7}).text == "[404] Order not found."


@pytest.mark.proves("D09")
@pytest.mark.parametrize(
    ("codename", "expected"),
    [
        ("view_todo", ["get-todo", "list-todos"]),
        ("add_todo", ["create-todo"]),
        ("change_todo", ["update-todo"]),
        ("delete_todo", ["delete-todo"]),
        ("view_order", []),
    ],
)
def test_each_tool_needs_the_model_s_permission_for_it(ada, codename, expected):
    model_tools(Todo, fields=TODO, actions=ALL)
    allow(ada, codename)
    client = MCPClient(ada)
    assert names(client) == expected
    for name in {"list-todos", "create-todo"} - set(expected):
        with pytest.raises(MCPError, match="Unknown tool"):
            client.call_tool(name)


@pytest.mark.proves("D09")
def test_a_guard_comes_on_top_of_the_permission(ada):
    model_tools(Todo, fields=TODO, enabled=is_staff)
    model_tools(Product, fields=["name"], enabled=has_scope("shop"))
    allow(ada, "view_todo", "view_product")
    assert names(MCPClient(ada)) == ["get-product", "list-products"]


@pytest.mark.proves("D09")
def test_annotations_say_what_each_tool_does(root):
    model_tools(Todo, fields=TODO, actions=ALL)
    hints = {item["name"]: item["annotations"] for item in MCPClient(root).list_tools()}
    read = {"readOnlyHint": True, "destructiveHint": False, "openWorldHint": False}
    write = {"readOnlyHint": False, "destructiveHint": False, "openWorldHint": False}
    assert hints == {
        "list-todos": read,
        "get-todo": read,
        "create-todo": {**write, "idempotentHint": False},
        "update-todo": {**write, "idempotentHint": True},
        "delete-todo": {**write, "destructiveHint": True, "idempotentHint": True},
    }


@pytest.mark.proves("D09")
def test_a_list_comes_in_pages_that_neither_repeat_nor_skip(root):
    model_tools(Todo, fields=TODO, max_limit=7)
    Todo.objects.bulk_create(Todo(user=root, title=f"T{n % 3}") for n in range(20))
    client = MCPClient(root)
    seen = []
    for offset in range(0, 21, 7):
        page = client.call_tool("list-todos", {"limit": 7, "offset": offset, "order_by": ["-title"]}).data[
            "results"
        ]
        seen += [row["id"] for row in page]
    assert len(seen) == len(set(seen)) == 20
    assert len(client.call_tool("list-todos").data["results"]) == 7
    for wrong in ({"limit": 8}, {"limit": 0}, {"offset": -1}, {"order_by": ["password"]}, {"fields": []}):
        assert client.call_tool("list-todos", wrong).text.startswith("[400]")


@pytest.mark.proves("D09")
def test_a_list_shows_the_fields_that_are_asked_for_and_the_key(root):
    model_tools(Todo, fields=TODO)
    todo = Todo.objects.create(user=root, title="Call")
    client = MCPClient(root)
    assert client.call_tool("list-todos", {"fields": ["title"]}).data == {
        "results": [{"id": todo.pk, "title": "Call"}]
    }
    assert client.call_tool("list-todos", {"fields": ["password"]}).text.startswith("[400]")
    output = schema(client, "list-todos")["outputSchema"]
    row = (
        next(iter(output["$defs"].values()))
        if "$defs" in output
        else output["properties"]["results"]["items"]
    )
    assert row["required"] == ["id"]


@pytest.mark.proves("D09")
def test_lists_are_filtered_by_choices_booleans_relations_and_dates_without_a_word(root, ada):
    model_tools(Todo, fields=TODO)
    model_tools(Order, fields=["user", "product", "status", "ordered", "total"])
    old = Todo.objects.create(user=root, title="Old", done=True, due=dt.date(2025, 1, 1))
    new = Todo.objects.create(user=ada, title="New", due=dt.date(2026, 1, 1))
    client = MCPClient(root)

    def found(**given: Any) -> list[int]:
        return [row["id"] for row in client.call_tool("list-todos", given).data["results"]]

    assert found(done=True) == [old.pk]
    assert found(user=ada.pk) == [new.pk]
    assert found(due__gte="2025-06-01") == [new.pk]
    assert found(due__lte="2025-06-01") == [old.pk]
    assert found(due__gte="2025-06-01", done=True) == []
    status = schema(client, "list-orders")["inputSchema"]["properties"]["status"]
    assert status["enum"] == ["pending", "paid", "shipped", "cancelled"]
    wrong = client.call_tool("list-orders", {"status": "lost"})
    assert wrong.text.startswith("[400]")


@pytest.mark.proves("D09")
def test_the_author_chooses_filters_in_django_s_language(root, ada):
    model_tools(
        Todo,
        fields=["title"],
        filters=[
            "title__icontains",
            "user__username",
            "due__isnull",
            "pk__in",
            "due__year",
            "user__groups__name",
        ],
        ordering=["title"],
    )
    one = Todo.objects.create(user=root, title="Call Ada")
    two = Todo.objects.create(user=ada, title="Write", due=dt.date(2026, 1, 1))
    ada.groups.add(Group.objects.create(name="x1"), Group.objects.create(name="x2"))
    client = MCPClient(root)

    def found(**given: Any) -> list[int]:
        return [row["id"] for row in client.call_tool("list-todos", given).data["results"]]

    assert found(title__icontains="CALL") == [one.pk]
    assert found(user__username="ada") == [two.pk]
    assert found(due__isnull=True) == [one.pk]
    assert found(pk__in=[one.pk, two.pk], order_by=["-title"]) == [two.pk, one.pk]
    assert found(due__year=2026) == [two.pk]
    assert found(user__groups__name="x1") == [two.pk]
    properties = schema(client, "list-todos")["inputSchema"]["properties"]
    assert properties["order_by"]["items"]["enum"] == ["title", "-title"]
    assert "done" not in properties


@pytest.mark.proves("D09")
def test_each_user_has_the_rows_of_the_queryset_and_no_other(root, ada):
    model_tools(Todo, fields=TODO, actions=ALL, queryset=own_todos)
    allow(ada, "view_todo", "add_todo", "change_todo", "delete_todo")
    theirs = Todo.objects.create(user=root, title="Root's")
    client = MCPClient(ada)
    own = client.call_tool("create-todo", {"user": ada.pk, "title": "Ada's"}).data
    assert client.call_tool("list-todos").data == {"results": [own]}
    for name, given in (("get-todo", {}), ("update-todo", {"title": "Mine"}), ("delete-todo", {})):
        assert client.call_tool(name, {"id": theirs.pk, **given}).text.startswith("[404]")
    foreign = client.call_tool("create-todo", {"user": root.pk, "title": "For you"})
    moved = client.call_tool("update-todo", {"id": own["id"], "user": root.pk})
    assert [item.text[:5] for item in (foreign, moved)] == ["[403]", "[403]"]
    assert sorted(Todo.objects.values_list("user__username", "title")) == [
        ("ada", "Ada's"),
        ("root", "Root's"),
    ]


@pytest.mark.proves("D09")
def test_prepare_completes_a_row_with_what_no_argument_may_say(ada):
    def own(todo: Todo, request: HttpRequest) -> None:
        assert isinstance(request.user, User)
        todo.user = request.user

    model_tools(Todo, fields=TODO, actions=["create"], writable=["title"], prepare=own)
    allow(ada, "add_todo")
    client = MCPClient(ada)
    assert client.call_tool("create-todo", {"title": "Call"}).data["user"] == ada.pk
    refused = client.call_tool("create-todo", {"title": "Call", "user": 1})
    assert refused.text.startswith("[400]")
    assert "user" in refused.text


@pytest.mark.proves("D09")
def test_values_are_cleaned_as_forms_clean_them(root):
    model_tools(Order, fields=["user", "product", "quantity", "total", "status", "ordered"], actions=ALL)
    model_tools(Group, fields=["name"], actions=["create", "update"])
    product = Product.objects.create(name="Pen", price=1)
    client = MCPClient(root)
    given = {"user": root.pk, "product": product.pk, "total": "12.50", "ordered": "2026-01-01"}
    made = client.call_tool("create-order", given).data
    assert (made["total"], made["status"], made["quantity"]) == ("12.50", "pending", 1)
    for wrong, field in (
        ({**given, "product": 999_999}, "product"),
        ({**given, "total": "1.234"}, "total"),
        ({**given, "status": "lost"}, "status"),
        ({**given, "quantity": -1}, "quantity"),
    ):
        refused = client.call_tool("create-order", wrong)
        assert refused.text.startswith("[400]")
        assert field in refused.text
    assert Order.objects.count() == 1
    client.call_tool("create-group", {"name": "staff"})
    again = client.call_tool("create-group", {"name": "staff"})
    assert again.text.startswith("[400]")
    assert "name" in again.text


@pytest.mark.proves("D09")
def test_a_row_that_others_need_is_not_deleted(root):
    model_tools(Product, fields=["name"], actions=["delete"])
    product = Product.objects.create(name="Pen", price=1)
    Order.objects.create(user=root, product=product, total=1, ordered=dt.date(2026, 1, 1))
    assert MCPClient(root).call_tool("delete-product", {"id": product.pk}).text.startswith("[409]")
    assert Product.objects.exists()


@pytest.mark.proves("D09")
def test_relations_to_many_are_lists_of_keys(root):
    model_tools(Group, fields=["name", "permissions"], actions=ALL, filters=["permissions"])
    first, second = Permission.objects.order_by("pk")[:2]
    client = MCPClient(root)
    made = client.call_tool("create-group", {"name": "staff", "permissions": [second.pk, first.pk]}).data
    assert made["permissions"] == [first.pk, second.pk]
    changed = client.call_tool("update-group", {"id": made["id"], "permissions": [second.pk]}).data
    assert changed["permissions"] == [second.pk]
    assert client.call_tool("list-groups", {"permissions": second.pk}).data["results"] == [changed]
    wrong = client.call_tool("update-group", {"id": made["id"], "permissions": [0], "name": "other"})
    assert wrong.text.startswith("[400]")
    assert "There is no permission 0." in wrong.text
    assert Group.objects.get().name == "staff"


def test_an_update_without_a_change_is_refused(root):
    model_tools(Todo, fields=TODO, actions=["update"])
    todo = Todo.objects.create(user=root, title="Call")
    refused = MCPClient(root).call_tool("update-todo", {"id": todo.pk})
    assert refused.text == "[400] Give at least one field to change: user, title, done, due."


def test_an_update_is_not_held_up_by_old_values_that_it_leaves_alone(root):
    model_tools(Todo, fields=TODO, actions=["update"])
    todo = Todo.objects.create(user=root, title="")
    client = MCPClient(root)
    assert client.call_tool("update-todo", {"id": todo.pk, "done": True}).data["done"] is True
    assert client.call_tool("update-todo", {"id": todo.pk, "title": ""}).text.startswith("[400]")


def test_a_stored_value_outside_its_choices_is_shown_all_the_same(root):
    model_tools(Order, fields=["status"])
    product = Product.objects.create(name="Pen", price=1)
    Order.objects.create(user=root, product=product, total=1, ordered=dt.date(2026, 1, 1), status="legacy")
    assert MCPClient(root).call_tool("list-orders").data["results"][0]["status"] == "legacy"


@pytest.mark.proves("D09")
def test_programs_call_them_like_any_other(root):
    endpoint("code", code_mode="on")
    model_tools(Todo, fields=TODO, actions=ALL)
    program = """
      const made = await codemode.create_todo({ user: 1e9, title: "x" }).catch(error => error.status);
      const todo = await codemode.create_todo({ user: USER, title: "Call" });
      await codemode.update_todo({ id: todo.id, done: true });
      return [made, (await codemode.list_todos({ done: true })).map(row => row.title)];
    """.replace("USER", str(root.pk))
    assert MCPClient(root, "code").run(program).data == {"results": [400, ["Call"]]}


def test_names_groups_and_shared_settings_are_the_author_s(root):
    endpoint("staff")
    model_tools(Reminder, fields=["text"], name="note", plural="notes", group="desk", endpoints=["staff"])
    client = MCPClient(root, "staff")
    assert names(client) == ["get-note", "list-notes"]
    assert {item["_meta"]["group"] for item in client.list_tools()} == {"desk"}
    assert names(MCPClient(root)) == []


class Everything(models.Model):
    """A field of each kind; never stored."""

    key = models.CharField(primary_key=True, max_length=8)
    id = models.PositiveSmallIntegerField(help_text="Not the key")
    request = models.BooleanField(null=True)
    copy = models.FloatField(default=1.5)
    amount = models.DecimalField(max_digits=5, decimal_places=2)
    token = models.UUIDField()
    moment = models.DateTimeField()
    clock = models.TimeField()
    span = models.DurationField()
    extra = models.JSONField(default=dict)
    level = models.IntegerField(choices=[(1, "low"), (2, "high")])
    kind = models.CharField(max_length=3, blank=True, choices={"group": {"a": "A"}})
    address = models.GenericIPAddressField()
    page = models.URLField(editable=False)
    picture = models.FileField()
    parent = models.ForeignKey("self", models.CASCADE, null=True, to_field="key")

    class Meta:
        app_label = "shop_tests"
        verbose_name_plural = "everything at all"

    def __str__(self) -> str:
        return self.key


def test_each_kind_of_field_has_its_schema(root):
    fields = [item.name for item in Everything._meta.concrete_fields]
    model_tools(Everything, fields=fields, actions=ALL, ordering=[])
    client = MCPClient(root)
    assert "list-everything-at-all" in names(client)
    create = schema(client, "create-everything")["inputSchema"]
    properties = create["properties"]
    assert set(fields) - properties.keys() == {"page", "picture"}
    assert set(create["required"]) == {
        "key", "id", "amount", "token", "moment", "clock", "span", "level", "address"
    }  # fmt: skip
    assert properties["key"] == {"type": "string", "maxLength": 8}
    assert (properties["id"]["minimum"], properties["id"]["description"]) == (0, "Not the key")
    assert properties["token"]["format"] == "uuid"
    assert properties["level"]["enum"] == [1, 2]
    assert properties["kind"]["enum"] == ["a", ""]
    assert properties["parent"]["anyOf"] == [
        {"type": "string", "maxLength": 8},
        {"type": "null"},
    ] or properties["parent"]["anyOf"] == [{"type": "string"}, {"type": "null"}]
    assert "default" not in properties["copy"]
    update = schema(client, "update-everything")["inputSchema"]
    assert update["required"] == ["pk"]
    assert "key" not in update["properties"]
    assert "order_by" not in schema(client, "list-everything-at-all")["inputSchema"]["properties"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"fields": ["nope"]}, ["no field 'nope'", "user, title"]),
        ({"fields": "title"}, ["fields=['title']"]),
        ({"fields": ["title"], "actions": ["destroy"]}, ["'destroy' is no action"]),
        ({"fields": ["title"], "filters": ["nope"]}, ["begins with no field", "title"]),
        ({"fields": ["title"], "filters": ["title__nearly"]}, ["'nearly', which is no lookup", "icontains"]),
        ({"fields": ["title"], "ordering": ["due"]}, ["ordering has 'due'"]),
        ({"fields": ["title"], "actions": ["create"], "writable": ["id"]}, ["'id', which cannot be set"]),
        ({"fields": ["title"], "result_format": "xml"}, ["result_format='xml'"]),
    ],
)
def test_what_cannot_be_is_a_check_error_with_its_place(options, words):
    from django.core.checks import run_checks

    model_tools(Todo, **options)
    found = [f"{item.msg} {item.hint}" for item in run_checks() if item.id == "mcp_toolkit.E003"]
    assert found
    assert all("tests.definitions.test_model_tools:" in text for text in found)
    for word in words:
        assert any(word in text for text in found), found


def test_a_filter_with_the_name_of_another_argument_is_a_check_error():
    class Quota(models.Model):
        limit = models.IntegerField()

        class Meta:
            app_label = "shop_tests"

        def __str__(self) -> str:
            return str(self.limit)

    model_tools(Quota, fields=["limit"], filters=["limit"])
    problems = [item.hint for item in registry.contents.problems]
    assert "Write 'limit__exact'." in problems


def test_a_field_that_json_cannot_hold_and_a_coroutine_are_check_errors():
    class Blob(models.Model):
        data = models.BinaryField()

        class Meta:
            app_label = "shop_tests"

        def __str__(self) -> str:
            return "blob"

    async def rows(request: HttpRequest) -> Any:
        return Todo.objects.all()

    model_tools(Blob, fields=["data"])
    model_tools(Todo, fields=["title"], queryset=rows)
    messages = " ".join(item.message for item in registry.contents.problems)
    assert "'data' is a BinaryField" in messages
    assert "queryset is a coroutine function" in messages


def test_an_option_that_does_not_exist_is_said_at_once():
    with pytest.raises(TypeError, match="'permission'"):
        model_tools(Todo, fields=["title"], permission="x")
