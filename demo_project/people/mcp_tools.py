"""What a language model may do with this project's users."""

from typing import Annotated

from django.contrib.auth import get_user_model
from django.contrib.auth.models import User
from django.http import HttpRequest
from pydantic import Field
from typing_extensions import TypedDict

from mcp_server import ToolError, has_perm, tool

UserId = Annotated[str, Field(description="The user's id, as in list-users", max_length=20)]


class UserRow(TypedDict):
    id: str
    name: str
    email: str


@tool(annotations="read", tags=["users"])
def list_users(
    limit: Annotated[int, Field(ge=1, le=500, description="At most so many")] = 50,
) -> list[UserRow]:
    """List active users, oldest account first."""
    return [user_row(user) for user in get_user_model().objects.filter(is_active=True).order_by("pk")[:limit]]


@tool(annotations="read", tags=["users"], input_examples=[{"id": "123"}])
def get_user(id: UserId) -> UserRow:  # noqa: A002 - the name that programs use
    """Return one user."""
    return user_row(find_user(id))


@tool(annotations="delete", tags=["users"], enabled=has_perm("auth.delete_user"))
def delete_user(id: UserId, request: HttpRequest) -> str:  # noqa: A002 - the name that programs use
    """Delete a user with all of their todos and orders. This cannot be undone."""
    user = find_user(id)
    if user == request.user:
        raise ToolError("You cannot delete yourself.", 409)
    name = user.get_full_name()
    user.delete()
    return f"Deleted {name or 'the user'}."


def find_user(id: str) -> User:  # noqa: A002 - as above
    """Return the user with this id.

    Raises:
        ToolError: 404 when there is none; an id that is no number is no id either.
    """
    user = get_user_model().objects.filter(pk=int(id)).first() if id.isascii() and id.isdigit() else None
    if user is None:
        raise ToolError("User not found. Take an id from list-users.", 404)
    return user


def user_row(user: User) -> UserRow:
    """Return what a model may know of a user."""
    return {"id": str(user.pk), "name": user.get_full_name() or user.get_username(), "email": user.email}
