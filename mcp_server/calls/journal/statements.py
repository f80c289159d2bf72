"""SQL that stores records: one statement per batch, built from the model's own fields.

`bulk_create` costs a model instance per row, which at full load halves what the ASGI door can serve.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import chain
from operator import attrgetter
from typing import Any

from django.contrib.auth import get_user_model
from django.db import models
from django.db.backends.base.base import BaseDatabaseWrapper

from mcp_server.calls.journal.records import RunRecord
from mcp_server.models import CodeRun

_PASSED_AS_THEY_ARE = (models.TextField, models.IntegerField, models.FloatField)
_WRITTEN_AT_START = {
    "id",
    "endpoint",
    "user",
    "username",
    "client",
    "protocol",
    "process",
    "started",
    "deadline",
    "limits",
}
_WRITTEN_BY_THE_ADMIN = {"stop_requested", "stopped_by"}

_ROWS_AT_ONCE = 100

Converter = Callable[[Any], Any]


def insert(connection: BaseDatabaseWrapper, model: type[models.Model], records: Sequence[Any]) -> None:
    """Store records as rows of a model whose columns they name.

    Many rows go in one statement: a driver gives up the interpreter's lock at each, and to get it back from busy threads
    costs more than the row.
    """
    # `stop_requested` is empty at first; the record does not know it.
    fields = [field for field in model._meta.concrete_fields if field.name != "stop_requested"]
    most = min(_ROWS_AT_ONCE, (connection.features.max_query_params or 65_535) // len(fields))
    rows = list(_rows(connection, fields, records))
    with connection.cursor() as cursor:
        for start in range(0, len(rows), most):
            part = rows[start : start + most]
            cursor.execute(_statement(connection, model, fields, len(part)), list(chain.from_iterable(part)))


def _statement(
    connection: BaseDatabaseWrapper, model: type[models.Model], fields: Sequence[Any], rows: int
) -> str:
    quote = connection.ops.quote_name
    columns = ", ".join(quote(field.column or field.attname) for field in fields)
    row = f"({', '.join(['%s'] * len(fields))})"
    # Names are those of our own models; values travel beside.
    return f"INSERT INTO {quote(model._meta.db_table)} ({columns}) VALUES {', '.join([row] * rows)}"  # noqa: S608


def end_run(connection: BaseDatabaseWrapper, record: RunRecord) -> None:
    """Write a run's end into its row, or the whole row when its start could not be stored."""
    values = {
        field.attname: getattr(record, field.attname)
        for field in CodeRun._meta.concrete_fields
        if field.name not in _WRITTEN_AT_START | _WRITTEN_BY_THE_ADMIN
    }
    if not CodeRun.objects.using(connection.alias).filter(pk=record.id).update(**values):
        insert(connection, CodeRun, [record])


def forget_missing_users(connection: BaseDatabaseWrapper, records: Collection[Any]) -> None:
    """Take users who were deleted meanwhile out of the records; their names stay."""
    wanted = {record.user_id for record in records if record.user_id is not None}
    users = get_user_model()._base_manager.using(connection.alias)
    known = set(users.filter(pk__in=wanted).values_list("pk", flat=True))
    for record in records:
        if record.user_id not in known:
            record.user_id = None


def _rows(
    connection: BaseDatabaseWrapper, fields: Sequence[Any], records: Iterable[Any]
) -> Iterator[list[Any]]:
    read = attrgetter(*(field.attname for field in fields))
    # Most values go as they are; asking their fields to prepare them would double the cost of a row.
    converters = [
        (place, _converter(connection, field))
        for place, field in enumerate(fields)
        if not isinstance(field, _PASSED_AS_THEY_ARE)
    ]
    for record in records:
        row = list(read(record))
        for place, convert in converters:
            if row[place] is not None:
                row[place] = convert(row[place])
        yield row


def _converter(connection: BaseDatabaseWrapper, field: Any) -> Converter:
    if isinstance(field, models.CharField):
        return lambda value: value[: field.max_length]
    return lambda value: field.get_db_prep_save(value, connection=connection)
