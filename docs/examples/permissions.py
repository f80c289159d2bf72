"""The snippets of docs/permissions.md."""

# [start:guards]
from django.http import HttpRequest

from mcp_server import has_perm, has_scope, in_group, is_staff, tool


@tool(enabled="shop.view_order")
def open_orders() -> int:
    """Count the open orders."""
    return 3


@tool(enabled=is_staff & (has_perm("shop.change_order") | in_group("support")))
def close_order(id: str) -> str:
    """Close an order."""
    return f"Closed {id}."


def on_the_intranet(request: HttpRequest) -> bool:
    return request.META.get("REMOTE_ADDR", "").startswith("127.")


@tool(enabled=on_the_intranet)
def phone_list() -> list[str]:
    """List the internal phone numbers."""
    return ["100", "101"]


# [end:guards]


# [start:scope]
@tool(enabled=has_scope("orders:write", explain="Ask the user for a token with the scope orders:write."))
def refund_order(id: str) -> str:
    """Refund an order."""
    return f"Refunded {id}."


# [end:scope]


# [start:context]
from mcp_server import Context


@tool(annotations="read")
def my_name(ctx: Context) -> str:
    """Return the name of the user for whom this call runs."""
    return ctx.user.get_username()


# [end:context]
