"""Rows as CSV or JSON, streamed so that a million of them need no memory."""

import csv
import json
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from datetime import datetime
from itertools import islice
from typing import Any

from asgiref.sync import sync_to_async
from django.core.handlers.asgi import ASGIRequest
from django.core.serializers.json import DjangoJSONEncoder
from django.db.models import QuerySet
from django.http import HttpRequest, StreamingHttpResponse

CHUNK_ROWS = 500
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")


def export_response(
    request: HttpRequest, rows: QuerySet[Any], fields: Sequence[str], filename: str
) -> StreamingHttpResponse:
    """Return the rows as a file; its ending decides between CSV and JSON."""
    is_csv = filename.endswith(".csv")
    records = rows.values_list(*fields).iterator(chunk_size=CHUNK_ROWS)
    parts = _csv_parts(records, fields) if is_csv else _json_parts(records, fields)
    # Under ASGI Django would read a plain iterator to its end before it sends the first byte.
    content = _asynchronous(parts) if isinstance(request, ASGIRequest) else parts
    return StreamingHttpResponse(
        content,
        content_type="text/csv; charset=utf-8" if is_csv else "application/json",
        headers={"Content-Disposition": f'attachment; filename="{filename}"', "Cache-Control": "no-store"},
    )


def safe_cell(value: Any) -> Any:
    """Return a cell that no spreadsheet takes for a formula: such a text gets an apostrophe in front."""
    if isinstance(value, (dict, list)):
        value = _dumped(value)
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, str) and value.startswith(_FORMULA_STARTS):
        return f"'{value}"
    return value


class _Echo:
    """Gives back what a CSV writer writes."""

    def write(self, text: str) -> str:
        return text


def _csv_parts(records: Iterable[Sequence[Any]], fields: Sequence[str]) -> Iterator[str]:
    writer = csv.writer(_Echo())
    # Excel takes a file for UTF-8 by this mark alone.
    yield "\ufeff" + _row(writer.writerow, fields)
    for record in records:
        yield _row(writer.writerow, record)


def _row(write: Callable[[Iterable[Any]], Any], record: Iterable[Any]) -> str:
    # `csv` returns what the file's own `write` returned, which its types do not say.
    return str(write([safe_cell(value) for value in record]))


def _json_parts(records: Iterable[Sequence[Any]], fields: Sequence[str]) -> Iterator[str]:
    separator = "[\n"
    for record in records:
        yield separator + _dumped(dict(zip(fields, record, strict=True)))
        separator = ",\n"
    yield "[]\n" if separator == "[\n" else "\n]\n"


def _dumped(value: Any) -> str:
    return json.dumps(value, cls=DjangoJSONEncoder, ensure_ascii=False)


async def _asynchronous(parts: Iterator[str]) -> AsyncIterator[str]:
    while chunk := await sync_to_async(lambda: "".join(islice(parts, CHUNK_ROWS)))():
        yield chunk
