"""The description of `code`: as much detail as the budget allows, filled literally, cheap, and right."""

import json
import random
from dataclasses import replace
from typing import Any

import pytest
from pydantic import BaseModel, Field

from benchmarks.catalog import Tool, make_tool, plain_list, rich_tools, small_tools
from mcp_server.codemode.catalog import BUDGET, Detail, declare, describe
from mcp_server.codemode.tokens import estimate_tokens
from mcp_server.codemode.tool import build_code_tool, build_search_tool
from tests import node

STEPS = list(Detail)


class User(BaseModel):
    """Someone who may sign in."""

    id: int
    name: str
    email: str | None = Field(None, description="work address")


def small_shop() -> list[Tool]:
    number = {"id": (int, Field(ge=1, description="as in the list"))}
    search = {"query": (str | None, None), "limit": (int, Field(20, ge=1, le=100))}
    return [
        replace(make_tool("list-users", "List users.", "read", (search, list[User])), input_examples=({"query": "ann"},)),
        make_tool("get-user", "Get one user.", "read", (number, User)),
        make_tool("delete-user", "Delete a user and all that they own.", "delete", (number, None)),
        make_tool("ping", "", "read", ({}, str)),
    ]  # fmt: skip


@pytest.fixture
def compiles():
    """Return a function that gives what the compiler refuses: the declaration itself, or uses of it."""
    if reason := node.missing():
        pytest.skip(reason)

    def judge(declaration: str, accepts: tuple[str, ...] = (), refuses: tuple[str, ...] = ()) -> list[Any]:
        case = {
            "name": "",
            "declaration": f"{declaration}\ntype T = unknown;",
            "accepts": accepts,
            "refuses": refuses,
        }
        verdict = node.run_node(str(node.JUDGE), given=[case])[0]
        return [*verdict["broken"], *verdict["wronglyRefused"], *verdict["wronglyAccepted"]]

    return judge


@pytest.mark.proves("C01b", "C05b", "C05c", "C05d")
def test_a_small_catalogue_reads_as_we_mean_it():
    assert (
        declare(small_shop())
        == """\
// int: whole number; comments: = default, min..max, e.g. example
type int = number;
// Someone who may sign in
type User = {
 id: int
 name: string
 email?: string | null // work address
};
declare const codemode: {
 // e.g. {"query": "ann"}
 list_users(input?: {
  query?: string | null
  limit?: int // 1..100; = 20
 }): Promise<User[]>;
 get_user(input: {
  id: int // as in the list; >=1
 }): Promise<User>;
 // [destructive] Delete a user and all that they own.
 delete_user(input: {
  id: int // as in the list; >=1
 }): Promise<unknown>;
 ping(): Promise<string>;
};"""
    )


@pytest.mark.proves("C02b")
def test_types_without_comments_and_names_alone_read_as_we_mean_them():
    assert (
        declare(small_shop(), Detail.TYPES)
        == """\
// int: whole number
type int = number;
type User = { id: int; name: string; email?: string | null };
declare const codemode: {
 list_users(input?: { query?: string | null; limit?: int }): Promise<User[]>;
 get_user(input: { id: int }): Promise<User>;
 delete_user(input: { id: int }): Promise<unknown>;
 ping(): Promise<string>;
};"""
    )
    assert (
        declare(small_shop(), Detail.NAMES)
        == """\
// name({ arguments, optional? }): what it does. `await codemode.$describe("name")` returns the types.
list_users({ query?, limit? })
get_user({ id })
delete_user({ id }): [destructive] Delete a user and all that they own.
ping()"""
    )
    assert declare(small_shop(), Detail.PROGRESSIVE) == ""


@pytest.mark.proves("C05a", "C05b")
def test_calls_are_checked_against_the_declarations(compiles):
    accepts = (
        "codemode.list_users()",
        "codemode.list_users({ limit: 3 }).then(users => users.map(user => user.email))",
        "codemode.get_user({ id: 1 }).then(user => user.name.length)",
        "codemode.ping().then(text => text.length)",
    )
    refuses = (
        "codemode.get_user()",
        "codemode.get_user({ ids: 1 })",
        "codemode.list_users({ limit: 'x' })",
        "codemode.ping({})",
        "codemode.get_user({ id: 1 }).then(user => user.nam)",
        "codemode.getUser({ id: 1 })",
    )
    for detail in (Detail.FULL, Detail.BRIEF, Detail.TYPES):
        assert compiles(declare(small_shop(), detail), accepts, refuses) == []


@pytest.mark.proves("C05a")
@pytest.mark.thorough
def test_five_hundred_tools_compile(compiles):
    tools = rich_tools(500)
    for detail in (Detail.FULL, Detail.TYPES):
        text = declare(tools, detail)
        assert compiles(text) == []
        assert text.count("type Address = ") == 1
    assert compiles(declare(small_tools(500))) == []


@pytest.mark.proves("C05a", "C04d")
def test_hostile_names_and_descriptions_stay_inert(compiles):
    hostile = [
        "*/ } evil(",
        "a\nevil()",
        "b\u2028}; evil()",
        "`${evil()}`",
        "```\nx",
        "constructor",
        "then",
        "}",
        "",
        "\ud800",
    ]
    tools = [replace(tool, name=f"{text}{number}" if number else text, description=f"{text} and more", input_examples=({"query": text},)) for number in range(2) for text, tool in zip(hostile, rich_tools(10), strict=True)]  # fmt: skip
    for detail in Detail:
        description = describe("hostile", tools, detail=detail).text
        description.encode()
        assert "\u2028" not in description
        assert "```" not in description
    assert compiles(declare(tools)) == []


