"""Every tool has one JavaScript name, safe and its own."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcp_server.codemode.identifiers import callables, collisions, identifiers
from tests import node


@pytest.mark.proves("C04a")
@pytest.mark.parametrize(
    ("name", "identifier"),
    [
        ("get-user", "get_user"),
        ("list-todos", "list_todos"),
        ("123-tool", "_123_tool"),
        ("delete", "delete_"),
        ("await", "await_"),
        ("get.user", "get_user"),
        ("users/list", "users_list"),
        ("getUser", "getUser"),
        ("$price", "$price"),
        ("a b", "a_b"),
        ("", "_"),
        ("---", "___"),
        ("get", "get"),
        ("查询订单", "查询订单"),
        ("größe-ändern", "größe_ändern"),
        ("cafe\u0301", "café"),
        ("😀", "_"),
        ("a\u2028b", "a_b"),
        ("a\nb`${x}", "a_b_$_x_"),
    ],
)
def test_a_name_becomes_an_identifier(name, identifier):
    assert identifiers([name]) == {name: identifier}


@pytest.mark.proves("C04d")
@pytest.mark.parametrize(
    "name", ["then", "constructor", "__proto__", "toString", "valueOf", "toJSON", "prototype"]
)
def test_a_name_that_the_language_reads_is_changed_and_has_no_alias(name):
    assert identifiers([name]) == {name: f"{name}_"}
    assert callables([name]) == {f"{name}_": name}


@pytest.mark.proves("C04d")
def test_the_functions_of_codemode_itself_cannot_be_taken():
    assert callables(["$search", "$describe"]) == {"$search_": "$search", "$describe_": "$describe"}


@pytest.mark.proves("C04b")
def test_a_tool_is_called_by_its_original_name_too():
    assert callables(["get-user", "delete", "list"]) == {
        "get_user": "get-user",
        "get-user": "get-user",
        "delete_": "delete",
        "delete": "delete",
        "list": "list",
    }


@pytest.mark.proves("C04c")
def test_names_that_fall_together_stay_apart_whatever_their_order():
    names = ["get-user", "get_user", "get.user", "get_user_2", "delete", "delete_", "then", "then_"]
    expected = {
        "get_user": "get_user",
        "get-user": "get_user_3",
        "get.user": "get_user_4",
        "get_user_2": "get_user_2",
        "delete": "delete__2",
        "delete_": "delete_",
        "then": "then__2",
        "then_": "then_",
    }
    for _ in range(5):
        random.shuffle(names)
        assert identifiers(names) == expected
    assert collisions(names) == [
        ("delete", "delete_"),
        ("get-user", "get.user", "get_user"),
        ("then", "then_"),
    ]


NAMES = st.lists(
    st.text(max_size=8) | st.sampled_from(["get-user", "get_user", "then", "if", "$search"]), max_size=8
)


@pytest.mark.proves("C04a", "C04c")
@settings(max_examples=200, deadline=None)
@given(NAMES)
def test_identifiers_are_distinct_and_every_tool_can_be_called(names):
    found = identifiers(names)
    assert set(found) == set(names)
    assert len(set(found.values())) == len(found)
    reached = callables(names)
    assert all(reached[identifier] == name for name, identifier in found.items())
    assert not {"then", "constructor", "__proto__", "$search", "$describe"} & set(reached)


@pytest.mark.proves("C04a")
def test_the_compiler_takes_every_identifier_as_a_property():
    if reason := node.missing():
        pytest.skip(reason)
    names = [
        "get-user",
        "delete",
        "1",
        "",
        "查询",
        "größe",
        "заказ",
        "注文",
        "ทดสอบ",
        "a\u200db",
        "x\u0301",
        "ﬁ",
        "ª",
        "\U0001d4b3",
        "😀",
        "__proto__",
    ]
    lines = " ".join(f"codemode.{identifier}();" for identifier in identifiers(names).values())
    members = " ".join(f"{identifier}(): void;" for identifier in identifiers(names).values())
    text = f"declare const codemode: {{ {members} }};\nfunction run() {{ {lines} }}"
    case = {"name": "identifiers", "declaration": text, "accepts": [], "refuses": []}
    assert node.run_node(str(node.JUDGE), given=[case])[0]["broken"] == []
