"""Tokens: how a client without a browser signs in (contract G05)."""

import hashlib
import secrets
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any, Self

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

PLAIN_TEXT_PREFIX = "mcp_"
SHOWN_CHARACTERS = 10
LAST_USED_STEP = timedelta(minutes=1)


class TokenQuerySet(models.QuerySet["Token"]):
    """Tokens, to be filtered further."""

    def issue(
        self, user: Any, name: str, scopes: Iterable[str] = (), expires: datetime | None = None
    ) -> tuple["Token", str]:
        """Return a new token and its plain text, which nobody can read again.

        Args:
            user: whose rights the token carries.
            name: what its owner calls it, at most 100 characters.
            scopes: narrows the user's rights; none means all of them.
            expires: when it ends; None means never.
        """
        token, plain_text = self.model.prepare(user=user, name=name, scopes=scopes, expires=expires)
        token.save(using=self.db, force_insert=True)
        return token, plain_text

    def usable(self) -> Self:
        """Return the tokens that are neither revoked nor expired."""
        return self.filter(models.Q(expires=None) | models.Q(expires__gt=timezone.now()), revoked=None)

    def find(self, plain_text: str) -> "Token | None":
        """Return the token with its user, live or not, or None; the look-up reveals nothing by its duration."""
        return self.select_related("user").filter(digest=Token.digest_of(plain_text)).first()

    def revoke(self) -> int:
        """End these tokens and return how many were not revoked until now."""
        return self.filter(revoked=None).update(revoked=timezone.now())


class Token(models.Model):
    """A client's credential. Only its digest is stored: 256 random bits need no slow hash."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="mcp_tokens", verbose_name=_("user")
    )
    name = models.CharField(_("name"), max_length=100)
    digest = models.CharField(_("digest"), max_length=64, unique=True, editable=False)
    prefix = models.CharField(_("begins with"), max_length=SHOWN_CHARACTERS, editable=False)
    scopes = models.JSONField(_("scopes"), default=list, blank=True)
    created = models.DateTimeField(_("created"), default=timezone.now, editable=False)
    expires = models.DateTimeField(_("expires"), null=True, blank=True)
    last_used = models.DateTimeField(_("last used"), null=True, editable=False)
    revoked = models.DateTimeField(_("revoked"), null=True, editable=False)

    objects = TokenQuerySet.as_manager()

    class Meta:
        verbose_name = _("token")
        verbose_name_plural = _("tokens")
        ordering = ("-created",)

    def __str__(self) -> str:
        return f"{self.name} ({self.prefix}…)"

    @classmethod
    def prepare(cls, **values: Any) -> tuple["Token", str]:
        """Return an unsaved token and its plain text; `values` are the fields that a person chooses."""
        token = cls(**{**values, "scopes": sorted(set(values.get("scopes", ())))})
        return token, token.make_secret()

    def make_secret(self) -> str:
        """Give this unsaved token its secret and return it as plain text."""
        plain_text = PLAIN_TEXT_PREFIX + secrets.token_urlsafe(32)
        self.digest = self.digest_of(plain_text)
        self.prefix = plain_text[:SHOWN_CHARACTERS]
        return plain_text

    @staticmethod
    def digest_of(plain_text: str) -> str:
        """Return the digest under which a plain text is stored: SHA-256, 64 hexadecimal digits."""
        # Whatever bytes a client sends must find nothing instead of failing.
        return hashlib.sha256(plain_text.encode("utf-8", "surrogatepass")).hexdigest()

    def is_usable(self, now: datetime) -> bool:
        """Return whether the token is neither revoked nor expired; whether its user is active is another question."""
        return self.revoked is None and (self.expires is None or self.expires > now)

    def touch(self) -> bool:
        """Note that the token was used just now, at most once a minute over all processes; return whether it wrote."""
        now = timezone.now()
        if self.last_used is not None and now - self.last_used < LAST_USED_STEP:
            return False
        stale = models.Q(last_used=None) | models.Q(last_used__lte=now - LAST_USED_STEP)
        written = type(self).objects.filter(stale, pk=self.pk).update(last_used=now)
        self.last_used = now
        return bool(written)
