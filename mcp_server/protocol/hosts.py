"""Hosts that were accepted before, for the ASGI door: the check costs more than the rest of a request there."""

from typing import Any

from django.conf import settings
from django.core.signals import setting_changed
from django.http.request import split_domain_port, validate_host

_accepted: set[str] = set()
_MOST = 1024


def is_known(host: str) -> bool:
    """Return whether a Host header names a host of this site; where Django must look further, it is not."""
    if host in _accepted:
        return True
    allowed = settings.ALLOWED_HOSTS or ([".localhost", "127.0.0.1", "[::1]"] if settings.DEBUG else [])
    domain, _ = split_domain_port(host)
    if settings.USE_X_FORWARDED_HOST or not (domain and validate_host(domain, allowed)):
        return False
    if len(_accepted) < _MOST:
        _accepted.add(host)
    return True


def _forget(*, setting: str, **kwargs: Any) -> None:
    if setting in {"ALLOWED_HOSTS", "DEBUG", "USE_X_FORWARDED_HOST"}:
        _accepted.clear()


setting_changed.connect(_forget, dispatch_uid="mcp_server.protocol.hosts")
