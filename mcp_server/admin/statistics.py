"""Numbers for the overview: how much, how well, how fast, by whom (contract A05)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Avg, Count, Q, QuerySet
from django.db.models.functions import TruncDay, TruncHour
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from mcp_server.admin import amounts

SAMPLE = 5000
"""Percentiles come from the newest calls, so that a long period costs no more than a short one."""

TOP = 8


@dataclass(frozen=True, slots=True)
class Period:
    """A stretch of time until now, cut into steps."""

    name: str
    label: str | Promise
    step: timedelta
    steps: int

    def starts(self, now: datetime) -> list[datetime]:
        """Return the start of each step, the last one being the one that goes on now."""
        local = amounts.local(now)
        last = local.replace(minute=0, second=0, microsecond=0)
        if self.step >= timedelta(days=1):
            last = last.replace(hour=0)
        return [last - self.step * number for number in range(self.steps - 1, -1, -1)]


PERIODS: Mapping[str, Period] = {
    period.name: period
    for period in (
        Period("day", _("24 hours"), timedelta(hours=1), 24),
        Period("week", _("7 days"), timedelta(days=1), 7),
        Period("month", _("30 days"), timedelta(days=1), 30),
    )
}


@dataclass(frozen=True, slots=True)
class Bar:
    """One step of a chart, its heights in hundredths of the highest one."""

    start: datetime
    good: int
    bad: int
    left: float
    width: float
    good_height: float
    bad_height: float

    @property
    def good_top(self) -> float:
        """Where the part of what went well begins, from above."""
        return round(100 - self.good_height, 2)

    @property
    def bad_top(self) -> float:
        """Where the part of the failures begins, on top of the other."""
        return round(100 - self.good_height - self.bad_height, 2)


@dataclass(slots=True)
class Chart:
    """Rows over time; `highest` is the number at the top of its scale."""

    title: str | Promise
    bars: Sequence[Bar] = ()
    total: int = 0
    failed: int = 0
    highest: int = 0

    @property
    def share(self) -> float:
        """How many of a hundred failed."""
        return 100 * self.failed / self.total if self.total else 0.0


@dataclass(frozen=True, slots=True)
class Rank:
    """A tool or a user with their numbers; `width` is in hundredths of the first one's."""

    name: str
    total: int
    failed: int
    mean: float | None
    width: float


@dataclass(slots=True)
class Statistics:
    """All numbers of a period."""

    period: Period
    charts: list[Chart] = field(default_factory=list)
    median: float | None = None
    slow: float | None = None
    sampled: int = 0
    tools: list[Rank] = field(default_factory=list)
    users: list[Rank] = field(default_factory=list)


def gather(period: Period, calls: QuerySet[Any] | None, runs: QuerySet[Any] | None) -> Statistics:
    """Return the numbers of a period.

    Args:
        period: until now.
        calls: all tool calls that the reader may see, or None.
        runs: all code runs that the reader may see, or None.
    """
    starts = period.starts(timezone.now())
    found = Statistics(period)
    if calls is not None:
        recent = calls.filter(started__gte=starts[0])
        found.charts.append(_chart(_("Tool calls"), recent, period, starts))
        durations = sorted(recent.order_by("-started").values_list("duration_ms", flat=True)[:SAMPLE])
        found.median, found.slow, found.sampled = (
            _rank(durations, 0.5),
            _rank(durations, 0.95),
            len(durations),
        )
        found.tools = _ranking(recent, "tool", "duration_ms")
        found.users = _ranking(recent.exclude(username=""), "username", "duration_ms")
    if runs is not None:
        recent = runs.filter(started__gte=starts[0])
        found.charts.insert(0, _chart(_("Code runs"), recent, period, starts))
    return found


def _rank(ordered: Sequence[float], part: float) -> float | None:
    """Return the value below which `part` of an ordered sample lies (nearest rank)."""
    return ordered[min(len(ordered) - 1, int(len(ordered) * part))] if ordered else None


def _chart(title: Any, rows: QuerySet[Any], period: Period, starts: Sequence[datetime]) -> Chart:
    truncate = TruncHour if period.step < timedelta(days=1) else TruncDay
    good = Count("pk", filter=Q(status__in=("ok", "running")))
    counted = (
        rows.annotate(step=truncate("started"))
        .order_by()
        .values("step")
        .annotate(rows=Count("pk"), good=good)
    )
    by_step = {row["step"]: (row["good"], row["rows"] - row["good"]) for row in counted}
    # A day is found by its date: daylight saving moves its start.
    pairs = [
        next((pair for step, pair in by_step.items() if _same(step, start, period)), (0, 0))
        for start in starts
    ]
    highest = max([sum(pair) for pair in pairs] or [0])
    width = 100 / len(starts)
    bars = [
        Bar(
            start,
            good=pair[0],
            bad=pair[1],
            left=round(number * width + width * 0.1, 2),
            width=round(width * 0.8, 2),
            good_height=_height(pair[0], highest),
            bad_height=_height(pair[1], highest),
        )
        for number, (start, pair) in enumerate(zip(starts, pairs, strict=True))
    ]
    failed = sum(pair[1] for pair in pairs)
    return Chart(title, bars, sum(pair[0] for pair in pairs) + failed, failed, highest)


def _same(step: datetime, start: datetime, period: Period) -> bool:
    return step == start if period.step < timedelta(days=1) else step.date() == start.date()


def _height(rows: int, highest: int) -> float:
    return round(100 * rows / highest, 2) if highest else 0.0


def _ranking(rows: QuerySet[Any], name: str, duration: str) -> list[Rank]:
    counted = (
        rows.order_by()
        .values(name)
        .annotate(total=Count("pk"), failed=Count("pk", filter=~Q(status="ok")), mean=Avg(duration))
        .order_by("-total", name)[:TOP]
    )
    found = list(counted)
    most = found[0]["total"] if found else 1
    return [
        Rank(row[name], row["total"], row["failed"], row["mean"], round(100 * row["total"] / most, 2))
        for row in found
    ]
