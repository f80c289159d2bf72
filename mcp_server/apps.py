"""The Django app."""

from django.apps import AppConfig


class MCPServerConfig(AppConfig):
    """MCP endpoints for this project."""

    name = "mcp_server"
    label = "mcp_toolkit"
    verbose_name = "MCP"
    default_auto_field = "django.db.models.BigAutoField"
