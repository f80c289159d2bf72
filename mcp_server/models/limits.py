"""The admin's row of one endpoint: what staff changed; an empty field inherits (contract A01)."""

from typing import Any

from django.db import models
from django.utils.translation import gettext_lazy as _


def _inherited(verbose_name: Any) -> "models.PositiveBigIntegerField[int | None, int | None]":
    return models.PositiveBigIntegerField(verbose_name, null=True, blank=True)


class Limits(models.Model):
    """What staff set for one endpoint.

    The columns carry no validators: ceilings come from the project's settings, and a migration must not depend on these.
    `policy.limits` and the admin form apply them.
    """

    endpoint = models.CharField(_("endpoint"), max_length=64, primary_key=True)

    memory_limit_mb = _inherited(_("memory per run"))
    cpu_time_limit_ms = _inherited(_("processor time per run"))
    wall_time_limit_ms = _inherited(_("time per run"))
    max_result_bytes = _inherited(_("result size"))
    max_request_bytes = _inherited(_("arguments size"))
    max_tool_response_bytes = _inherited(_("tool response size"))
    max_tool_calls = _inherited(_("tool calls per run"))
    max_log_entries = _inherited(_("console entries per run"))
    max_code_bytes = _inherited(_("code size"))
    max_concurrent_runs = _inherited(_("concurrent runs"))
    max_queue_ms = _inherited(_("waiting time for a worker"))

    code_policy = models.CharField(_("code mode policy"), max_length=16, blank=True)
    rate_limits = models.JSONField(_("rate limits"), default=dict, blank=True)
    log_level = models.CharField(_("log level"), max_length=16, blank=True)
    keep_days = _inherited(_("days to keep"))
    keep_failed_days = _inherited(_("days to keep failures"))

    changed = models.DateTimeField(_("changed"), auto_now=True)

    class Meta:
        verbose_name = _("limits of an endpoint")
        verbose_name_plural = _("limits")
        ordering = ("endpoint",)
        default_permissions = ("view", "change")

    def __str__(self) -> str:
        return self.endpoint

    @classmethod
    def label(cls, name: str) -> Any:
        """Return what people call a field, in the reader's language."""
        return cls._meta.get_field(name).verbose_name  # type: ignore[union-attr]  # no field of ours is a relation
