"""The snippets of docs/tools.md about tools of a model."""

# [start:model]
from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest

from demo_project.shop.models import Todo
from mcp_server import model_tools


def own_todos(request: HttpRequest) -> QuerySet[Todo]:
    return Todo.objects.filter(user=request.user.pk)


def belongs_to_user(todo: Todo, request: HttpRequest) -> Any:
    todo.user_id = request.user.pk


model_tools(
    Todo,
    name="my-todo",
    fields=["title", "done", "due"],
    actions=["list", "get", "create", "update", "delete"],
    queryset=own_todos,
    prepare=belongs_to_user,
)
# [end:model]
