from datetime import timedelta

import pytest
from django.contrib.auth.models import Permission, User
from django.core.management import call_command
from django.utils import timezone

from mcp_server.models import CodeRun, EndedSession, Limits, ToolCall, UsedState
from mcp_server.models.identifiers import new_identifier

pytestmark = pytest.mark.django_db


def test_identifiers_sort_by_time_and_do_not_repeat():
    made = [new_identifier() for _ in range(2000)]
    assert len(set(made)) == 2000
    assert all(len(item) == 32 and item[12] == "7" for item in made)
    assert [item[:16] for item in made] == sorted(item[:16] for item in made)


@pytest.mark.proves("A01d")
def test_migrations_make_no_row():
    assert not Limits.objects.exists()


def test_no_migration_is_pending():
    call_command("makemigrations", "mcp_toolkit", check=True, dry_run=True, verbosity=0)


@pytest.mark.proves("A06")
def test_each_right_has_a_permission_of_its_own():
    found = Permission.objects.filter(content_type__app_label="mcp_toolkit").values_list(
        "codename", flat=True
    )
    wanted = "view_limits change_limits view_toolcall view_coderun view_call_content stop_coderun view_token add_token"
    assert set(wanted.split()) <= set(found)
    assert not {"add_coderun", "change_coderun", "delete_toolcall"} & set(found)


@pytest.mark.proves("A02d")
def test_deleting_a_user_keeps_runs_and_calls_with_the_name():
    user = User.objects.create_user("ada")
    now = timezone.now()
    run = CodeRun.objects.create(
        id=new_identifier(), user=user, username="ada", endpoint="code", code="1", started=now
    )
    ToolCall.objects.create(
        id=new_identifier(), run=run, user=user, username="ada", endpoint="code", tool="t", status="ok"
    )
    user.delete()
    assert [(row.user, row.username) for row in CodeRun.objects.all()] == [(None, "ada")]
    assert [(row.user, row.username) for row in ToolCall.objects.all()] == [(None, "ada")]


@pytest.mark.proves("A04c")
def test_an_open_run_past_its_deadline_reads_lost():
    now = timezone.now()
    running = CodeRun(deadline=now + timedelta(seconds=5))
    late = CodeRun(deadline=now - timedelta(seconds=60))
    ended = CodeRun(deadline=now - timedelta(seconds=60), status="ok")
    assert [run.outcome for run in (running, late, ended)] == ["running", "lost", "ok"]
    assert [run.is_running for run in (running, late, ended)] == [True, False, False]


@pytest.mark.parametrize("model", [EndedSession, UsedState])
def test_a_key_is_added_once_and_forgotten_after_its_time(model):
    later = timezone.now() + timedelta(hours=1)
    assert model.objects.add("a", later) is True
    assert model.objects.add("a", later) is False
    assert model.objects.add("b", timezone.now() - timedelta(hours=1)) is True
    assert model.objects.holds("a")
    assert model.objects.forget_expired() == 1
    assert not model.objects.holds("b")
