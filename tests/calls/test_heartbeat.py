from datetime import timedelta

import pytest
from django.utils import timezone

from mcp_server.calls import heartbeat, journal
from mcp_server.calls.heartbeat import Heart
from mcp_server.models import Process
from mcp_server.models.processes import SILENT_AFTER

pytestmark = [pytest.mark.django_db, pytest.mark.proves("A05b")]


def test_a_beat_says_what_the_rooms_report():
    Heart().beat()
    row = Process.objects.get()
    assert row.name == heartbeat.process_name()
    assert row.state["log"] == {
        "lost": journal.lost_rows(),
        "queued": 0,
        "open_runs": row.state["log"]["open_runs"],
    }
    assert row.is_alive
    assert list(Process.objects.alive()) == [row]


def test_a_process_that_was_not_heard_of_is_not_alive():
    Heart().beat()
    Process.objects.update(seen=timezone.now() - SILENT_AFTER - timedelta(seconds=1))
    assert not Process.objects.get().is_alive
    assert not Process.objects.alive().exists()


def test_a_restart_that_staff_asked_for_happens_once(monkeypatch):
    restarts = []
    monkeypatch.setattr(heartbeat, "_restarts", [lambda: restarts.append(1)])
    heart = Heart()
    heart.beat()
    Process.objects.update(restart_requested=timezone.now())
    heart.beat()
    heart.beat()
    assert restarts == [1]
    assert Process.objects.get().restart_requested is None


@pytest.mark.django_db(transaction=True)
def test_a_process_that_records_calls_beats_and_takes_its_row_away_when_it_ends(monkeypatch):
    heart = Heart()
    monkeypatch.setattr(heartbeat, "_heart", heart)
    seen = []
    monkeypatch.setattr(heart, "beat", lambda: (Heart.beat(heart), seen.append(1), heart._stopped.set()))
    journal.record_call(journal.CallRecord(endpoint="code", tool="t", status="ok"))
    assert heart._thread is not None
    heart._thread.join(30)
    assert seen == [1]
    assert Process.objects.count() == 1
    heart.stop()
    assert not Process.objects.exists()
    assert journal.flush(30)
