"""Search finds what a model means, whatever words and spelling it chooses."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

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


@pytest.mark.proves("C14")
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
