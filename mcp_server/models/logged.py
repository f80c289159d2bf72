"""What both logs say of each row: who, with which client, at which endpoint."""

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _


class LoggedRow(models.Model):
    """A row of a log, newest first."""

    endpoint = models.CharField(_("endpoint"), max_length=64)
    # Deleting a user keeps the row; the name stays as text.
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        on_delete=models.SET_NULL,
        related_name="+",
        db_index=False,
        verbose_name=_("user"),
    )
    username = models.CharField(_("user name"), max_length=254, blank=True)
    client = models.CharField(_("client"), max_length=200, blank=True)
    protocol = models.CharField(_("protocol"), max_length=20, blank=True)

    class Meta:
        abstract = True
        ordering = ("-started",)
        default_permissions = ("view",)
