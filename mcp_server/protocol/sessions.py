"""Sessions of the 2025 eras as signed ids: any process of the site can serve any of them (contract P07).

The id itself holds what a session is: revision, client, the capabilities that matter, and to whom it belongs. Only its
early end is kept elsewhere, in the database.
"""

import hashlib
import json
import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.core import signing
from django.utils import timezone

from mcp_server.access.principal import Principal
from mcp_server.models import EndedSession

MAX_AGE = timedelta(days=7)
_SALT = "mcp_server.session"
_USED_CAPABILITIES = ("elicitation", "sampling", "roots")
_REMEMBERED_SECONDS = 1.0
_REMEMBERED = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """One client's session. `nonce` names it in topics, caches and the database."""

    nonce: str
    version: str
    client: Mapping[str, str]
    capabilities: Mapping[str, Any]


def issue(params: Mapping[str, Any], version: str, principal: Principal) -> str:
    """Return the id of a new session.

    Args:
        params: of the `initialize` request, already validated.
        version: the negotiated revision.
        principal: to whom the session belongs.
    """
    info = params["clientInfo"]
    given: Mapping[str, Any] = params["capabilities"]
    payload = {
        "n": secrets.token_urlsafe(16),
        "v": version,
        "i": {"name": info["name"][:100], "version": info["version"][:100]},
        "c": {name: _shorten(given[name]) for name in _USED_CAPABILITIES if given.get(name) is not None},
        "o": _owner(principal),
    }
    return signing.dumps(payload, salt=_SALT, compress=True)


def recall(session_id: str, principal: Principal) -> Session | None:
    """Return a session that was read and found alive a moment ago, in this process; None where it must be read anew."""
    found = _recent.get((session_id, _owner(principal)))
    return found if found is not None and seems_alive(found) else None


def _shorten(capability: Any) -> dict[str, Any]:
    """Return the parts of a capability by name: what a client adds beyond them may be of any size."""
    return {str(key)[:20]: {} for key in list(capability)[:10]}


def _owner(principal: Principal) -> str:
    # Hashed, since the id travels through clients and logs.
    text = json.dumps([principal.identity, principal.credential])
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def read(session_id: str, principal: Principal) -> Session | None:
    """Return the session, or None where the id is not ours, too old, or somebody else's."""
    try:
        payload = signing.loads(session_id, salt=_SALT, max_age=MAX_AGE)
    except signing.BadSignature:
        return None
    owner = _owner(principal)
    if payload["o"] != owner:
        return None
    found = Session(nonce=payload["n"], version=payload["v"], client=payload["i"], capabilities=payload["c"])
    if len(_recent) >= _REMEMBERED:
        _recent.clear()
    _recent[session_id, owner] = found
    return found


# When each session was last seen alive; kept for a second, so that a burst of requests asks the database once.
_alive: dict[str, float] = {}
_recent: dict[tuple[str, str], Session] = {}


def seems_alive(session: Session) -> bool:
    """Return whether the session was found alive a moment ago, in this process."""
    return time.monotonic() - _alive.get(session.nonce, float("-inf")) < _REMEMBERED_SECONDS


def is_ended(session: Session) -> bool:
    """Return whether the session was ended; asks the database."""
    if EndedSession.objects.holds(session.nonce):
        return True
    if len(_alive) >= _REMEMBERED:
        _alive.clear()
    _alive[session.nonce] = time.monotonic()
    return False


def end(session: Session) -> None:
    """End a session for all processes."""
    _alive.pop(session.nonce, None)
    EndedSession.objects.add(session.nonce, timezone.now() + MAX_AGE)
