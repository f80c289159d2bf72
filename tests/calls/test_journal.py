import json
import multiprocessing
import os
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.db import connection, connections
from django.utils import timezone

from mcp_server.calls import journal
from mcp_server.calls.journal.writer import Writer
from mcp_server.models import CodeRun, Limits, ToolCall
from mcp_server.signals import code_run_finished, tool_called


def call(**values):
    return journal.CallRecord(**{"endpoint": "code", "tool": "list-users", "status": "ok", **values})


def run(**values):
    deadline = timezone.now() + timedelta(seconds=60)
    return journal.RunRecord(**{"endpoint": "code", "code": "return 1", "deadline": deadline, **values})


SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "pin": {"type": "string", "format": "password", "writeOnly": True},
        "login": {"$ref": "#/$defs/Login"},
        "tree": {"anyOf": [{"$ref": "#/$defs/Node"}, {"type": "null"}]},
    },
    "$defs": {
        "Login": {"type": "object", "properties": {"who": {"type": "string"}, "phrase": {"writeOnly": True}}},
        "Node": {
            "type": "object",
            "properties": {
                "key": {"writeOnly": True},
                "children": {"type": "array", "items": {"$ref": "#/$defs/Node"}},
            },
        },
    },
}


@pytest.mark.proves("A07e")
@pytest.mark.parametrize(
    "arguments",
    [
        {"password": "hunter22"},
        {"user": {"accessToken": "hunter22"}},
        {"list": [{"API-KEY": "hunter22"}]},
        {"passwords": ["hunter22"]},
        {"newPassword": {"a": ["hunter22"]}},
    ],
)
def test_a_secret_name_is_redacted_at_any_depth_and_spelling(arguments):
    text, secrets = journal.recorded_arguments(arguments)
    assert "hunter22" not in text
    assert secrets == {"hunter22"}


@pytest.mark.proves("A07e")
@pytest.mark.parametrize(
    "arguments",
    [
        {"name": "ada", "pin": "hunter22"},
        {"login": {"who": "ada", "phrase": "hunter22"}},
        {"tree": {"children": [{"children": [{"key": "hunter22"}]}]}},
        # Arguments that failed validation: a name with a typing error, a wrong type, an object sent as text.
        {"name": "ada", "pln": "hunter22"},
        {"pin": ["hunter22"]},
        {"login": '{"phrase": "hunter22"}'},
    ],
)
def test_a_marked_field_is_redacted_even_when_the_arguments_are_wrong(arguments):
    text, secrets = journal.recorded_arguments(arguments, SCHEMA)
    assert "hunter22" not in text
    assert any("hunter22" in secret for secret in secrets)


def test_what_is_not_secret_is_recorded_as_it_was_sent():
    arguments = {"name": "ada", "n": [1, 2.5, None, True], "tokenizer": "x", "中": "文"}
    text, secrets = journal.recorded_arguments(arguments)
    assert json.loads(text) == arguments
    assert not secrets


@pytest.mark.proves("A07e")
@pytest.mark.django_db
def test_a_secret_is_masked_in_the_error_and_in_the_run_that_made_the_call():
    record = run(code='await codemode.login({ who: "ada", pin: "hunter22" })')
    journal.open_run(record)
    text, secrets = journal.recorded_arguments({"pin": "hunter22"}, SCHEMA)
    journal.record_call(
        call(
            run_id=record.id,
            status="invalid",
            arguments=text,
            error="'hunter22' is too short",
            secrets=secrets,
        )
    )
    record.status = "error"
    record.error = {"message": "hunter22 is too short"}
    record.console = [{"level": "log", "text": "trying hunter22"}]
    record.result = '["hunter22"]'
    journal.close_run(record)
    stored = str(list(CodeRun.objects.values())) + str(list(ToolCall.objects.values()))
    assert "hunter22" not in stored
    assert "is too short" in stored


@pytest.mark.proves("A07e")
@pytest.mark.django_db
@pytest.mark.parametrize(
    "code",
    [
        'codemode.login({password: "hunter22"})',
        "const apiKey = 'hunter22'",
        "const apiKey: string = `hunter22`",
        'x["secret"] = "hunter22"',
        '{"accessToken": "hunter22"}',
        'a.password="hunter22"',
    ],
)
def test_code_that_gives_a_literal_to_a_secret_name_is_masked_from_the_start(code):
    journal.open_run(run(code=code + "\nreturn 2"))
    stored = CodeRun.objects.get().code
    assert "hunter22" not in stored
    assert stored.splitlines()[1] == "return 2"


@pytest.mark.proves("A07e")
@pytest.mark.django_db
def test_a_secret_name_in_the_result_is_redacted():
    record = run()
    journal.open_run(record)
    record.result, record.status = '{"id":1,"token":"hunter22"}', "ok"
    journal.close_run(record)
    assert json.loads(CodeRun.objects.get().result) == {"id": 1, "token": "[redacted]"}


