"""Reading the program a model wrote: from any form it comes in to the body of an async function, checked."""

from mcp_server.codemode.source.errors import SourceError, SourceWarning, excerpt
from mcp_server.codemode.source.prepare import Program, prepare
from mcp_server.codemode.source.tools import ToolSummary, summarize

__all__ = ["Program", "SourceError", "SourceWarning", "ToolSummary", "excerpt", "prepare", "summarize"]
