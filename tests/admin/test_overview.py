import re
from datetime import timedelta

import pytest
from django.contrib.admin.models import LogEntry
from django.utils import timezone

from mcp_server.calls import journal
from mcp_server.models import CodeRun, Process, ToolCall

URL = "/admin/mcp_toolkit/process/"
pytestmark = pytest.mark.django_db


def call(**values):
    values = {
        "endpoint": "code",
        "tool": "t",
        "status": "ok",
        "username": "ada",
        "duration_ms": 10.0,
        **values,
    }
    journal.record_call(journal.CallRecord(**values))


@pytest.mark.proves("A05a")
def test_the_overview_counts_ranks_and_times_what_happened_in_the_period(root, make_run):
    for number in range(1, 101):
        call(
            duration_ms=float(number),
            tool="quick" if number <= 70 else "slow",
            status="crashed" if number > 95 else "ok",
        )
    call(started=timezone.now() - timedelta(days=3), tool="long-ago", username="linus")
    make_run(status="error", username="grace")
    statistics = root.get(URL).context["statistics"]
    runs, calls = statistics.charts
    assert (calls.total, calls.failed, runs.total, runs.failed) == (100, 5, 1, 1)
    assert (statistics.median, statistics.slow) == (51.0, 96.0)
    assert [(rank.name, rank.total, rank.failed) for rank in statistics.tools] == [
        ("quick", 70, 0),
        ("slow", 30, 5),
    ]
    assert [rank.name for rank in statistics.users] == ["ada"]
    week = root.get(f"{URL}?period=week").context["statistics"]
    assert week.charts[1].total == 101
    assert {rank.name for rank in week.tools} == {"quick", "slow", "long-ago"}


@pytest.mark.proves("A05a")
@pytest.mark.parametrize(("period", "steps"), [("day", 24), ("week", 7), ("month", 30), ("nonsense", 24)])
def test_each_row_stands_in_its_own_step_and_the_highest_bar_fills_the_chart(root, period, steps):
    call()
    call()
    call(status="crashed", started=timezone.now() - timedelta(days=1) + timedelta(hours=1))
    (_, chart) = root.get(f"{URL}?period={period}").context["statistics"].charts
    assert len(chart.bars) == steps
    assert sum(bar.good for bar in chart.bars) == 2
    assert sum(bar.bad for bar in chart.bars) == 1
    assert max(bar.good_height + bar.bad_height for bar in chart.bars) == 100


def test_an_empty_overview_says_so(root):
    page = root.get(URL).content.decode()
    assert "Nothing yet" in page
    assert "No process has served a call yet" in page


@pytest.mark.proves("A05b", "S02c")
def test_processes_show_their_workers_what_their_confinement_lacks_and_lost_rows(root):
    measures = dict.fromkeys(
        [
            "empty environment",
            "no other descriptors",
            "no new privileges",
            "landlock",
            "seccomp",
            "data limit",
        ],
        True,
    )
    good = {"measures": measures, "refused": {"read a file": True}, "flags": {"no WebAssembly": True}}
    bad = {**good, "measures": {**measures, "landlock": "kernel too old <b>"}}
    state = {
        "log": {"lost": 3, "queued": 1, "open_runs": 2},
        "workers": [
            {
                "pid": 71,
                "state": "idle",
                "runs": 5,
                "memory_limit_mb": 64,
                "started": 0.0,
                "confinement": good,
            },
            {
                "pid": 72,
                "state": "busy",
                "runs": 1,
                "memory_limit_mb": 64,
                "started": 0.0,
                "confinement": bad,
            },
        ],
    }
    Process.objects.create(name="web:1", host="web", pid=1, state=state)
    Process.objects.create(
        name="web:2", host="web", pid=2, state={}, seen=timezone.now() - timedelta(hours=1)
    )
    Process.objects.create(name="web:3", host="web", pid=3, state={"workers": "odd", "log": []})
    page = root.get(URL).content.decode()
    for text in (
        "web:1",
        "3 log rows lost",
        "complete, tried out",
        "landlock (kernel too old &lt;b&gt;)",
        "silent",
    ):
        assert text in page


@pytest.mark.proves("A05b")
def test_workers_are_restarted_after_a_question_and_it_is_in_the_history(root, sign_in):
    Process.objects.create(name="web:1", host="web", pid=1, state={"log": {"open_runs": 2}})
    url = f"{URL}web:1/restart/"
    assert sign_in("view_process").post(url).status_code == 403
    assert "2 runs" in root.get(url).content.decode()
    assert Process.objects.get().restart_requested is None
    assert root.post(url).status_code == 302
    assert Process.objects.get().restart_requested is not None
    assert LogEntry.objects.filter(object_id="web:1").count() == 1
    assert root.post(f"{URL}web:9/restart/").status_code == 302


@pytest.mark.proves("A06")
def test_the_overview_shows_each_reader_what_they_may_see(sign_in, make_run):
    make_run("the-tool")
    Process.objects.create(name="web:1", host="web", pid=1)
    calls = sign_in("view_toolcall", name="calls").get(URL).content.decode()
    runs = sign_in("view_coderun", name="runs").get(URL).content.decode()
    processes = sign_in("view_process", name="processes").get(URL).content.decode()
    assert ["the-tool" in page for page in (calls, runs, processes)] == [True, False, False]
    assert ["Code runs:" in page for page in (calls, runs, processes)] == [False, True, False]
    assert ["web:1" in page for page in (calls, runs, processes)] == [False, False, True]
    assert "Restart workers" not in processes
    assert sign_in("view_limits", name="limits").get(URL).status_code == 403


@pytest.mark.proves("A05c")
def test_no_page_asks_another_host_or_carries_script_or_style_of_its_own(root, make_run):
    run = make_run("a")
    call = ToolCall.objects.get()
    urls = [
        *(
            URL,
            "/admin/mcp_toolkit/limits/",
            "/admin/mcp_toolkit/limits/code/change/",
            "/admin/mcp_toolkit/coderun/",
        ),
        *(f"/admin/mcp_toolkit/coderun/{run.id}/change/", f"/admin/mcp_toolkit/toolcall/{call.pk}/change/"),
        *("/admin/mcp_toolkit/toolcall/", "/admin/mcp_toolkit/token/", "/admin/mcp_toolkit/token/add/"),
    ]
    assert CodeRun.objects.exists()
    for url in urls:
        page = root.get(url).content.decode()
        assert "<style" not in page, url
        assert ' style="' not in page, url
        assert "<script>" not in page, url
        assert ' onclick="' not in page, url
        assert 'src="http' not in page, url


@pytest.mark.parametrize("page", ["limits/", "process/", "toolcall/try/"])
def test_our_pages_have_the_breadcrumbs_that_this_django_styles(root, page):
    def trail(address):
        return re.search(
            r'<(\w+) class="breadcrumbs">.*?</\1>', root.get(address).content.decode(), re.DOTALL
        )

    ours, djangos = trail(f"/admin/mcp_toolkit/{page}"), trail("/admin/auth/user/")
    assert ours[1] == djangos[1]
    assert ours[0].count("<li") == (djangos[0].count("<li") and 3)
    assert 'href="/admin/mcp_toolkit/"' in ours[0]
