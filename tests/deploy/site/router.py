"""Parcels live in a database of their own, everything else in the default one."""

from typing import Any


class Router:
    """Django's database router."""

    def db_for_read(self, model: Any, **hints: Any) -> str | None:
        return "parcels" if model._meta.app_label == "parcels" else None

    db_for_write = db_for_read

    def allow_migrate(self, db: str, app_label: str, **hints: Any) -> bool:
        return (db == "parcels") == (app_label == "parcels")
