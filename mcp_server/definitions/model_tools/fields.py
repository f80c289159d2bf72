"""Django's model fields as Python types, from which schemas are made."""

import datetime as dt
import uuid
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Annotated, Any, Literal

from django.core.exceptions import FieldDoesNotExist
from django.core.validators import (
    MaxLengthValidator,
    MaxValueValidator,
    MinLengthValidator,
    MinValueValidator,
)
from django.db import models
from pydantic import Field as SchemaField

from mcp_server.exceptions import ConfigurationError

ModelField = Any
"""A field of a model: Django types it by what it holds, which is not known here."""

_KINDS: tuple[tuple[type[Any], Any], ...] = (
    (models.BooleanField, bool),
    (models.IntegerField, int),
    (models.FloatField, float),
    (models.DecimalField, Decimal),
    (models.UUIDField, uuid.UUID),
    # A DateTimeField is a DateField.
    (models.DateTimeField, dt.datetime),
    (models.DateField, dt.date),
    (models.TimeField, dt.time),
    (models.DurationField, dt.timedelta),
    (models.JSONField, Any),
    (models.CharField, str),
    (models.TextField, str),
    (models.GenericIPAddressField, str),
    (models.FilePathField, str),
    (models.FileField, str),
)
_BOUNDS: Mapping[type[Any], str] = {
    MinValueValidator: "ge",
    MaxValueValidator: "le",
    MinLengthValidator: "min_length",
    MaxLengthValidator: "max_length",
}
_BOUNDED = (int, float, Decimal, str)
_WIDEST = 2**31 - 1
"""A bound of the column type alone says nothing to a model."""


def read_fields(model: type[models.Model], names: Iterable[str]) -> dict[str, ModelField]:
    """Return the fields of those names, the primary key first, whether named or not.

    Raises:
        ConfigurationError: for a name that is no field of the model, or a field that JSON cannot hold.
    """
    if isinstance(names, str):
        raise ConfigurationError(f"fields={names!r} is a text.", f"Write fields=[{names!r}].")
    key = model._meta.pk
    found: dict[str, ModelField] = {key.name: key}
    for name in names:
        found["pk" if name == "pk" else name] = find_field(model, name)
    found.pop("pk", None)
    for field in found.values():
        value_type(field)
    return found


def find_field(model: type[models.Model], name: str) -> ModelField:
    """Return a field with a column or a relation of its own.

    Raises:
        ConfigurationError: when the model has none of that name.
    """
    own = [field.name for field in (*model._meta.concrete_fields, *model._meta.many_to_many)]
    try:
        field = model._meta.get_field(model._meta.pk.name if name == "pk" else name)
    except FieldDoesNotExist:
        field = None
    if field is None or field.name not in own:
        raise ConfigurationError(
            f"{model.__name__} has no field {name!r}.", f"Its fields are {', '.join(own)}."
        )
    return field


def value_type(field: ModelField) -> Any:
    """Return the Python type of one value of a field, None aside; a relation's is that of the other's key.

    Raises:
        ConfigurationError: for a field whose values JSON cannot hold.
    """
    if field.is_relation and field.many_to_many:
        return list_of(value_type(field.related_model._meta.pk))
    if field.is_relation and field.related_model is not None and hasattr(field, "target_field"):
        return value_type(field.target_field)
    field = getattr(field, "output_field", field)  # a GeneratedField
    if hasattr(field, "base_field"):  # PostgreSQL's arrays
        return list_of(value_type(field.base_field))
    for kind, found in _KINDS:
        if isinstance(field, kind):
            return found
    raise ConfigurationError(
        f"field {field.name!r} is a {type(field).__name__}, whose values JSON cannot hold.",
        "Leave it out of fields.",
    )


def list_of(found: Any) -> Any:
    """Return the type of a list of such values, made at run time for pydantic."""
    return list[found]


def output_type(field: ModelField) -> Any:
    """Return the type of a field in a result; what is stored may be older than its choices and limits."""
    found = value_type(field)
    return found | None if field.null and found is not Any else found


def input_type(field: ModelField, *, filtering: bool = False) -> Any:
    """Return the type of a field in arguments, with its choices, limits and help text.

    Args:
        field: of the model.
        filtering: whether the value is compared rather than stored; then it is never None.
    """
    found, details = _chosen(field), {}
    if found in _BOUNDED and not filtering:
        details = _bounds(field)
    if not filtering and field.null and found is not Any:
        found = found | None
    if field.help_text:
        details["description"] = str(field.help_text)
    return Annotated[found, SchemaField(**details)] if details else found


def _chosen(field: ModelField) -> Any:
    values = [value for value, _ in getattr(field, "flatchoices", ()) if value is not None]
    if not values or not all(isinstance(value, str | int | bool) for value in values):
        return value_type(field)
    if field.blank and value_type(field) is str and "" not in values:
        values.append("")
    return Literal[tuple(values)]


def _bounds(field: ModelField) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for validator in field.validators:
        key = _BOUNDS.get(type(validator))
        if key is None:
            continue
        limit: Any = None if callable(validator.limit_value) else validator.limit_value
        if isinstance(limit, int | float | Decimal) and -_WIDEST < limit < _WIDEST:
            found[key] = limit
    if isinstance(field, models.PositiveIntegerField | models.PositiveSmallIntegerField):
        found.setdefault("ge", 0)
    return found


def is_writable(field: ModelField) -> bool:
    """Return whether arguments may set the field: editable, no file, and no key that the database makes."""
    made = isinstance(field, models.AutoField | models.BigAutoField | models.SmallAutoField)
    return bool(field.editable) and not made and not isinstance(field, models.FileField)


def is_optional(field: ModelField) -> bool:
    """Return whether a new row can do without a value for the field."""
    return bool(field.blank or field.null or field.has_default() or _has_database_default(field))


def _has_database_default(field: ModelField) -> bool:
    return getattr(field, "db_default", models.NOT_PROVIDED) is not models.NOT_PROVIDED
