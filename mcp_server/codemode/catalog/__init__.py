"""The catalogue of Code Mode: what the descriptions of `code` and `search` tell a model about the tools."""

from mcp_server.codemode.catalog.declarations import Detail, declare
from mcp_server.codemode.catalog.description import BUDGET, Description, describe, describe_search

__all__ = ["BUDGET", "Description", "Detail", "declare", "describe", "describe_search"]
