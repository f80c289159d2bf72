"""The admin's row of an endpoint: read afresh for a run, at most a second old for what is asked at every call."""

import logging
import math
import time

from django.db import DatabaseError
from django.db.models.signals import post_delete, post_save

from mcp_server.models import Limits as Row
from mcp_server.models.connections import is_in_transaction, is_on_event_loop

logger = logging.getLogger("mcp_server")

RECENT_SECONDS = 1.0
UNKNOWN = Row()
"""Stands for a row that must be read before anything can be said of it."""

RENEW_SECONDS = 0.5

_promised: dict[str, float] = {}
"""When somebody was last told to renew a row."""

_recent: dict[str, tuple[float, Row | None]] = {}


def row(endpoint_name: str) -> Row | None:
    """Return what staff set for an endpoint, from the database."""
    return Row.objects.filter(endpoint=endpoint_name).first()


def recent_row(endpoint_name: str) -> Row | None:
    """Return the row as it was at most a second ago.

    Inside a transaction it is read afresh: what a test or an admin action changed and took back must not linger.
    """
    if is_in_transaction(Row):
        return row(endpoint_name)
    known = _recent.get(endpoint_name)
    if known is not None and (time.monotonic() - known[0] < RECENT_SECONDS or is_on_event_loop()):
        # A coroutine asks `remembered_row` first; what changed since then counts from the next question on.
        return known[1]
    return renew(endpoint_name)


def renew(endpoint_name: str) -> Row | None:
    """Read the row and remember it."""
    try:
        found = row(endpoint_name)
    except DatabaseError as error:
        # What staff set last goes on to hold: a call that needs no database must not fail for this question.
        logger.warning("Cannot read the limits of endpoint %s: %s", endpoint_name, type(error).__name__)
        known = _recent.get(endpoint_name)
        found = known[1] if known is not None else None
    _recent[endpoint_name] = (time.monotonic(), found)
    return found


def remembered_row(endpoint_name: str) -> Row | None:
    """Return the row if it is known and recent, else `UNKNOWN`; touches no database, so a coroutine may ask."""
    known = _recent.get(endpoint_name)
    return known[1] if known is not None and time.monotonic() - known[0] < RECENT_SECONDS else UNKNOWN


def is_due(endpoint_name: str) -> bool:
    """Return whether the row is about to be unknown; the one who is told so renews it, on a thread."""
    now = time.monotonic()
    read_at, _ = _recent.get(endpoint_name, (now, None))
    due = max(read_at, _promised.get(endpoint_name, read_at)) + RENEW_SECONDS <= now
    if due:
        _promised[endpoint_name] = now
    return due


def _forget(**kwargs: object) -> None:
    # Made old rather than taken away: a coroutine that has just asked must not be sent to the database.
    _recent.update({name: (-math.inf, known) for name, (_, known) in list(_recent.items())})


# This process need not wait for the second to pass.
post_save.connect(_forget, sender=Row, dispatch_uid="mcp_server.policy.rows")
post_delete.connect(_forget, sender=Row, dispatch_uid="mcp_server.policy.rows")
