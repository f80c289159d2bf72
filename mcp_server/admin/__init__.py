"""The admin: overview, limits, tokens, code runs, tool calls.

A project with an admin site of its own registers these classes there: `site.register(CodeRun, CodeRunAdmin)`.
"""

from django.contrib import admin

from mcp_server.admin.coderuns import CodeRunAdmin
from mcp_server.admin.limits import LimitsAdmin
from mcp_server.admin.processes import ProcessAdmin
from mcp_server.admin.tokens import TokenAdmin
from mcp_server.admin.toolcalls import ToolCallAdmin
from mcp_server.models import CodeRun, Limits, Process, Token, ToolCall

__all__ = ["CodeRunAdmin", "LimitsAdmin", "ProcessAdmin", "TokenAdmin", "ToolCallAdmin"]

admin.site.register(CodeRun, CodeRunAdmin)
admin.site.register(Limits, LimitsAdmin)
admin.site.register(Process, ProcessAdmin)
admin.site.register(Token, TokenAdmin)
admin.site.register(ToolCall, ToolCallAdmin)
