"""Watches what decides about rights, and announces changes: groups, permissions, users and tokens (contract P06)."""

from typing import Any

from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group
from django.db.models.signals import m2m_changed, post_delete, post_save

from mcp_server.bus.events import announce_rights
from mcp_server.models import Token

_CHANGES = {"post_add", "post_remove", "post_clear"}


def connect() -> None:
    """Begin to watch; called once, when all apps are ready."""
    user = get_user_model()
    for model, name in ((user, "groups"), (user, "user_permissions"), (Group, "permissions")):
        field: Any = getattr(model, name, None)
        if field is not None:
            m2m_changed.connect(
                _on_links, sender=field.through, dispatch_uid=f"mcp_server.{model.__name__}.{name}"
            )
    post_save.connect(_on_user, sender=user, dispatch_uid="mcp_server.user")
    post_delete.connect(_on_user, sender=user, dispatch_uid="mcp_server.user.deleted")
    post_save.connect(_on_token, sender=Token, dispatch_uid="mcp_server.token")
    post_delete.connect(_on_token, sender=Token, dispatch_uid="mcp_server.token.deleted")


def _on_links(*, instance: Any, action: str, reverse: bool, pk_set: set[Any] | None, **kwargs: Any) -> None:
    if action not in _CHANGES:
        return
    if isinstance(instance, get_user_model()):
        announce_rights(instance.pk)
    elif reverse and pk_set and isinstance(instance, Group):
        # `group.user_set.add(...)`: the other side are users.
        for key in pk_set:
            announce_rights(key)
    else:
        announce_rights()


def _on_user(*, instance: Any, update_fields: frozenset[str] | None = None, **kwargs: Any) -> None:
    # Each sign-in writes this field alone.
    if update_fields != frozenset({"last_login"}):
        announce_rights(instance.pk)


def _on_token(*, instance: Token, **kwargs: Any) -> None:
    announce_rights(instance.user_id)