@pytest.mark.proves("C02b")
def test_auto_takes_the_richest_step_that_keeps_within_the_budget():
    tools = rich_tools(15)
    costs = [describe("steps", tools, detail=detail).tokens for detail in STEPS]
    assert costs == sorted(costs, reverse=True)
    for place, (detail, cost) in enumerate(zip(STEPS, costs, strict=True)):
        assert describe("steps", tools, budget=cost).detail is detail
        following = STEPS[min(place + 1, len(STEPS) - 1)]
        assert describe("steps", tools, budget=cost - 1).detail is following


@pytest.mark.proves("C02b")
def test_the_default_budget_decides_for_catalogues_of_every_size():
    assert BUDGET == 4_000
    chosen = {count: describe("sizes", rich_tools(count)) for count in (10, 100, 500)}
    assert chosen[10].detail is Detail.FULL
    assert chosen[100].detail is Detail.TYPES
    assert chosen[500].detail is Detail.PROGRESSIVE
    assert all(description.tokens <= BUDGET for description in chosen.values())


@pytest.mark.proves("C02b")
def test_an_unknown_detail_is_an_error():
    with pytest.raises(ValueError, match="loud"):
        describe("wrong", small_shop(), detail="loud")


@pytest.mark.proves("C03a")
def test_a_template_is_filled_in_one_pass_and_literally():
    trap = replace(small_shop()[0], description=r"Costs $& {{count}} {{types}} \1 \g<0> %s {0}")
    text = describe(
        "template", [trap], template="{{count}}/{{count}} {{types}}|{{types}} {{ types }} {{other}}"
    ).text
    types = declare([trap])
    assert r"Costs $& {{count}} {{types}} \1 \g<0> %s {0}" in types
    assert text == f"1/1 {types}|{types} {{{{ types }}}} {{{{other}}}}"


@pytest.mark.proves("C03a", "C03b")
def test_the_count_is_what_this_user_sees_and_types_are_empty_in_progressive():
    template = "{{count}} tools:{{types}}!"
    assert describe("count", small_shop()[:2], detail="progressive", template=template).text == "2 tools:!"
    assert describe("count", [], template=template).text == "0 tools:!"


@pytest.mark.proves("C02a")
def test_progressive_says_how_to_find_tools_at_constant_cost():
    few, many = (describe("constant", rich_tools(count), detail="progressive") for count in (10, 500))
    assert "`search`" in few.text
    assert "$search" in few.text
    assert "$describe" in few.text
    assert few.text.replace("Tools: 10.", "Tools: 500.") == many.text


@pytest.mark.proves("C05b")
def test_the_text_is_the_same_whatever_the_order_of_the_tools():
    tools = list(rich_tools(30))
    text = describe("order", tools).text
    random.shuffle(tools)
    assert describe("order", tools).text == text


@pytest.mark.proves("C01b")
def test_a_description_is_built_once_for_each_set_and_not_kept_for_ever():
    tools = rich_tools(70)
    first = describe("kept", tools[:1])
    assert describe("kept", tools[:1]) is first
    assert describe("kept", [replace(tools[0])]) is not first
    assert "get_customer" not in first.text
    for count in range(2, 70):
        describe("kept", tools[:count], detail="names")
    assert describe("kept", tools[:1]) is not first


def count(texts: list[str]) -> list[int]:
    return [estimate_tokens(text) for text in texts] if node.missing() else node.count_tokens(texts)


@pytest.mark.proves("Q05")
def test_a_hundred_rich_tools_with_outputs_cost_at_most_4000_tokens():
    tools = rich_tools(100)
    assert sum(tool.output is not None for tool in tools) == 80
    description = describe("cost", tools)
    assert "Promise<Order>" in description.text
    ours, plain = count([description.text, plain_list(tools)])
    assert ours <= 4_000
    assert ours < plain / 3


@pytest.mark.proves("Q05")
def test_progressive_costs_at_most_350_tokens_with_both_tools_as_they_are_sent():
    description = describe("cost", rich_tools(100), detail="progressive")
    tools = (build_code_tool([], description.text), build_search_tool(100))
    sent = [
        {"name": tool.name, "description": tool.description, "input_schema": dict(tool.arguments.json_schema)}
        for tool in tools
    ]
    assert sum(count([json.dumps(item, separators=(",", ":")) for item in sent])) <= 350


ENGLISH = """Django makes it easier to build better web apps more quickly and with less code. It was invented to meet
fast-moving newsroom deadlines, while satisfying the tough requirements of experienced web developers."""
OTHER_LANGUAGES = [
    "这个工具查询订单并返回客户的地址和电子邮件。如果找不到订单就会出现错误。",
    "Возвращает список заказов с адресами доставки и статусом оплаты",  # noqa: RUF001
    "Ändert die Größe für alle Kunden, die in Köln wohnen und länger als drei Tage warten",
]


@pytest.mark.proves("C02b")
def test_the_estimate_is_near_a_real_tokenizer():
    if reason := node.missing():
        pytest.skip(reason)
    texts = [describe("near", rich_tools(25), detail=detail).text for detail in Detail]
    texts += [declare(small_tools(50), detail) for detail in STEPS[:4]]
    texts += [plain_list(rich_tools(20)), ENGLISH]
    for text, exact in zip(texts, node.count_tokens(texts), strict=True):
        assert abs(estimate_tokens(text) - exact) <= 0.12 * exact, text[:80]
    for text, exact in zip(OTHER_LANGUAGES, node.count_tokens(OTHER_LANGUAGES), strict=True):
        assert abs(estimate_tokens(text) - exact) <= 0.4 * exact, text
    assert estimate_tokens("") == 0
