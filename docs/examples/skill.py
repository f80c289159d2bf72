"""The snippet of the skill."""

# [start:tools]
from typing import Annotated

from django.contrib.auth import get_user_model
from pydantic import BaseModel, Field

from mcp_server import Context, ToolError, tool


class Member(BaseModel):
    id: str
    name: str


@tool(annotations="read", enabled="auth.view_user")
def list_members(limit: Annotated[int, Field(ge=1, le=200)] = 50) -> list[Member]:
    """List the members, oldest account first."""
    users = get_user_model().objects.filter(is_active=True).order_by("pk")[:limit]
    return [Member(id=str(user.pk), name=user.get_full_name()) for user in users]


@tool(annotations="update", enabled="auth.change_user")
def rename_member(
    id: str, last_name: Annotated[str, Field(min_length=1, max_length=150)], ctx: Context
) -> Member:
    """Change a member's last name."""
    users = get_user_model().objects.filter(pk=int(id)) if id.isdecimal() else get_user_model().objects.none()
    user = users.exclude(is_superuser=True).first()
    if user is None or user == ctx.user:
        raise ToolError("Member not found. Take an id from list-members.", 404)
    user.last_name = last_name
    user.save(update_fields=["last_name"])
    return Member(id=id, name=user.get_full_name())


# [end:tools]
