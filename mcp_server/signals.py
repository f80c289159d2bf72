"""Signals that projects may listen to. Both are sent with `send_robust`, so a receiver cannot break a call."""

from django.dispatch import Signal

tool_called = Signal()
"""After each tool call, direct or from code. Sends `record`, a `mcp_server.calls.journal.CallRecord`."""

code_run_finished = Signal()
"""After each run of code. Sends `record`, a `mcp_server.calls.journal.RunRecord`."""
