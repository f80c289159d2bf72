from django.contrib.auth import get_user_model

from mcp_server import endpoint, tool


@tool(annotations="read", enabled="auth.view_user")
def count_users(active: bool = True) -> int:
    """Count the accounts of this site."""
    return get_user_model().objects.filter(is_active=active).count()


endpoint("code", code_mode="on")  # the same tools at /mcp/code, for models that write a program
