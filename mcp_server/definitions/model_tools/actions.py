"""What the tools of a model do when they are called; each method takes the request and the arguments by name."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from django.core.exceptions import ValidationError
from django.db import models, router, transaction
from django.db.models import QuerySet
from django.http import HttpRequest

from mcp_server.definitions.model_tools.fields import ModelField
from mcp_server.definitions.model_tools.filters import Filter, ordered
from mcp_server.exceptions import ToolError

UNSET: Any = type("Unset", (), {"__repr__": lambda self: "UNSET"})()
"""The default of an argument that was not given, where None is a value."""


@dataclass(frozen=True, kw_only=True)
class ModelActions:
    """A model, and what its tools may show and change of it.

    Args:
        model: the Django model.
        noun: what one row is called, for messages.
        fields: what is shown, by name.
        writable: what may be set, by name.
        filters: by argument.
        key: the argument that names a row.
        queryset: the rows of a request's user; None is all.
        prepare: completes a row before it is cleaned and saved.
        advice: what to do about a row that is not there.
    """

    model: type[models.Model]
    noun: str
    fields: Mapping[str, ModelField]
    writable: Mapping[str, ModelField] = field(default_factory=dict)
    filters: Mapping[str, Filter] = field(default_factory=dict)
    key: str = "id"
    queryset: Callable[[HttpRequest], QuerySet[Any]] | None = None
    prepare: Callable[[Any, HttpRequest], None] | None = None
    advice: str = ""

    def list(self, request: HttpRequest, given: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Return one page of the rows."""
        chosen = {name: value for name, value in given.items() if value is not UNSET}
        rows = self._rows(request)
        lookups = [item for name, item in self.filters.items() if name in chosen]
        for item in lookups:
            rows = rows.filter(**{item.lookup: chosen[item.lookup]})
        if any(item.multiplies for item in lookups):
            rows = rows.distinct()
        names = list(dict.fromkeys([self.model._meta.pk.name, *chosen.get("fields", self.fields)]))
        many = [name for name in names if self.fields[name].many_to_many]
        rows = ordered(rows, chosen.get("order_by", ())).prefetch_related(*many)
        first = chosen["offset"]
        return [self._show(row, names) for row in rows[first : first + chosen["limit"]]]

    def get(self, request: HttpRequest, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return one row."""
        return self._show(self._find(self._rows(request), given[self.key]), self.fields)

    def create(self, request: HttpRequest, given: Mapping[str, Any]) -> dict[str, Any]:
        """Make a row and return it."""
        with self._writing() as database:
            row = self.model()
            row._state.db = database
            self._fill(row, request, given, ())
            row.save(using=database, force_insert=True)
            return self._finish(row, request, given, database)

    def update(self, request: HttpRequest, given: Mapping[str, Any]) -> dict[str, Any]:
        """Change the given fields of a row and return it."""
        changes = {name: value for name, value in given.items() if name != self.key and value is not UNSET}
        if not changes:
            raise ToolError(f"Give at least one field to change: {', '.join(self.writable)}.", 400)
        with self._writing() as database:
            row = self._lock(request, given[self.key], database)
            untouched = {item.name for item in self.model._meta.fields} - changes.keys()
            self._fill(row, request, changes, untouched)
            row.save(using=database)
            return self._finish(row, request, changes, database)

    def delete(self, request: HttpRequest, given: Mapping[str, Any]) -> None:
        """Delete a row."""
        with self._writing() as database:
            self._lock(request, given[self.key], database).delete()

    def _rows(self, request: HttpRequest) -> QuerySet[Any]:
        return self.model._default_manager.all() if self.queryset is None else self.queryset(request)

    def _find(self, rows: QuerySet[Any], key: Any) -> Any:
        row = rows.filter(pk=key).first()
        if row is None:
            raise ToolError(f"{self.noun.capitalize()} not found.{self.advice}", 404)
        return row

    @contextmanager
    def _writing(self) -> Iterator[str]:
        database = router.db_for_write(self.model)
        with transaction.atomic(using=database):
            yield database

    def _lock(self, request: HttpRequest, key: Any, database: str) -> Any:
        """Return the row, held until the end of the transaction so that no other change of it is lost.

        The user's own queryset decides whether it is there; it may join and group, which cannot be locked.
        """
        found = self._find(self._rows(request).using(database), key)
        rows = self.model._base_manager.using(database).select_for_update()
        return self._find(rows, found.pk)

    def _fill(
        self, row: Any, request: HttpRequest, given: Mapping[str, Any], untouched: Iterable[str]
    ) -> None:
        for name, item in self.writable.items():
            if given.get(name, UNSET) is not UNSET and not item.many_to_many:
                setattr(row, item.attname, given[name])
        if self.prepare is not None:
            self.prepare(row, request)
        row.full_clean(exclude=untouched)

    def _finish(
        self, row: Any, request: HttpRequest, given: Mapping[str, Any], database: str
    ) -> dict[str, Any]:
        for name, item in self.writable.items():
            if item.many_to_many and given.get(name, UNSET) is not UNSET:
                getattr(row, name).set(_related(item, given[name], database))
        # Read again: the database may have rounded, generated or completed a value.
        stored = self._rows(request).using(database).filter(pk=row.pk).first()
        if stored is None:
            raise ToolError(
                f"This {self.noun} would not be among those that you may see; nothing was changed.", 403
            )
        return self._show(stored, self.fields)

    def _show(self, row: Any, names: Iterable[str]) -> dict[str, Any]:
        return {name: _value(row, self.fields[name]) for name in names}


def _value(row: Any, item: ModelField) -> Any:
    if item.many_to_many:
        return sorted(other.pk for other in getattr(row, item.name).all())
    value = item.value_from_object(row)
    # A file is its name.
    return str(value) if isinstance(item, models.FileField) else value


def _related(item: ModelField, keys: Iterable[Any], database: str) -> list[Any]:
    wanted = list(dict.fromkeys(keys))
    manager = item.related_model._default_manager.using(database)
    found = list(manager.complex_filter(item.get_limit_choices_to()).filter(pk__in=wanted))
    missing = [key for key in wanted if key not in {other.pk for other in found}]
    if missing:
        raise ValidationError(
            {item.name: [f"There is no {item.related_model._meta.model_name} {missing[0]}."]}
        )
    return found
