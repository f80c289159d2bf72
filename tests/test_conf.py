"""The `MCP_SERVER` setting: typed, checked, and safe when it is wrong."""

from typing import Any

import pytest
from django.core import checks
from django.test import override_settings

from mcp_server.conf import Options, options

WRONG: dict[str, tuple[Any, str]] = {
    "not a dict": ([], "MCP_SERVER must be a dict, not list."),
    "unknown": ({"TOOLNAMES": "snake"}, "MCP_SERVER['TOOLNAMES'] is not a setting."),
    "a key that is no text": ({5: 1}, "MCP_SERVER[5] is not a setting."),
    "choice": ({"TOOL_NAMES": "camel"}, "MCP_SERVER['TOOL_NAMES'] must be one of 'kebab', 'snake'."),
    "number": ({"PAGE_SIZE": 0}, "MCP_SERVER['PAGE_SIZE'] must be a whole number of at least 1."),
    "a bool is no number": ({"THREADS": True}, "MCP_SERVER['THREADS'] must be a whole number of at least 1."),
    "text for a list": ({"ALLOWED_ORIGINS": "https://a"}, "MCP_SERVER['ALLOWED_ORIGINS'] must be a list of texts."),
    "a number for a list": ({"ALLOWED_ORIGINS": 5}, "MCP_SERVER['ALLOWED_ORIGINS'] must be a list of texts."),
    "endpoints": ({"ENDPOINTS": {"default": 5}}, "MCP_SERVER['ENDPOINTS'] must map endpoint names to dicts"),
    "a limit": ({"LIMITS": {"max_tool_cals": 3}}, "MCP_SERVER['LIMITS']['max_tool_cals'] is not a limit."),
    "a limit's value": ({"LIMITS": {"max_tool_calls": -1}}, "MCP_SERVER['LIMITS']['max_tool_calls'] must be a whole"),
    "a ceiling above ours": (
        {"LIMIT_CEILINGS": {"memory_limit_mb": 513}},
        "MCP_SERVER['LIMIT_CEILINGS']['memory_limit_mb'] is 513, above the built-in ceiling, and does not hold.",
    ),
    "a pinned limit": ({"LIMITS_PINNED": ["max_cals"]}, "MCP_SERVER['LIMITS_PINNED'] names 'max_cals'"),
    "nested": ({"LOG": {"LEVEL": "some"}}, "MCP_SERVER['LOG']['LEVEL'] must be one of 'all', 'errors', 'off'."),
    "nested unknown": ({"SANDBOX": {"JITLES": 1}}, "MCP_SERVER['SANDBOX']['JITLES'] is not a setting."),
    "one for true": ({"SANDBOX": {"JITLESS": 1}}, "MCP_SERVER['SANDBOX']['JITLESS'] must be one of True, False."),
    "a class that is not there": (
        {"AUTHENTICATION": ["shop.auth.Nothing"]},
        "MCP_SERVER['AUTHENTICATION'] names 'shop.auth.Nothing', which cannot be imported",
    ),
    "a context that is not there": (
        {"THREAD_CONTEXT": "tests.door.nothing"},
        "MCP_SERVER['THREAD_CONTEXT'] names 'tests.door.nothing', which cannot be imported",
    ),
    "a cache that is not there": ({"CACHE": "redis"}, "MCP_SERVER['CACHE'] names 'redis', which is not in CACHES."),
    "an app that is not there": ({"AUTODISCOVER": ["shopp"]}, "MCP_SERVER['AUTODISCOVER'] names 'shopp'"),
}  # fmt: skip


@pytest.mark.proves("T21a")
@pytest.mark.parametrize(("value", "message"), WRONG.values(), ids=WRONG)
def test_a_wrong_value_is_said_by_the_check_and_the_default_stands(value: Any, message: str):
    with override_settings(MCP_SERVER=value):
        said = [item for item in checks.run_checks(tags=["mcp_toolkit"]) if item.id == "mcp_toolkit.E001"]
        assert len(said) == 1, said
        assert said[0].msg.startswith(message)
        assert isinstance(options(), Options)


def test_several_wrong_values_are_said_together():
    with override_settings(
        MCP_SERVER={"THREADS": 0, "TEXT_LIMIT": 1, "LOG": {"KEEP_DAYS": 0, "MAX_ROWS": "x"}}
    ):
        said = [item for item in checks.run_checks(tags=["mcp_toolkit"]) if item.id == "mcp_toolkit.E001"]
        assert len(said) == 4
        assert options().threads == Options().threads


def test_values_are_read_under_their_names_in_capitals():
    value = {
        "TOOL_NAMES": "snake",
        "LIMITS": {"max_tool_calls": 3},
        "LOG": {"KEEP_DAYS": 2},
        "PAGE_SIZE": None,
    }
    with override_settings(MCP_SERVER=value):
        found = options()
        assert (found.tool_names, dict(found.limits), found.log.keep_days) == (
            "snake",
            {"max_tool_calls": 3},
            2,
        )
    assert options().tool_names == "kebab"
