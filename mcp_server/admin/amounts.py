"""Amounts in words: times, sizes, shares."""

from collections.abc import Mapping
from datetime import datetime

from django.template.defaultfilters import filesizeformat
from django.utils import timezone
from django.utils.formats import number_format
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

UNITS: Mapping[str, str | Promise] = {
    "MB": gettext_lazy("MB"),
    "ms": gettext_lazy("ms"),
    "bytes": gettext_lazy("bytes"),
    "calls": gettext_lazy("calls"),
    "entries": gettext_lazy("entries"),
    "runs per web process": gettext_lazy("runs per web process"),
}
"""The units of `conf.LIMIT_FIELDS` in the reader's language."""

BLANK = "\N{EN DASH}"


def local(moment: datetime) -> datetime:
    """Return the moment in the reader's time zone, where the project uses time zones."""
    return timezone.localtime(moment) if timezone.is_aware(moment) else moment


def duration(milliseconds: float | None) -> str:
    """Return `0.4 ms`, `230 ms` or `1.25 s`."""
    if milliseconds is None:
        return BLANK
    if milliseconds >= 1000:
        return _("%s s") % _decimals(milliseconds / 1000, 2)
    return _("%s ms") % _decimals(milliseconds, 0 if milliseconds >= 10 else 1)


def size(number: float | None) -> str:
    """Return a size in bytes as people write it."""
    return BLANK if number is None else filesizeformat(number)


def megabytes(number: float | None) -> str:
    """Return `12.5 MB`."""
    return BLANK if number is None else _("%s MB") % number_format(number, 1)


def amount(value: float, unit: str) -> str:
    """Return a limit's value with its unit, times and sizes as people write them."""
    if unit == "bytes":
        return size(value)
    if unit == "ms":
        return duration(value)
    return f"{number_format(value, 0, use_l10n=True, force_grouping=True)} {UNITS[unit]}"


def _decimals(value: float, places: int) -> str:
    return number_format(value, 0 if round(value, places) == int(value) else places)
