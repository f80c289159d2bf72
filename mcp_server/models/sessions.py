"""What must not be lost of sessions and questions to users, so it is not in a cache (contract P07)."""

from datetime import datetime

from django.db import IntegrityError, models, transaction
from django.utils import timezone
from django.utils.translation import gettext_lazy as _


class ExpiringKeyQuerySet(models.QuerySet["ExpiringKey"]):
    """Keys that matter until they expire."""

    def add(self, key: str, expires: datetime) -> bool:
        """Return True for the one caller, over all processes, that adds this key first.

        Args:
            key: at most 64 characters, a digest rather than the thing itself.
            expires: when the key may be forgotten, because what it names is refused by its age from then on.
        """
        try:
            with transaction.atomic(using=self.db):
                self.create(key=key, expires=expires)
        except IntegrityError:
            return False
        return True

    def holds(self, key: str) -> bool:
        """Return whether the key was added."""
        return self.filter(key=key).exists()

    def forget_expired(self) -> int:
        """Delete what is past its time and return how many rows went."""
        return self.filter(expires__lt=timezone.now()).delete()[0]


class ExpiringKey(models.Model):
    """A key that is remembered until it expires."""

    key = models.CharField(_("key"), max_length=64, primary_key=True)
    expires = models.DateTimeField(_("expires"), db_index=True)

    objects = ExpiringKeyQuerySet.as_manager()

    class Meta:
        abstract = True
        default_permissions = ()

    def __str__(self) -> str:
        return self.key


class EndedSession(ExpiringKey):
    """A 2025 session that was ended: its id is signed and would be good until it expires."""

    class Meta(ExpiringKey.Meta):
        verbose_name = _("ended session")
        verbose_name_plural = _("ended sessions")


class UsedState(ExpiringKey):
    """A sealed state of a question to the user that has been answered, so that no one can answer it twice."""

    class Meta(ExpiringKey.Meta):
        verbose_name = _("used state")
        verbose_name_plural = _("used states")
