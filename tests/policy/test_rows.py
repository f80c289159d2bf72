import pytest
from asgiref.sync import sync_to_async

from mcp_server.models import Limits
from mcp_server.policy import rows
from mcp_server.policy.codemode import effective_code_policy
from mcp_server.policy.logging import effective_log_level
from mcp_server.policy.rates import Rate, rate_for
from mcp_server.policy.rows import UNKNOWN, remembered_row

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("text", "calls", "seconds"), [("5/s", 5, 1), ("60/m", 60, 60), ("100/15m", 100, 900), (" 0/H ", 0, 3600)]
)
def test_a_rate_says_how_many_calls_in_how_many_seconds(text, calls, seconds):
    assert Rate.parse(text) == Rate(calls, seconds)


@pytest.mark.parametrize("text", ["", "60", "60/x", "-1/m", "60/0m", "60/m/m", "1e3/m"])
def test_a_wrong_rate_says_how_to_write_one(text):
    with pytest.raises(ValueError, match="60/m"):
        Rate.parse(text)


@pytest.mark.proves("G08b")
def test_the_row_wins_over_the_setting_and_the_tool_over_the_default(settings):
    settings.MCP_SERVER = {"RATE_LIMITS": {"default": "60/m", "mail": "5/m"}}
    assert rate_for("code", "mail") == Rate(5, 60)
    Limits.objects.create(endpoint="code", rate_limits={"default": "10/m"})
    assert rate_for("code", "mail") == Rate(5, 60)
    assert rate_for("code", "list") == Rate(10, 60)
    assert rate_for("other", "list") == Rate(60, 60)
    Limits.objects.update(rate_limits={"mail": "1/d"})
    assert rate_for("code", "mail") == Rate(1, 86_400)


def test_policy_and_log_level_follow_the_row_when_it_says_something_known():
    assert (effective_code_policy("code", "opt-in"), effective_log_level("code")) == ("opt-in", "all")
    row = Limits.objects.create(endpoint="code", code_policy="enforced", log_level="errors")
    assert (effective_code_policy("code", "opt-in"), effective_log_level("code")) == ("enforced", "errors")
    row.code_policy = row.log_level = "nonsense"
    row.save()
    assert (effective_code_policy("code", "opt-in"), effective_log_level("code")) == ("opt-in", "all")


@pytest.mark.django_db(transaction=True)
def test_outside_a_transaction_the_row_is_asked_for_once_a_second(django_assert_num_queries):
    Limits.objects.create(endpoint="code", log_level="off")
    assert effective_log_level("code") == "off"
    with django_assert_num_queries(0):
        assert effective_log_level("code") == "off"
    Limits.objects.get().delete()
    assert effective_log_level("code") == "all"


@pytest.mark.django_db(transaction=True)
async def test_a_coroutine_that_was_told_the_row_is_known_is_never_sent_to_the_database(monkeypatch):
    await sync_to_async(Limits.objects.create)(endpoint="code", code_policy="off")
    assert await sync_to_async(effective_code_policy)("code", "enforced") == "off"
    assert remembered_row("code") is not UNKNOWN
    await sync_to_async(Limits.objects.update)(code_policy="opt-in")
    monkeypatch.setattr("mcp_server.policy.rows.RECENT_SECONDS", 0.0)
    assert remembered_row("code") is UNKNOWN
    assert effective_code_policy("code", "enforced") == "off"
    assert await sync_to_async(effective_code_policy)("code", "enforced") == "opt-in"


@pytest.mark.django_db(transaction=True)
def test_one_of_many_is_told_to_read_the_row_again_before_it_is_unknown(monkeypatch):
    assert not rows.is_due("default")
    assert rows.recent_row("default") is None
    assert not rows.is_due("default")
    monkeypatch.setattr(rows, "RENEW_SECONDS", 0.0)
    Limits.objects.bulk_create([Limits(endpoint="default", log_level="errors")])
    assert rows.is_due("default")
    monkeypatch.setattr(rows, "RENEW_SECONDS", 0.5)
    assert not rows.is_due("default")
    rows.renew("default")
    found = remembered_row("default")
    assert found is not None
    assert found.log_level == "errors"
