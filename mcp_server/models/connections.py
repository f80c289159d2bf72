"""What this thread's database connections are in the middle of."""

import asyncio

from django.db import connections, router
from django.db.models import Model


def is_in_transaction(model: type[Model] | None = None) -> bool:
    """Return whether this thread is in a transaction on the model's database, or on any database without a model.

    Opens nothing, and asks no further on an event loop's thread, whose code can be in no transaction.
    """
    if is_on_event_loop():
        return False
    opened = connections.all(initialized_only=True)
    if model is None or not opened:
        return any(connection.in_atomic_block for connection in opened)
    alias = router.db_for_write(model)
    return any(connection.in_atomic_block for connection in opened if connection.alias == alias)


def is_on_event_loop() -> bool:
    """Return whether this thread is running an event loop at this moment."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
