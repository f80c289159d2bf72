"""How long the log is kept: ages by outcome and a number of rows, removed in batches while calls go on (contract A07)."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Q, QuerySet
from django.utils import timezone

from mcp_server.conf import options
from mcp_server.models import CodeRun, EndedSession, Limits, Process, ToolCall, UsedState
from mcp_server.models.coderuns import LOST, LOST_AFTER, RUNNING

SILENT_PROCESSES_KEPT = timedelta(days=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Retention:
    """What is kept: days for successes, days for everything else, and at most so many rows of each kind."""

    keep_days: int
    keep_failed_days: int
    max_rows: int

    @classmethod
    def from_settings(cls) -> "Retention":
        """Return what the project's setting says."""
        log = options().log
        return cls(keep_days=log.keep_days, keep_failed_days=log.keep_failed_days, max_rows=log.max_rows)

    def ended_before(self, now: datetime) -> Q:
        """Return the condition that a row is past its age."""
        old = Q(status="ok", started__lt=now - timedelta(days=self.keep_days))
        return old | (~Q(status="ok") & Q(started__lt=now - timedelta(days=self.keep_failed_days)))


@dataclass(slots=True)
class Pruned:
    """How many rows went, or would go."""

    runs: int = 0
    calls: int = 0
    others: int = 0
    finished: bool = True


@dataclass(slots=True, kw_only=True)
class Pruning:
    """One round of pruning.

    Args:
        retention: what is kept where staff set nothing of their own for an endpoint.
        batch: rows removed by one statement; short ones let the calls of others through.
        max_batches: stop after so many, None for all; `Pruned.finished` tells.
    """

    retention: Retention
    batch: int = 1000
    max_batches: int | None = None
    now: datetime = field(default_factory=timezone.now)

    def count(self) -> Pruned:
        """Return what `run` would remove, and remove nothing."""
        runs = sum(rows.count() for rows in self._old_runs())
        return Pruned(runs=runs, calls=sum(rows.count() for rows in self._old_calls()))

    def run(self) -> Pruned:
        """Remove what is past its time and return how much that was."""
        done = Pruned(others=self._tidy())
        for number, (model, rows) in enumerate(self._steps(), start=1):
            if model is CodeRun:
                done.runs += rows
            else:
                done.calls += rows
            if number == self.max_batches:
                done.finished = False
                break
        return done

    def _steps(self) -> Iterator[tuple[type[Any], int]]:
        """Remove a batch at each step; the calls of a run go with it."""
        for rows in self._old_runs():
            while identifiers := list(rows.order_by("started").values_list("pk", flat=True)[: self.batch]):
                yield ToolCall, _remove(ToolCall.objects.filter(run__in=identifiers))
                yield CodeRun, _remove(CodeRun.objects.filter(pk__in=identifiers))
        for calls in self._old_calls():
            while identifiers := list(calls.order_by("started").values_list("pk", flat=True)[: self.batch]):
                yield ToolCall, _remove(ToolCall.objects.filter(pk__in=identifiers))

    def _old_runs(self) -> Iterator[QuerySet[CodeRun]]:
        for endpoints, retention in self._by_endpoint():
            yield CodeRun.objects.filter(endpoints, retention.ended_before(self.now))
        yield from self._surplus(CodeRun.objects.all())

    def _old_calls(self) -> Iterator[QuerySet[ToolCall]]:
        for endpoints, retention in self._by_endpoint():
            # A call from code is kept as long as its run, and goes by age only when it has lost it.
            latest = self.now - timedelta(days=max(retention.keep_days, retention.keep_failed_days))
            own_age = Q(run=None) & retention.ended_before(self.now)
            yield ToolCall.objects.filter(endpoints).filter(
                own_age | Q(run__isnull=False, started__lt=latest)
            )
        yield from self._surplus(ToolCall.objects.all())

    def _surplus(self, rows: QuerySet[Any]) -> Iterator[QuerySet[Any]]:
        newest_too_many = rows.order_by("-started").values_list("started", flat=True)[
            self.retention.max_rows :
        ][:1]
        for moment in newest_too_many:
            yield rows.filter(started__lte=moment)

    def _by_endpoint(self) -> Iterator[tuple[Q, Retention]]:
        own = []
        for row in Limits.objects.exclude(keep_days=None, keep_failed_days=None):
            own.append(row.endpoint)
            yield (
                Q(endpoint=row.endpoint),
                Retention(
                    keep_days=row.keep_days or self.retention.keep_days,
                    keep_failed_days=row.keep_failed_days or self.retention.keep_failed_days,
                    max_rows=self.retention.max_rows,
                ),
            )
        yield ~Q(endpoint__in=own), self.retention

    def _tidy(self) -> int:
        """Say which runs are lost, and forget what nobody will ask for."""
        CodeRun.objects.filter(status=RUNNING, deadline__lt=self.now - LOST_AFTER).update(status=LOST)
        silent = Process.objects.filter(seen__lt=self.now - SILENT_PROCESSES_KEPT)
        return EndedSession.objects.forget_expired() + UsedState.objects.forget_expired() + silent.delete()[0]


def _remove(rows: QuerySet[Any]) -> int:
    # No row refers to a log row by a constraint, so nothing needs to be collected first.
    return int(rows._raw_delete(rows.db))
