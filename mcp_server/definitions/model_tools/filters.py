"""Which rows a list shows: filters in Django's own lookup language, chosen by the author, and the order."""

import datetime as dt
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from django.core.exceptions import FieldDoesNotExist
from django.db import models
from django.db.models import QuerySet

from mcp_server.definitions.model_tools.fields import ModelField, input_type, list_of, value_type
from mcp_server.exceptions import ConfigurationError

_SAME = frozenset({"exact", "gt", "gte", "lt", "lte"})
_TEXT = frozenset({"iexact", "contains", "icontains", "startswith", "istartswith", "endswith", "iendswith"})
_OTHER: Mapping[str, Any] = {"isnull": bool, "date": dt.date, "year": int, "month": int, "day": int}
LOOKUPS = (*sorted(_SAME), "in", *sorted(_TEXT), *_OTHER)


@dataclass(frozen=True, slots=True)
class Filter:
    """One filter: its lookup, the type of its value, and whether it may find a row more than once."""

    lookup: str
    annotation: Any
    multiplies: bool = False


def read_filters(
    model: type[models.Model], names: Iterable[str] | None, fields: Mapping[str, ModelField]
) -> dict[str, Filter]:
    """Return the filters by the names of their arguments.

    Args:
        model: whose rows are filtered.
        names: lookups such as `status`, `sent__gte` or `user__username`; None makes them from the fields.
        fields: those that the tools show.

    Raises:
        ConfigurationError: for a lookup that Django does not have.
    """
    chosen = _usual(fields) if names is None else list(names)
    return {name: _read(model, name) for name in chosen}


def _usual(fields: Mapping[str, ModelField]) -> list[str]:
    found = []
    for name, field in fields.items():
        if field.primary_key:
            continue
        if isinstance(field, models.DateField):
            found += [f"{name}__gte", f"{name}__lte"]
        elif field.is_relation or field.flatchoices or isinstance(field, models.BooleanField):
            found.append(name)
    return found


def _read(model: type[models.Model], name: str) -> Filter:
    path, lookup, multiplies = _walk(model, name)
    field = path[-1]
    if lookup in _TEXT:
        return Filter(name, str, multiplies)
    if lookup in _OTHER:
        return Filter(name, _OTHER[lookup], multiplies)
    one = value_type(field.related_model._meta.pk) if field.is_relation else None
    found = one or input_type(field, filtering=True)
    if lookup == "in":
        return Filter(name, list_of(found), multiplies)
    if lookup in _SAME:
        return Filter(name, found, multiplies)
    raise ConfigurationError(
        f"filter {name!r} ends in {lookup!r}, which is no lookup.", f"The lookups are {', '.join(LOOKUPS)}."
    )


def _walk(model: type[models.Model], name: str) -> tuple[list[ModelField], str, bool]:
    """Return the fields that a lookup passes, the lookup at its end, and whether a relation to many is among them."""
    path: list[ModelField] = []
    parts = name.split("__")
    here: Any = model
    while parts and here is not None:
        try:
            field = here._meta.pk if parts[0] == "pk" else here._meta.get_field(parts[0])
        except FieldDoesNotExist:
            break
        path.append(field)
        parts.pop(0)
        here = field.related_model if field.is_relation else None
    if not path:
        names = ", ".join(field.name for field in model._meta.concrete_fields)
        raise ConfigurationError(
            f"filter {name!r} begins with no field of {model.__name__}.", f"Its fields are {names}."
        )
    multiplies = any(field.one_to_many or field.many_to_many for field in path if field.is_relation)
    return path, "__".join(parts) or "exact", multiplies


def read_ordering(names: Iterable[str] | None, fields: Mapping[str, ModelField]) -> Any:
    """Return the type of one entry of `order_by`, or None where nothing may be chosen.

    Raises:
        ConfigurationError: for a name that the tools do not show.
    """
    sortable = [
        name
        for name, field in fields.items()
        if not field.many_to_many and not isinstance(field, models.JSONField)
    ]
    chosen = sortable if names is None else list(names)
    for name in chosen:
        if name not in sortable:
            raise ConfigurationError(f"ordering has {name!r}.", f"Choose among {', '.join(sortable)}.")
    return Literal[tuple(sign + name for name in chosen for sign in ("", "-"))] if chosen else None


def ordered(rows: QuerySet[Any], wanted: Iterable[str]) -> QuerySet[Any]:
    """Return the rows in an order that is the same at each call, so that pages neither repeat nor skip one."""
    given: list[Any] = list(wanted) or list(rows.query.order_by) or list(rows.model._meta.ordering)
    return rows.order_by(*given, "pk")
