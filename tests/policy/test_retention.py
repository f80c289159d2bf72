import io
import json
from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from mcp_server.calls import journal
from mcp_server.models import CodeRun, EndedSession, Limits, Process, ToolCall
from mcp_server.models.identifiers import new_identifier
from mcp_server.policy.retention import Pruning, Retention

pytestmark = [pytest.mark.django_db, pytest.mark.proves("A07c")]


def ago(days):
    return timezone.now() - timedelta(days=days)


def call(days, status="ok", run=None, endpoint="code"):
    return ToolCall.objects.create(
        id=new_identifier(), endpoint=endpoint, tool="t", status=status, started=ago(days), run_id=run
    )


def run(days, status="ok"):
    row = CodeRun.objects.create(
        id=new_identifier(), endpoint="code", code="1", status=status, started=ago(days)
    )
    call(days, run=row.pk)
    return row


def prune(*arguments):
    out = io.StringIO()
    call_command("mcp_prune", *arguments, stdout=out)
    return out.getvalue()


def test_successes_and_failures_have_ages_of_their_own():
    kept = {call(13).pk, call(29, "crashed").pk}
    call(15)
    call(31, "crashed")
    assert "2 tool calls" in prune()
    assert set(ToolCall.objects.values_list("pk", flat=True)) == kept


def test_calls_from_code_stay_as_long_as_their_run_and_go_with_it():
    kept = run(20, "limit")
    run(20, "ok")
    call(40, run=new_identifier())  # Its run's row was never written.
    prune()
    assert [row.pk for row in CodeRun.objects.all()] == [kept.pk]
    assert [row.run_id for row in ToolCall.objects.all()] == [kept.pk]


def test_an_endpoint_may_have_ages_of_its_own():
    Limits.objects.create(endpoint="audit", keep_days=365)
    kept = call(100, endpoint="audit")
    call(100)
    call(400, endpoint="audit")
    prune()
    assert [row.pk for row in ToolCall.objects.all()] == [kept.pk]


def test_only_the_newest_rows_are_kept():
    for days in range(6):
        run(days / 10)
    assert json.loads(prune("--max-rows", "2", "--json", "--batch", "1")) == {
        "runs": 4,
        "calls": 4,
        "dry_run": False,
    }
    assert CodeRun.objects.count() == ToolCall.objects.count() == 2
    assert min(CodeRun.objects.values_list("started", flat=True)) > ago(0.2)


def test_a_dry_run_says_what_would_go_and_removes_nothing():
    run(20)
    call(20)
    assert "Would remove 1 code run and 1 tool call." in prune("--dry-run")
    assert (CodeRun.objects.count(), ToolCall.objects.count()) == (1, 2)


@pytest.mark.parametrize(
    "arguments", [["--days", "-1"], ["--batch", "0"], ["--max-rows", "9" * 20], ["--failed-days", "9" * 9]]
)
def test_nonsense_is_refused(arguments):
    with pytest.raises(CommandError, match="is not between"):
        prune(*arguments)


def test_a_bounded_round_says_that_more_is_left():
    for _ in range(5):
        call(20)
    pruned = Pruning(retention=Retention.from_settings(), batch=2, max_batches=1).run()
    assert (pruned.calls, pruned.finished) == (2, False)
    rest = Pruning(retention=Retention.from_settings()).run()
    assert (rest.calls, rest.finished) == (3, True)


@pytest.mark.proves("A04c")
def test_runs_without_an_owner_are_marked_lost_and_silent_processes_forgotten():
    row = run(0.1, "running")
    CodeRun.objects.update(deadline=ago(0.1))
    Process.objects.create(name="old", host="h", pid=1, seen=ago(2))
    Process.objects.create(name="new", host="h", pid=2)
    EndedSession.objects.add("x", ago(1))
    prune()
    row.refresh_from_db()
    assert row.status == "lost"
    assert [process.name for process in Process.objects.all()] == ["new"]
    assert not EndedSession.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_the_writer_prunes_by_itself(monkeypatch, settings):
    old = call(20).pk
    record = journal.CallRecord(endpoint="code", tool="t", status="ok")
    monkeypatch.setattr(journal._writer, "_prune_at", 0.0)
    settings.MCP_SERVER = {"LOG": {"AUTO_PRUNE": False}}
    journal.record_call(record)
    assert journal.flush(30)
    assert ToolCall.objects.filter(pk=old).exists()
    settings.MCP_SERVER = {}
    journal.record_call(journal.CallRecord(endpoint="code", tool="t", status="ok"))
    assert journal.flush(30)
    assert not ToolCall.objects.filter(pk=old).exists()
