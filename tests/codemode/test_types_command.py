"""`manage.py mcp_types` shows what a user's model is told, and what it costs."""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from mcp_server.codemode.catalog import BUDGET
from mcp_server.testing import MCPClient
from tests import node

pytestmark = pytest.mark.django_db


def printed(**options):
    output, errors = StringIO(), StringIO()
    call_command("mcp_types", endpoint="code", stdout=output, stderr=errors, **options)
    return output.getvalue().strip(), errors.getvalue()


def described(user):
    return next(
        tool["description"] for tool in MCPClient(user, "code").list_tools() if tool["name"] == "code"
    )


@pytest.mark.proves("C01b")
@pytest.mark.parametrize("name", ["plain", "staff"])
def test_it_prints_the_description_that_this_user_gets(django_user_model, name):
    user = django_user_model.objects.create_user(name, is_staff=name == "staff", is_superuser=name == "staff")
    text, summary = printed(user=name)
    assert text == described(user)
    assert ("delete_user" in text) == (name == "staff")
    assert f"as {name}" in summary
    assert f"auto keeps within {BUDGET:,}" in summary


@pytest.mark.proves("C05a")
def test_the_types_of_the_demo_compile(django_user_model):
    if reason := node.missing():
        pytest.skip(reason)
    django_user_model.objects.create_superuser("root")
    for detail in ("full", "types"):
        text, _ = printed(user="root", detail=detail)
        declarations = "type " + text.partition("\ntype ")[2]
        case = {"name": detail, "declaration": declarations, "accepts": [], "refuses": []}
        assert "declare const codemode" in declarations
        assert node.run_node(str(node.JUDGE), given=[case])[0]["broken"] == []


@pytest.mark.proves("C02b", "D03b")
def test_json_says_detail_budget_and_estimate(django_user_model):
    django_user_model.objects.create_superuser("root")
    text, summary = printed(user="root", detail="names", json=True)
    report = json.loads(text)
    assert report["detail"] == "names"
    assert report["budget"] == BUDGET
    assert 100 < report["tokens"] < printed_tokens("full")
    assert "delete_user({ id }): [destructive]" in report["text"]
    assert summary == ""


def printed_tokens(detail):
    return json.loads(printed(user="root", detail=detail, json=True)[0])["tokens"]


def test_nobody_sees_no_tools():
    text, summary = printed()
    assert "Tools (0):" in text
    assert "as nobody" in summary


def test_an_unknown_user_or_endpoint_is_said():
    with pytest.raises(CommandError, match="no user 'ghost'"):
        printed(user="ghost")
    with pytest.raises(CommandError, match="nowhere"):
        call_command("mcp_types", endpoint="nowhere")
