"""Shortening keeps JSON valid, the type, and the limit in bytes, and says what it dropped (contract C11)."""

import json
import random

import pytest

from mcp_server.codemode.shortening import shorten


def _random_value(generator, depth=0):
    kind = generator.randrange(7 if depth < 4 else 4)
    if kind == 0:
        return "".join(generator.choice('aé€𝄞"\\\n\x01') for _ in range(generator.randrange(60)))
    if kind in (1, 2):
        return generator.choice([None, True, -1, 1.5e300, 123456789])
    if kind == 3:
        return "x" * generator.randrange(400)
    if kind in (4, 5):
        return [_random_value(generator, depth + 1) for _ in range(generator.randrange(12))]
    return {f"k{n}é": _random_value(generator, depth + 1) for n in range(generator.randrange(12))}


@pytest.mark.proves("C11a")
@pytest.mark.parametrize("seed", range(200))
def test_anything_shortened_is_json_of_its_type_within_the_limit(seed):
    generator = random.Random(seed)
    value = (
        [_random_value(generator), _random_value(generator)]
        if seed % 2
        else {"a": _random_value(generator), "b": _random_value(generator)}
    )
    whole = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
    for limit in (64, 100, 500, len(whole)):
        short = shorten(value, limit)
        assert len(short.text) <= max(limit, 0)
        assert type(json.loads(short.text)) is type(value)
        assert (short.dropped == "") == (len(whole) <= limit)
        if len(whole) <= limit:
            assert json.loads(short.text) == value


def test_small_members_stay_whole_beside_a_large_one():
    short = shorten({"count": 3, "rows": list(range(10_000)), "next": "page-2"}, 200)
    got = json.loads(short.text)
    assert (got["count"], got["next"]) == (3, "page-2")
    assert got["rows"] == list(range(len(got["rows"])))
    assert len(short.text) > 150


def test_a_deep_list_is_shortened_where_it_is():
    short = shorten({"a": {"b": [{"c": ["x" * 50] * 100}]}}, 300)
    assert json.loads(short.text)["a"]["b"][0]["c"]
    assert "result.a.b[0].c kept" in short.dropped


def test_a_long_text_says_how_much_is_missing():
    assert json.loads(shorten("é" * 1000, 100).text).endswith("more characters)")
