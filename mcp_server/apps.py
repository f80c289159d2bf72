"""The Django app: discovery, checks and signals."""

from django.apps import AppConfig


class MCPServerConfig(AppConfig):
    """MCP endpoints for this project."""

    name = "mcp_server"
    label = "mcp_toolkit"
    verbose_name = "MCP"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Import every app's `mcp_tools`, register the checks, and watch who may do what."""
        from mcp_server import checks
        from mcp_server.bus import rights
        from mcp_server.calls import reporting
        from mcp_server.definitions.discovery import discover

        checks.register()
        discover()
        rights.connect()
        reporting.connect()