@pytest.mark.proves("S08")
@pytest.mark.django_db
def test_what_no_database_takes_is_made_safe(settings):
    settings.MCP_SERVER = {"LOG": {"MAX_BYTES": 256}}
    deep: list[object] = []
    for _ in range(500):
        deep = [deep]
    texts = [
        journal.recorded_arguments(value)[0]
        for value in (
            {"a": "\0\ud800"},
            {"a": deep},
            {"a": 10**5000},
            {"a": "é" * 9999},
            {"\ud83d\ude00": 1},
            [1],
            None,
        )
    ]
    for text in texts:
        journal.record_call(
            call(arguments=text, error="\0\udfff", client="\0", tool="t" * 999, username="u" * 999)
        )
    stored = ToolCall.objects.all()
    assert len(stored) == len(texts)
    assert all(len(row.arguments.encode()) < 320 for row in stored)
    assert "\0" not in str(list(stored.values()))


@pytest.mark.proves("S08")
@pytest.mark.django_db
def test_console_and_error_are_made_safe_and_capped(settings):
    settings.MCP_SERVER = {"LOG": {"MAX_BYTES": 300}}
    record = run()
    journal.open_run(record)
    record.console = [{"level": "log", "text": "\ud800" + "x" * 90}] * 10
    record.error = {"message": "\0", "data": {"\ud800": [10**30]}}
    record.dropped_logs = 5
    journal.close_run(record)
    row = CodeRun.objects.get()
    assert (len(row.console), row.dropped_logs) == (3, 12)
    assert row.error["message"] == "\N{REPLACEMENT CHARACTER}"


@pytest.mark.django_db
def test_inside_a_transaction_rows_are_written_at_once_and_linked():
    user = User.objects.create_user("ada")
    record = run(user_id=user.pk, username="ada", limits={"max_tool_calls": 3})
    journal.open_run(record)
    assert CodeRun.objects.get().status == "running"
    journal.record_call(call(run_id=record.id, sequence=1, user_id=user.pk, username="ada"))
    record.status, record.calls, record.cpu_ms = "ok", 1, 1.5
    journal.close_run(record)
    row = CodeRun.objects.get()
    assert (row.status, row.calls, row.cpu_ms, row.limits) == ("ok", 1, 1.5, {"max_tool_calls": 3})
    assert [item.tool for item in row.tool_calls.all()] == ["list-users"]


@pytest.mark.django_db(transaction=True)
def test_outside_a_transaction_a_call_costs_no_query_and_is_stored_by_the_writer(django_assert_num_queries):
    with django_assert_num_queries(0):
        for number in range(1200):
            journal.record_call(call(sequence=number))
    assert journal.flush(30)
    assert set(ToolCall.objects.values_list("sequence", flat=True)) == set(range(1200))


@pytest.mark.django_db(transaction=True)
def test_a_run_has_its_row_at_once_and_its_end_soon(django_assert_num_queries):
    record = run()
    journal.open_run(record)
    assert CodeRun.objects.get().status == "running"
    record.status, record.result = "ok", "1"
    with django_assert_num_queries(0):
        journal.close_run(record)
    assert journal.flush(30)
    assert CodeRun.objects.values_list("status", "result").get() == ("ok", "1")


@pytest.mark.proves("A07b", "A02d")
@pytest.mark.django_db(transaction=True)
def test_a_user_deleted_while_their_calls_wait_loses_no_row():
    gone, stays = User.objects.create_user("gone"), User.objects.create_user("stays")
    identifier = gone.pk
    gone.delete()
    record = run(user_id=identifier, username="gone")
    journal.open_run(record)
    for user_id, name in ((identifier, "gone"), (stays.pk, "stays"), (identifier, "gone")):
        journal.record_call(call(user_id=user_id, username=name))
    assert journal.flush(30)
    rows = sorted(ToolCall.objects.values_list("username", "user_id"))
    assert rows == [("gone", None), ("gone", None), ("stays", stays.pk)]
    assert CodeRun.objects.get().user is None


@pytest.mark.proves("A07b")
@pytest.mark.django_db(transaction=True)
def test_a_row_that_the_database_refuses_costs_only_itself(caplog):
    before = journal.lost_rows()
    twice = call()
    for record in (call(), twice, twice, call(request_bytes=2**80)):
        journal.record_call(record)
    assert journal.flush(30)
    assert ToolCall.objects.count() == 2
    assert journal.lost_rows() - before == 2
    assert "refused" in caplog.text


@pytest.mark.proves("A07b")
@pytest.mark.django_db(transaction=True)
def test_a_full_queue_drops_counts_and_says_so(monkeypatch, caplog):
    monkeypatch.setattr("mcp_server.calls.journal.writer.MAX_QUEUED_ROWS", 3)
    writer = Writer()
    with writer._changed:  # The thread waits for this lock before its first batch.
        for _ in range(5):
            writer.put(call())
        assert writer.lost == 2
    assert "Rows of the MCP log are lost" in caplog.text
    assert writer.flush(30)
    assert ToolCall.objects.count() == 3


