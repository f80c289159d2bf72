import csv
import io
import json
from datetime import timedelta

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.utils import timezone

from mcp_server.calls import journal
from mcp_server.models import CodeRun, ToolCall

RUNS = "/admin/mcp_toolkit/coderun/"
CALLS = "/admin/mcp_toolkit/toolcall/"
pytestmark = pytest.mark.django_db


def body(response):
    content = b"".join(response.streaming_content) if response.streaming else response.content
    return content.decode()


def ids_in(response):
    return [row.pk for row in response.context["cl"].result_list]


@pytest.mark.proves("A02a")
def test_runs_are_listed_newest_first_and_nobody_adds_changes_or_deletes_them(root, make_run):
    old, new = make_run(started=timezone.now() - timedelta(days=1)), make_run()
    assert ids_in(root.get(RUNS)) == [new.id, old.id]
    for path in ("add/", f"{old.id}/delete/"):
        assert root.get(RUNS + path).status_code == 403
    root.post(f"{RUNS}{old.id}/change/", {"code": "changed"})
    root.post(RUNS, {"action": "delete_selected", "_selected_action": [old.id]})
    assert CodeRun.objects.filter(code__contains="codemode.t").count() == 2


@pytest.mark.proves("A02a", "A04c")
def test_runs_are_filtered_by_outcome_user_endpoint_limit_and_day(root, make_run):
    ada = User.objects.create_user("ada")
    ok = make_run(user_id=ada.pk)
    limited = make_run(status="limit", limit="max_tool_calls", username="gone")
    running = make_run(status="running")
    lost = make_run(status="running", started=timezone.now() - timedelta(days=40))
    CodeRun.objects.filter(pk=lost.id).update(deadline=timezone.now() - timedelta(days=39))
    day = timezone.now()
    today = f"?started__year={day.year}&started__month={day.month}&started__day={day.day}"
    found = {
        query: set(ids_in(root.get(RUNS + query)))
        for query in (
            *("?outcome=ok", "?outcome=lost", "?outcome=running", "?outcome=failed", "?limit=max_tool_calls"),
            *("?user=ada", "?user=gone", "?user=nobody", "?endpoint=code", "?endpoint=default", today),
        )
    }
    assert found["?outcome=ok"] == {ok.id}
    assert found["?outcome=lost"] == {lost.id}
    assert found["?outcome=running"] == {running.id}
    assert found["?outcome=failed"] == {limited.id, lost.id}
    assert found["?limit=max_tool_calls"] == {limited.id}
    assert found["?user=ada"] == {ok.id}
    assert found["?user=gone"] == {limited.id}
    assert found["?user=nobody"] == set()
    assert len(found["?endpoint=code"]) == 4
    assert found["?endpoint=default"] == set()
    assert lost.id not in found[today]


@pytest.mark.proves("A03b", "A02a")
def test_a_reference_id_finds_its_call_and_its_run(root, make_run):
    run, other = make_run("a"), make_run("b")
    ToolCall.objects.filter(run=run.id).update(reference="err-77f3")
    call = ToolCall.objects.get(run=run.id)
    assert ids_in(root.get(f"{CALLS}?q=err-77f3")) == [call.pk]
    assert ids_in(root.get(f"{CALLS}?q={other.id}")) == list(other_calls(other))
    assert ids_in(root.get(f"{CALLS}?q=b")) == list(other_calls(other))
    assert ids_in(root.get(f"{RUNS}?q=err-77f3")) == [run.id]
    assert ids_in(root.get(f"{RUNS}?q={other.id}")) == [other.id]
    assert ids_in(root.get(f"{RUNS}?q=nothing-like-it")) == []


def other_calls(run):
    return ToolCall.objects.filter(run=run.id).values_list("pk", flat=True)


@pytest.mark.proves("A03a")
def test_runs_and_calls_are_linked_both_ways(root, make_run):
    run = make_run("a", "b")
    calls = list(other_calls(run))
    page = body(root.get(f"{RUNS}{run.id}/change/"))
    assert all(f"{CALLS}{pk}/change/" in page for pk in calls)
    for url in (CALLS, f"{CALLS}{calls[0]}/change/"):
        assert f"{RUNS}{run.id}/change/" in body(root.get(url))
    journal.record_call(journal.CallRecord(endpoint="code", tool="direct-one", status="ok"))
    assert [row.tool for row in root.get(f"{CALLS}?origin=direct").context["cl"].result_list] == [
        "direct-one"
    ]
    assert len(ids_in(root.get(f"{CALLS}?origin=code"))) == 2


