"""Runs of code: what a model wrote, what came of it and what it cost (contract A02)."""

from datetime import timedelta
from typing import ClassVar

from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from mcp_server.models.identifiers import IDENTIFIER_LENGTH
from mcp_server.models.logged import LoggedRow

RUNNING = "running"
LOST = "lost"

LOST_AFTER = timedelta(seconds=10)
"""How long past its deadline an open run still counts as running: its host may be writing the end."""


class CodeRun(LoggedRow):
    """One run. Its row exists while it runs, so that it can be watched, stopped, and told when its host died."""

    id = models.CharField(_("run"), primary_key=True, max_length=IDENTIFIER_LENGTH, editable=False)
    process = models.CharField(_("process"), max_length=100, blank=True)

    code = models.TextField(_("code"))
    started = models.DateTimeField(_("started"), default=timezone.now)
    deadline = models.DateTimeField(_("deadline"), null=True)
    status = models.CharField(_("outcome"), max_length=20, default=RUNNING)
    limit = models.CharField(_("limit"), max_length=40, blank=True)
    error = models.JSONField(_("error"), default=dict, blank=True)
    console = models.JSONField(_("console"), default=list, blank=True)
    dropped_logs = models.PositiveIntegerField(_("dropped console entries"), default=0)
    result = models.TextField(_("result"), blank=True)
    result_bytes = models.PositiveBigIntegerField(_("result size"), default=0)

    cpu_ms = models.FloatField(_("processor time"), null=True)
    wall_ms = models.FloatField(_("time"), null=True)
    queue_ms = models.FloatField(_("waiting time"), null=True)
    peak_memory_mb = models.FloatField(_("peak memory"), null=True)
    calls = models.PositiveIntegerField(_("tool calls"), default=0)
    limits = models.JSONField(_("limits"), default=dict, blank=True)

    stop_requested = models.DateTimeField(_("stop requested"), null=True)
    stopped_by = models.CharField(_("stopped by"), max_length=254, blank=True)

    class Meta(LoggedRow.Meta):
        verbose_name = _("code run")
        verbose_name_plural = _("code runs")
        permissions: ClassVar = [
            ("view_call_content", "Can view code, arguments, console and results"),
            ("stop_coderun", "Can stop code runs"),
        ]
        indexes: ClassVar = [
            models.Index(fields=["started"], name="mcp_run_started"),
            models.Index(fields=["endpoint", "started"], name="mcp_run_endpoint"),
            models.Index(fields=["user", "started"], name="mcp_run_user"),
            models.Index(fields=["status", "started"], name="mcp_run_status"),
            models.Index(fields=["limit", "started"], name="mcp_run_limit"),
        ]

    def __str__(self) -> str:
        return self.id

    @property
    def outcome(self) -> str:
        """The status to show: an open run past its deadline has no owner any more and reads "lost" (contract A04)."""
        if self.status == RUNNING and self.deadline and self.deadline + LOST_AFTER < timezone.now():
            return LOST
        return self.status

    @property
    def is_running(self) -> bool:
        """Whether somebody still works on it."""
        return self.outcome == RUNNING