@pytest.mark.proves("A07d")
@pytest.mark.django_db(transaction=True)
def test_while_the_database_is_away_calls_go_on_and_their_rows_come_later(caplog):
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE mcp_toolkit_toolcall RENAME TO away")
        cursor.execute("ALTER TABLE mcp_toolkit_coderun RENAME TO away_too")
    try:
        record = run()
        journal.open_run(record)
        journal.record_call(call(run_id=record.id))
        record.status = "ok"
        journal.close_run(record)
        assert not journal.stop_requested(record.id)
        assert not journal.flush(0.3)
    finally:
        with connection.cursor() as cursor:
            cursor.execute("ALTER TABLE away RENAME TO mcp_toolkit_toolcall")
            cursor.execute("ALTER TABLE away_too RENAME TO mcp_toolkit_coderun")
    assert journal.flush(30)
    assert CodeRun.objects.get().status == "ok"
    assert ToolCall.objects.get().run_id == record.id
    assert "waits for its database" in caplog.text


@pytest.mark.proves("A07d")
@pytest.mark.django_db
def test_inside_a_transaction_a_failing_log_leaves_the_transaction_usable():
    before = journal.lost_rows()
    twice = call()
    journal.record_call(twice)
    journal.record_call(twice)
    assert ToolCall.objects.count() == 1
    assert journal.lost_rows() - before == 1


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("level", "statuses"), [("all", {"ok", "crashed"}), ("errors", {"crashed"}), ("off", set())]
)
def test_the_log_level_of_the_endpoint_decides_what_is_kept(level, statuses):
    Limits.objects.create(endpoint="code", log_level=level)
    for status in ("ok", "crashed"):
        record = run()
        journal.open_run(record)
        record.status = status
        journal.record_call(call(status=status))
        journal.close_run(record)
    assert set(ToolCall.objects.values_list("status", flat=True)) == statuses
    assert set(CodeRun.objects.values_list("status", flat=True)) == statuses


@pytest.mark.django_db(transaction=True)
def test_signals_reach_receivers_that_use_the_database_and_those_that_fail_stop_nothing():
    seen = []

    def count(record, **kwargs):
        seen.append((type(record).__name__, ToolCall.objects.count(), threading.current_thread().name))
        raise RuntimeError("a receiver's fault")

    tool_called.connect(count)
    code_run_finished.connect(count)
    try:
        journal.record_call(call())
        journal.close_run(run(status="ok"))
        assert journal.flush(30)
    finally:
        tool_called.disconnect(count)
        code_run_finished.disconnect(count)
    assert seen == [("CallRecord", 0, "mcp-journal"), ("RunRecord", 0, "mcp-journal")]
    assert ToolCall.objects.count() == CodeRun.objects.count() == 1


@pytest.mark.django_db
def test_staff_asking_for_a_stop_is_seen_for_that_run_alone():
    first, second = run(), run()
    for record in (first, second):
        journal.open_run(record)
    CodeRun.objects.filter(pk=first.id).update(stop_requested=timezone.now(), stopped_by="ada")
    assert journal.stops_requested([first.id, second.id]) == {first.id}
    first.status = "stopped"
    journal.close_run(first)
    row = CodeRun.objects.get(pk=first.id)
    assert (row.status, row.stopped_by) == ("stopped", "ada")
    assert row.stop_requested is not None


def _child(queue):
    journal.record_call(call(tool="child"))
    queue.put(journal.flush(30))
    connections.close_all()


@pytest.mark.proves("A07b")
@pytest.mark.django_db(transaction=True)
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_forked_process_writes_its_own_rows_and_not_its_parents():
    journal.record_call(call(tool="parent"))
    connections.close_all()
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=_child, args=(queue,))
    child.start()
    assert queue.get(timeout=30) is True
    child.join(30)
    assert journal.flush(30)
    assert sorted(ToolCall.objects.values_list("tool", flat=True)) == ["child", "parent"]


@pytest.mark.proves("A07b")
def test_a_process_that_ends_writes_what_waits(tmp_path):
    program = (
        "import django; django.setup()\n"
        "from django.core.management import call_command\n"
        "call_command('migrate', verbosity=0)\n"
        "from mcp_server.calls import journal\n"
        "for number in range(700):\n"
        "    journal.record_call(journal.CallRecord(endpoint='e', tool='t', status='ok'))\n"
    )
    path = tmp_path / "log.sqlite3"
    environment = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "demo_project.settings",
        "DEMO_DATABASE": str(path),
    }
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, cwd=root, timeout=120, check=False
    )
    assert done.returncode == 0
    with closing(sqlite3.connect(path)) as database:
        assert database.execute("SELECT count(*) FROM mcp_toolkit_toolcall").fetchone() == (700,)
