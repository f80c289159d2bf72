"""Template tags of the admin pages."""

from datetime import date, datetime, timedelta
from typing import Any

import django
from django.contrib.admin.utils import label_for_field
from django.contrib.admin.views.main import ChangeList
from django.db.models import QuerySet
from django.template import Library
from django.utils.formats import date_format

from mcp_server.admin import amounts, outcomes

register = Library()
register.filter("duration", amounts.duration)
register.filter("size", amounts.size)
register.filter("megabytes", amounts.megabytes)
register.filter("outcome_badge", outcomes.outcome_badge)
register.filter("outcome_tone", outcomes.outcome_tone)

MOST_DAYS = 45


@register.simple_tag
def breadcrumbs_are_a_list() -> bool:
    """Return whether this Django's admin styles breadcrumbs as a list; before 6.1 it styled a box of links."""
    return django.VERSION >= (6, 1)


@register.inclusion_tag("admin/date_hierarchy.html")
def log_date_hierarchy(cl: ChangeList) -> dict[str, Any]:
    """Offer the days between the first and the last row, or the months.

    Django's own tag looks at every row to leave out the days that have none.
    """
    field = cl.date_hierarchy or ""
    chosen = {part: cl.params.get(f"{field}__{part}") for part in ("year", "month", "day")}
    names = [f"{field}__{part}" for part in chosen]
    shown = {"show": True, "field_name": label_for_field(field, cl.model)}
    back = {"link": cl.get_query_string(remove=names), "title": "…"} if any(chosen.values()) else None
    if chosen["day"]:
        day = date(*(int(_single(chosen[part])) for part in ("year", "month", "day")))
        return {**shown, "back": back, "choices": [{"title": date_format(day)}]}
    choices = _day_choices(cl, field, names) or _month_choices(cl, field, names)
    return {**shown, "show": bool(choices or back), "back": back, "choices": choices}


def _single(value: Any) -> Any:
    return value[-1] if isinstance(value, list) else value


def _lookups(field: str, day: date) -> dict[str, Any]:
    return {f"{field}__year": day.year, f"{field}__month": day.month, f"{field}__day": day.day}


def _bounds(rows: QuerySet[Any], field: str) -> tuple[date, date] | None:
    # Two look-ups at the ends of an index; asked for together, SQLite reads all of it.
    ends = [rows.order_by(order).values_list(field, flat=True).first() for order in (field, f"-{field}")]
    first, last = (_local_day(moment) for moment in ends)
    return None if first is None or last is None else (first, last)


def _local_day(moment: datetime | None) -> date | None:
    if moment is None:
        return None
    return amounts.local(moment).date()


def _days(rows: QuerySet[Any], field: str) -> list[date]:
    bounds = _bounds(rows, field)
    if bounds is None or (bounds[1] - bounds[0]).days > MOST_DAYS:
        return []
    return [bounds[0] + timedelta(days=number) for number in range((bounds[1] - bounds[0]).days + 1)]


def _day_choices(cl: ChangeList, field: str, names: list[str]) -> list[dict[str, Any]]:
    return [
        {
            "link": cl.get_query_string(_lookups(field, day), names),
            "title": date_format(day, "MONTH_DAY_FORMAT"),
        }
        for day in _days(cl.queryset, field)
    ]


def _month_choices(cl: ChangeList, field: str, names: list[str]) -> list[dict[str, Any]]:
    bounds = _bounds(cl.queryset, field)
    if bounds is None:
        return []
    first, last = (day.year * 12 + day.month - 1 for day in bounds)
    months = [date(number // 12, number % 12 + 1, 1) for number in range(first, last + 1)]
    return [
        {
            "link": cl.get_query_string(
                {f"{field}__year": month.year, f"{field}__month": month.month}, names
            ),
            "title": date_format(month, "YEAR_MONTH_FORMAT"),
        }
        for month in months
    ]
