"""The snippets of docs/resources.md."""

# [start:resource]
from pathlib import Path

from django.contrib.auth import get_user_model

from mcp_server import resource


@resource("accounts://{id}", enabled="auth.view_user", mime_type="application/json")
def account(id: int) -> dict[str, str]:
    """One account of this site."""
    user = get_user_model().objects.get(pk=id)
    return {"name": user.get_username(), "joined": user.date_joined.date().isoformat()}


# [end:resource]

# [start:files]
GUIDES = Path(__file__).parent / "deployment"

resource("guides://nginx", file=GUIDES / "nginx.conf", mime_type="text/plain")
resource("guides://all/{+path}", root=GUIDES)
# [end:files]

# [start:prompt]
from mcp_server import prompt


@prompt(complete={"tone": ["friendly", "formal"]})
def write_reminder(name: str, tone: str = "friendly") -> str:
    """Start a reminder.

    Args:
        name: Who is reminded.
        tone: How it sounds.
    """
    return f"Write a {tone} reminder to {name} about the todos that are overdue. Look them up first."


# [end:prompt]

# [start:updated]
from mcp_server import Context, tool


@tool(annotations="update", enabled="auth.change_user")
def deactivate_account(id: int, ctx: Context) -> str:
    """Deactivate an account."""
    get_user_model().objects.filter(pk=id).update(is_active=False)
    ctx.notify_resource_updated(f"accounts://{id}")
    return "Deactivated."


# [end:updated]