@pytest.mark.proves("A02b")
def test_the_run_page_shows_code_with_the_failing_line_console_error_and_use_of_limits(root, make_run):
    run = make_run(
        "a",
        code="const x = 1;\nthrow new Error('<b>boom</b>')\nreturn x",
        status="error",
        error={"kind": "error", "message": "<b>boom</b>", "line": 2, "column": 7},
        console=[{"level": "warn", "text": "careful"}],
        result='{"answer":[42]}',
        dropped_logs=2,
        cpu_ms=250.0,
    )
    response = root.get(f"{RUNS}{run.id}/change/")
    page = body(response)
    prepared = response.context["page"]
    assert [(line.number, line.failing) for line in prepared.lines] == [(1, False), (2, True), (3, False)]
    assert prepared.lines[1].caret == "      ^"
    assert "<b>boom</b>" not in page
    assert "&lt;b&gt;boom" in page
    for text in ("careful", "2 more entries", "42", 'class="mcp-failing"', "ada"):
        assert text in page
    meters = {meter.name: meter for meter in prepared.meters}
    assert meters["processor time per run"].share == 250
    assert meters["tool calls per run"].share == 333
    assert meters["result size"].used.replace("\xa0", " ") == "15 bytes"


@pytest.mark.proves("A02c")
def test_the_timeline_is_drawn_to_scale_and_the_saved_tokens_follow_the_stated_formula(root, make_run):
    run = make_run("a", "b", code="x" * 300, result="y" * 100)
    response = root.get(f"{RUNS}{run.id}/change/")
    lanes = response.context["page"].lanes
    assert [(round(lane.left), round(lane.width)) for lane in lanes] == [(0, 250), (250, 250)]
    assert response.context["page"].savings.tokens == (2 * 4000 - 400) // 4
    assert "divided by 4 bytes per token" in body(response)


@pytest.mark.proves("A02c")
def test_a_call_that_outlasts_its_run_stays_on_the_timeline(root, make_run):
    run = make_run("a", wall_ms=100.0)
    (lane,) = root.get(f"{RUNS}{run.id}/change/").context["page"].lanes
    assert 0 <= lane.left <= lane.left + lane.width <= 1000


@pytest.mark.proves("A06")
def test_viewing_the_log_without_viewing_content_shows_no_content_by_page_or_by_request(sign_in, make_run):
    viewer = sign_in("view_coderun", "view_toolcall")
    run = make_run(
        "a", code="hiddenprogram", console=[{"level": "log", "text": "hiddenline"}], result='"hiddenresult"',
        status="error", error={"message": "hiddenerror", "line": 1},
    )  # fmt: skip
    ToolCall.objects.update(error="hiddenfault")
    call = ToolCall.objects.get()
    hidden = ("hiddenprogram", "hiddenline", "hiddenresult", "hiddenerror", "hiddenfault", "secretword")
    urls = [
        *(RUNS, CALLS, f"{RUNS}{run.id}/change/", f"{CALLS}{call.pk}/change/"),
        *(f"{RUNS}export.csv", f"{RUNS}export.json", f"{CALLS}export.csv", f"{CALLS}export.json"),
        *(f"{RUNS}?q=hiddenprogram", f"{CALLS}?q=secretword", f"{RUNS}{run.id}/change/?_popup=1"),
    ]
    for url in urls:
        response = viewer.get(url)
        assert response.status_code == 200, url
        shown = body(response).replace("q=hiddenprogram", "").replace("q=secretword", "")
        shown = shown.replace('value="hiddenprogram"', "").replace('value="secretword"', "")
        assert not [word for word in hidden if word in shown], url
    assert ids_in(viewer.get(f"{RUNS}?q=hiddenprogram")) == []
    for query in ("code__startswith=h", "code__contains=x", "result__gt=a", "error__message=hiddenerror"):
        assert viewer.get(f"{RUNS}?{query}").status_code in (302, 400), query
        assert viewer.get(f"{RUNS}export.csv?{query}").status_code in (302, 400, 403), query
    assert "stop/" not in body(viewer.get(f"{RUNS}{run.id}/change/"))


@pytest.mark.proves("A06")
def test_with_the_right_to_see_content_the_code_can_be_searched(sign_in, make_run):
    reader = sign_in("view_coderun", "view_call_content")
    run = make_run(code="return await codemode.findTheNeedle()")
    make_run()
    assert ids_in(reader.get(f"{RUNS}?q=TheNeedle")) == [run.id]


