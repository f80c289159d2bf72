import re

import pytest
from django.contrib.admin.models import LogEntry

from mcp_server.definitions.endpoint import endpoint
from mcp_server.definitions.registry import registry
from mcp_server.models import Limits
from mcp_server.policy.limits import effective_limits

URL = "/admin/mcp_toolkit/limits/code/change/"


def text_of(response):
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", response.content.decode()))


@pytest.mark.proves("A01a")
def test_every_endpoint_has_a_form_before_it_has_a_row(root):
    with registry.isolated():
        endpoint("plain")
        page = root.get("/admin/mcp_toolkit/limits/").content.decode()
        places = [page.index(f"/limits/{name}/change/") for name in ("code", "default", "plain")]
        assert places[0] == min(places)
        assert root.get(URL).status_code == 200
    assert not Limits.objects.exists()
    assert root.get("/admin/mcp_toolkit/limits/nonsense/change/").status_code == 302


@pytest.mark.proves("A01b")
def test_the_form_shows_value_source_default_and_ceiling_side_by_side(root, settings):
    settings.MCP_SERVER = {
        "LIMITS": {"memory_limit_mb": 32},
        "LIMIT_CEILINGS": {"max_queue_ms": 2000},
        "LIMITS_PINNED": ["max_tool_calls"],
    }
    Limits.objects.create(endpoint="code", cpu_time_limit_ms=1500)
    text = text_of(root.get(URL))
    assert "1.50 s set here 10 s 60 s" in text
    assert "32 MB project setting 64 MB 512 MB" in text
    assert "2 s held to the ceiling 5 s 2 s" in text
    assert "pinned 200 calls pinned by the project 200 calls 10,000 calls" in text.replace(" ", " ")
    assert "In each web process" in text


@pytest.mark.proves("A01a", "A01c")
def test_a_posted_limit_holds_and_a_blank_one_inherits_again(root):
    assert root.post(URL, {"max_tool_calls": "3"}).status_code == 302
    assert effective_limits("code").max_tool_calls == 3
    assert effective_limits("default").max_tool_calls == 200
    assert root.post(URL, {"max_tool_calls": ""}).status_code == 302
    assert effective_limits("code").max_tool_calls == 200
    entries = LogEntry.objects.filter(object_id="code").order_by("pk")
    assert [entry.get_change_message() for entry in entries] == ["Changed Tool calls per run."] * 2
    assert (
        "Changed Tool calls per run" in root.get("/admin/mcp_toolkit/limits/code/history/").content.decode()
    )


@pytest.mark.proves("A01a")
@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"cpu_time_limit_ms": "60001"}, "At most 60000 (ms)"),
        ({"memory_limit_mb": "7"}, "At least 8 (MB)"),
        ({"max_tool_calls": "-1"}, "greater than or equal to 0"),
        ({"max_tool_calls": "many"}, "Enter a whole number"),
        ({"rate_limits": "default often"}, "is not a tool and a rate"),
        ({"keep_days": "0"}, "At least one day"),
        ({"code_policy": "always"}, "Select a valid choice"),
    ],
)
def test_a_wrong_value_is_refused_with_what_is_allowed(root, data, message):
    response = root.post(URL, data)
    assert response.status_code == 200
    assert message in text_of(response)
    assert not Limits.objects.exists()


def test_exactly_the_ceiling_is_allowed_and_a_stored_value_above_a_lowered_one_stays(root, settings):
    root.post(URL, {"cpu_time_limit_ms": "60000"})
    settings.MCP_SERVER = {"LIMIT_CEILINGS": {"cpu_time_limit_ms": 500}}
    assert root.post(URL, {"cpu_time_limit_ms": "60000", "max_tool_calls": "4"}).status_code == 302
    row = Limits.objects.get()
    assert (row.cpu_time_limit_ms, row.max_tool_calls) == (60_000, 4)
    assert effective_limits("code").cpu_time_limit_ms == 500


@pytest.mark.proves("A01a")
def test_a_pinned_limit_cannot_be_posted(root, settings):
    settings.MCP_SERVER = {"LIMITS_PINNED": ["max_tool_calls"]}
    root.post(
        URL,
        {
            "max_tool_calls": "3",
            "keep_days": "9",
            "rate_limits": "default 60/m\nmail 5/15m",
            "log_level": "errors",
        },
    )
    row = Limits.objects.get()
    assert row.max_tool_calls is None
    assert (row.keep_days, row.rate_limits, row.log_level) == (
        9,
        {"default": "60/m", "mail": "5/15m"},
        "errors",
    )


@pytest.mark.proves("A06")
def test_those_who_may_only_view_limits_cannot_change_them(sign_in):
    viewer = sign_in("view_limits")
    page = viewer.get(URL)
    assert page.status_code == 200
    assert b'name="max_tool_calls"' not in page.content
    assert b'name="log_level"' not in page.content
    assert viewer.post(URL, {"max_tool_calls": "3"}).status_code == 403
    assert not Limits.objects.exists()


@pytest.mark.proves("A06")
def test_those_with_other_rights_do_not_see_limits(sign_in):
    other = sign_in("view_toolcall", "view_coderun", "view_call_content", "stop_coderun")
    for url in (URL, "/admin/mcp_toolkit/limits/", "/admin/mcp_toolkit/limits/code/history/"):
        assert other.get(url).status_code == 403
    for view in ("add/", "code/delete/"):
        assert sign_in("change_limits", name=view).get(f"/admin/mcp_toolkit/limits/{view}").status_code == 403
