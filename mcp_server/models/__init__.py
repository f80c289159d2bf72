"""What is stored: limits, tokens, code runs, tool calls, ended sessions, process heartbeats."""

from mcp_server.models.coderuns import CodeRun
from mcp_server.models.limits import Limits
from mcp_server.models.processes import Process
from mcp_server.models.sessions import EndedSession, UsedState
from mcp_server.models.tokens import Token
from mcp_server.models.toolcalls import ToolCall

__all__ = ["CodeRun", "EndedSession", "Limits", "Process", "Token", "ToolCall", "UsedState"]
