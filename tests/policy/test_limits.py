import pytest

from mcp_server.conf import LIMIT_FIELDS
from mcp_server.models import Limits
from mcp_server.policy.limits import effective_limits, limit_sources

pytestmark = pytest.mark.django_db


def source(name, endpoint="code"):
    return next(item for item in limit_sources(endpoint) if item.name == name)


def test_without_setting_and_row_every_limit_is_its_default():
    limits = effective_limits("code")
    assert {name: getattr(limits, name) for name in LIMIT_FIELDS} == {
        n: f.default for n, f in LIMIT_FIELDS.items()
    }
    assert {item.source for item in limit_sources("code")} == {"default"}


@pytest.mark.proves("A01a")
def test_the_row_wins_over_the_setting_and_a_blank_field_inherits(settings):
    settings.MCP_SERVER = {"LIMITS": {"max_tool_calls": 7, "memory_limit_mb": 32}}
    Limits.objects.create(endpoint="code", max_tool_calls=3)
    assert (source("max_tool_calls").value, source("max_tool_calls").source) == (3, "row")
    assert source("max_tool_calls").inherited == 7
    assert (source("memory_limit_mb").value, source("memory_limit_mb").source) == (32, "setting")


@pytest.mark.proves("A01a")
def test_zero_in_the_row_is_a_value_and_not_blank():
    Limits.objects.create(endpoint="code", max_tool_calls=0)
    assert effective_limits("code").max_tool_calls == 0


@pytest.mark.proves("A01a")
@pytest.mark.parametrize("stored", [None, 9_000])
def test_nothing_exceeds_a_lowered_ceiling(settings, stored):
    settings.MCP_SERVER = {"LIMIT_CEILINGS": {"cpu_time_limit_ms": 500}}
    Limits.objects.create(endpoint="code", cpu_time_limit_ms=stored)
    assert (source("cpu_time_limit_ms").value, source("cpu_time_limit_ms").source) == (500, "ceiling")


def test_a_project_cannot_raise_our_ceiling(settings):
    settings.MCP_SERVER = {
        "LIMIT_CEILINGS": {"memory_limit_mb": 100_000},
        "LIMITS": {"memory_limit_mb": 100_000},
    }
    assert source("memory_limit_mb").ceiling == source("memory_limit_mb").value == 512


def test_a_row_below_the_minimum_is_raised_to_it():
    Limits.objects.create(endpoint="code", memory_limit_mb=1)
    assert effective_limits("code").memory_limit_mb == 8


@pytest.mark.proves("A01a")
def test_a_pinned_limit_ignores_the_row(settings):
    settings.MCP_SERVER = {"LIMITS": {"max_tool_calls": 7}, "LIMITS_PINNED": ["max_tool_calls"]}
    Limits.objects.create(endpoint="code", max_tool_calls=50)
    assert (source("max_tool_calls").value, source("max_tool_calls").source) == (7, "pinned")


def test_each_endpoint_has_its_own_limits():
    Limits.objects.create(endpoint="code", max_tool_calls=3)
    assert effective_limits("other").max_tool_calls == 200
