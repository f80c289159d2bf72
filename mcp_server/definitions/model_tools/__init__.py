"""`model_tools`: tools that list, get, create, update and delete the rows of a Django model (contract D09)."""

from mcp_server.definitions.model_tools.declaration import model_tools

__all__ = ["model_tools"]
