"""Heartbeats of the processes that serve MCP (contract A05)."""

from datetime import timedelta
from typing import ClassVar, Self

from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

BEAT = timedelta(seconds=15)
SILENT_AFTER = 4 * BEAT


class ProcessQuerySet(models.QuerySet["Process"]):
    """Processes, to be filtered further."""

    def alive(self) -> Self:
        """Return the processes that were heard of lately."""
        return self.filter(seen__gte=timezone.now() - SILENT_AFTER)


class Process(models.Model):
    """One web process and what it last said of itself."""

    name = models.CharField(_("process"), max_length=100, primary_key=True)
    host = models.CharField(_("host"), max_length=100)
    pid = models.PositiveIntegerField(_("process id"))
    version = models.CharField(_("version"), max_length=40, blank=True)
    started = models.DateTimeField(_("started"), default=timezone.now)
    seen = models.DateTimeField(_("last heard of"), default=timezone.now)
    # What the rooms report: workers with their confinement, log rows lost, runs in progress.
    state = models.JSONField(_("state"), default=dict, blank=True)
    restart_requested = models.DateTimeField(_("restart of the workers requested"), null=True)

    objects = ProcessQuerySet.as_manager()

    class Meta:
        verbose_name = _("process")
        verbose_name_plural = _("overview")
        ordering = ("host", "pid")
        default_permissions = ("view", "change")
        indexes: ClassVar = [models.Index(fields=["seen"], name="mcp_process_seen")]

    def __str__(self) -> str:
        return self.name

    @property
    def is_alive(self) -> bool:
        """Whether the process was heard of lately."""
        return self.seen >= timezone.now() - SILENT_AFTER