@pytest.mark.proves("A06")
def test_without_the_right_to_see_the_log_its_pages_are_forbidden(sign_in, make_run):
    run = make_run("a")
    call = ToolCall.objects.get()
    other = sign_in("view_limits", "change_limits", "view_call_content", "stop_coderun")
    for url in (RUNS, CALLS, f"{RUNS}{run.id}/change/", f"{CALLS}{call.pk}/change/", f"{RUNS}export.csv"):
        assert other.get(url).status_code == 403
    assert other.post(f"{RUNS}{run.id}/stop/").status_code == 403


@pytest.mark.proves("A04b", "A06")
def test_permitted_staff_ask_a_run_to_stop_once(sign_in, make_run):
    run = make_run(status="running")
    watcher, stopper = sign_in("view_coderun"), sign_in("view_coderun", "stop_coderun", name="hopper")
    url = f"{RUNS}{run.id}/stop/"
    assert watcher.post(url).status_code == 403
    assert stopper.get(url).status_code == 405
    assert not journal.stop_requested(run.id)
    assert stopper.post(url).status_code == 302
    assert journal.stop_requested(run.id)
    assert CodeRun.objects.get().stopped_by == "hopper"
    stopper.post(url)
    assert LogEntry.objects.filter(object_id=run.id).count() == 1


def test_an_ended_run_cannot_be_stopped_and_one_that_never_was_leads_back(root, make_run):
    run = make_run()
    assert "ended already" in body(root.post(f"{RUNS}{run.id}/stop/", follow=True))
    assert not journal.stop_requested(run.id)
    assert root.post(f"{RUNS}nothing/stop/").status_code == 302
    assert root.get(f"{RUNS}nothing/change/").status_code == 302
    assert root.get(f"{CALLS}nothing/change/").status_code == 302


def test_an_export_holds_all_filtered_rows_and_no_formula(root, make_run):
    make_run(username="=cmd|' /C calc'!A0", code="+1", status="limit", limit="max_tool_calls")
    for _ in range(60):
        make_run()
    rows = list(csv.DictReader(io.StringIO(body(root.get(f"{RUNS}export.csv")).lstrip("\ufeff"))))
    assert len(rows) == 61
    (row,) = csv.DictReader(io.StringIO(body(root.get(f"{RUNS}export.csv?outcome=limit")).lstrip("\ufeff")))
    assert (row["username"], row["code"], row["cpu_ms"]) == ("'=cmd|' /C calc'!A0", "'+1", "12.5")
    (row,) = json.loads(body(root.get(f"{RUNS}export.json?outcome=limit")))
    assert (row["username"], row["code"], row["error"]) == ("=cmd|' /C calc'!A0", "+1", {})
    assert json.loads(body(root.get(f"{RUNS}export.json?outcome=busy"))) == []
    assert root.get(f"{RUNS}export.xml").status_code == 403


async def test_an_export_streams_under_asgi_too(async_client, make_run):
    def prepare():
        user = User.objects.create_superuser("root")
        make_run("a")
        return user

    from asgiref.sync import sync_to_async

    await async_client.aforce_login(await sync_to_async(prepare)())
    response = await async_client.get(f"{CALLS}export.json")
    assert response.is_async
    content = b"".join([part async for part in response.streaming_content])
    assert [row["tool"] for row in json.loads(content)] == ["a"]


@pytest.mark.parametrize("path", [RUNS, CALLS])
def test_a_list_costs_the_same_few_queries_whatever_its_length(
    root, make_run, path, django_assert_max_num_queries
):
    for _ in range(70):
        make_run("a")
    with django_assert_max_num_queries(9):
        response = root.get(path)
    assert len(response.context["cl"].result_list) == 50
    assert "70" in body(response)


def test_a_long_list_says_that_it_is_cut(root, make_run, monkeypatch):
    monkeypatch.setattr("mcp_server.admin.paging.MOST_COUNTED", 3)
    for _ in range(4):
        make_run()
    assert "The newest 3 rows" in body(root.get(RUNS))


def test_the_days_between_first_and_last_row_are_offered(root, make_run):
    make_run(started=timezone.now() - timedelta(days=2))
    make_run()
    page = body(root.get(RUNS))
    days = [timezone.now() - timedelta(days=number) for number in (0, 1, 2)]
    assert all(f"started__day={day.day}" in page for day in days)
    make_run(started=timezone.now() - timedelta(days=200))
    page = body(root.get(RUNS))
    assert "started__day" not in page
    assert f"started__year={days[0].year}" in page
