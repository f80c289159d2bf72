"""Search finds what a model means, whatever words and spelling it chooses."""

import json
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from mcp_server.codemode.closest import closest
from mcp_server.codemode.search import search

CASES = json.loads((Path(__file__).parent.parent / "cases" / "queries.json").read_text(encoding="utf-8"))


def tool(name, description="", parameters=(), tags=(), group=""):
    schema = {"type": "object", "properties": {parameter: {"type": "string"} for parameter in parameters}}
    title = name.replace("-", " ").title()
    return SimpleNamespace(
        name=name,
        title=title,
        description=description,
        arguments=SimpleNamespace(json_schema=schema),
        tags=tuple(tags),
        group=group,
    )


TOOLS = [tool(**case) for case in CASES["tools"]]


def names(query, **options):
    return [match.name for match in search(TOOLS, query, **options).matches]


@pytest.mark.proves("C14a", "C14b")
def test_the_first_answer_is_right_in_85_percent_and_the_first_five_in_95_percent_of_the_queries():
    assert len(TOOLS) == 120
    assert len(CASES["queries"]) >= 60
    first, five = [], []
    for case in CASES["queries"]:
        found = names(case["query"], limit=5)
        if not set(found[:1]) & set(case["answers"]):
            first.append((case["query"], found))
        if not set(found) & set(case["answers"]):
            five.append((case["query"], found))
    assert len(first) <= 0.15 * len(CASES["queries"]), first
    assert len(five) <= 0.05 * len(CASES["queries"]), five


@pytest.mark.proves("C14a")
def test_the_answer_counts_what_was_found_and_what_is_visible_and_keeps_to_the_limit():
    result = search(TOOLS, "invoice", limit=3)
    assert result.visible == 120
    assert result.found >= 5
    assert len(result.matches) == 3
    assert all("invoice" in match.name for match in result.matches)


@pytest.mark.proves("C14b")
@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("invoices", "list-invoices"),
        ("LIST INVOICES", "list-invoices"),
        ("listInvoices", "list-invoices"),
        ("list_invoices", "list-invoices"),
        ("invoices list", "list-invoices"),
        ("lsit invoces", "list-invoices"),
        ("getweather", "getWeather"),
        ("fetch the weather please", "getWeather"),
        ("天气", "查询天气预报"),
        ("城市", "查询天气预报"),
        ("tracking_number", "track-parcel"),
        ("ресет", None),
    ],
)
def test_case_number_order_spelling_synonyms_and_script_do_not_matter(query, name):
    found = names(query)
    assert (found[0] if found else None) == name


@pytest.mark.proves("C14b")
@pytest.mark.parametrize("query", ["zzqqxx", "?!", "\ud800", "\x00", "the of and", "((((", "%s {0} \\"])
def test_a_query_that_says_nothing_finds_nothing(query):
    result = search(TOOLS, query)
    assert (result.found, result.visible, result.matches) == (0, 120, ())


@pytest.mark.proves("C14a")
def test_tags_and_group_narrow_what_is_found():
    assert names("customer", tags=["destructive"])[0] == "delete-customer"
    assert set(names("customer", tags=["destructive"])) <= {t.name for t in TOOLS if "destructive" in t.tags}
    assert all(match.group == "billing" for match in search(TOOLS, "customer", group="Billing").matches)
    assert search(TOOLS, "customer", group="nowhere").matches == ()
    below = [tool("a", "user", group="admin/users"), tool("b", "user", group="administration")]
    assert [match.name for match in search(below, "user", group="admin").matches] == ["a"]


@pytest.mark.proves("C14a")
def test_an_empty_query_lists_the_first_tools_group_by_group():
    found = [(match.group, match.name) for match in search(TOOLS, "  ", limit=8).matches]
    assert found == sorted((each.group, each.name) for each in TOOLS)[:8]
    assert names("", group="hr", limit=99) == sorted(each.name for each in TOOLS if each.group == "hr")


@pytest.mark.proves("C14a")
def test_parameter_names_titles_tags_and_their_descriptions_are_found():
    odd = tool("x1", "Does it.", ["warranty_code"], ["guarantee"], "after-sales")
    odd.arguments.json_schema["properties"]["warranty_code"]["description"] = "printed beneath the lid"
    tools = [*TOOLS, odd]
    for query in ("warranty", "guarantee", "after sales", "beneath lid", "x1"):
        assert search(tools, query).matches[0].name == "x1"


@pytest.mark.proves("C14a")
def test_another_visible_set_is_ranked_by_itself():
    assert search(TOOLS[:10], "invoice").matches == ()
    assert search(TOOLS, "invoice").found > 0
    assert search([], "invoice") == search([], "")


@pytest.mark.proves("C14a")
def test_a_huge_query_and_five_hundred_tools_are_ranked_in_bounded_time():
    tools = [
        tool(f"{case['name']}-{number}", case["description"])
        for case in CASES["tools"]
        for number in range(5)
    ]
    started = time.thread_time()
    search(tools, " ".join(f"wrd{number} custmer" for number in range(50_000)))
    search(tools, "x" * 100_000)
    assert time.thread_time() - started < 5


@pytest.mark.proves("C12b")
@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("getUser", "get_user"),
        ("get-user", "get_user"),
        ("get_users", "get_user"),
        ("user_get", "get_user"),
        ("fetchUser", "get_user"),
        ("get_usr", "get_user"),
        ("listInvoice", "list_invoices"),
        ("removeInvoice", "delete_invoice"),
        ("sendEmial", "send_email"),
        ("e", None),
        ("", None),
        ("weather", None),
        ("get_something_else", None),
    ],
)
def test_the_closest_name_is_suggested_only_when_it_is_close(wrong, right):
    assert closest(wrong, ["get_user", "list_invoices", "delete_invoice", "send_email", "get_order"]) == right
