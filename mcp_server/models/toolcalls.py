"""Tool calls, made directly or from code (contract A03)."""

from typing import ClassVar

from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from mcp_server.models.coderuns import CodeRun
from mcp_server.models.identifiers import IDENTIFIER_LENGTH
from mcp_server.models.logged import LoggedRow


class ToolCall(LoggedRow):
    """One call of one tool."""

    id = models.CharField(_("call"), primary_key=True, max_length=IDENTIFIER_LENGTH, editable=False)
    # Without a constraint a call is kept though its run's row could not be written.
    run = models.ForeignKey(
        CodeRun,
        null=True,
        on_delete=models.CASCADE,
        related_name="tool_calls",
        db_index=False,
        db_constraint=False,
        verbose_name=_("code run"),
    )
    sequence = models.PositiveIntegerField(_("number in the run"), null=True)
    tool = models.CharField(_("tool"), max_length=128)
    arguments = models.TextField(_("arguments"), blank=True)
    status = models.CharField(_("outcome"), max_length=20)
    error_status = models.PositiveSmallIntegerField(_("status"), null=True)
    error = models.TextField(_("error"), blank=True)
    reference = models.CharField(_("reference"), max_length=40, blank=True)
    started = models.DateTimeField(_("started"), default=timezone.now)
    duration_ms = models.FloatField(_("duration"), default=0)
    request_bytes = models.PositiveBigIntegerField(_("arguments size"), default=0)
    response_bytes = models.PositiveBigIntegerField(_("response size"), default=0)

    class Meta(LoggedRow.Meta):
        verbose_name = _("tool call")
        verbose_name_plural = _("tool calls")
        indexes: ClassVar = [
            models.Index(fields=["started"], name="mcp_call_started"),
            models.Index(fields=["endpoint", "started"], name="mcp_call_endpoint"),
            models.Index(fields=["tool", "started"], name="mcp_call_tool"),
            models.Index(fields=["user", "started"], name="mcp_call_user"),
            models.Index(fields=["status", "started"], name="mcp_call_status"),
            models.Index(fields=["run", "sequence"], name="mcp_call_run"),
            models.Index(fields=["reference"], name="mcp_call_reference"),
        ]

    def __str__(self) -> str:
        return f"{self.tool} {self.id}"
