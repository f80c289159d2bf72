"""Types are exact, in the judgement of the TypeScript compiler, and no schema or text can break them."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mcp_server.schema.typescript import Notes, Shapes, Writer, declaration, read
from tests import node
from tests.schema.typescript_cases import cases

CASES = Path(__file__).parent.parent / "cases"


@pytest.fixture
def judge():
    if reason := node.missing():
        pytest.skip(reason)
    return lambda given: node.run_node(str(node.JUDGE), given=given)


def judged(judge, cases: list[dict[str, Any]], notes: Notes) -> list[dict[str, Any]]:
    asked = [
        {
            "name": case["name"],
            "declaration": declaration(case["schema"], notes=notes),
            "accepts": case["accepts"],
            "refuses": case["refuses"],
        }
        for case in cases
    ]
    return [
        verdict | {"declaration": question["declaration"]}
        for question, verdict in zip(asked, judge(asked), strict=True)
        if verdict["broken"] or verdict["wronglyRefused"] or verdict["wronglyAccepted"]
    ]


@pytest.mark.proves("C05a")
@pytest.mark.parametrize("notes", Notes)
def test_types_are_exact_on_the_shared_cases(judge, notes):
    shared = json.loads((CASES / "schemas.json").read_text())
    assert len(shared) == 54
    assert judged(judge, shared, notes) == []


@pytest.mark.proves("C05a")
def test_types_are_exact_on_real_pydantic_and_django_models(judge):
    own = cases()
    assert len(own) >= 60
    assert judged(judge, own, Notes.ALL) == []


HOSTILE = (
    "*/ evil() /*",
    "a\nevil()",
    "a\r\nevil()",
    "a\u2028evil()",
    "// ${evil()} `evil()`",
    "```\nevil\n```",
    "\ud800",
    "\x00\x1b[31m",
    "\u202eevil\u202c",
    "'\"\\",
    "{{types}} $& $' \\1",
    "</script><!--",
)


@pytest.mark.proves("C05a")
@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_texts_stay_inside_their_comment_or_literal(judge, text):
    inner = {
        "type": "string",
        "title": text,
        "description": f"before {text} after",
        "format": text,
        "pattern": text,
    }
    inner |= {"default": text, "examples": [text]}
    schema = {
        "type": "object",
        "properties": {"a": inner, text: {"enum": [text, "b"]}, "c": {"$ref": "#/$defs/x"}},
        "required": [text],
        "$defs": {
            "x": {
                "title": text,
                "description": text,
                "type": "object",
                "properties": {text: {"$ref": "#/$defs/x"}},
            }
        },
    }
    value = json.dumps(text)
    case: dict[str, Any] = {
        "name": "hostile",
        "schema": schema,
        "accepts": [f"{{{value}: {value}}}", f'{{{value}: "b", a: "x"}}'],
        "refuses": ["{}", f"{{{value}: 'c'}}", f"{{{value}: 'b', a: 1}}", f"{{{value}: 'b', evil: 1}}"],
    }
    if text == "\x00\x1b[31m":
        case["accepts"] = case["accepts"][:1]
    assert judged(judge, [case], Notes.ALL) == []
    written = declaration(schema, notes=Notes.ALL)
    assert not re.search("[\x00-\x09\x0b-\x1f\u2028\u2029\u202a-\u202e\ud800-\udfff]", written)
    assert "```" not in written


@pytest.mark.proves("C05c", "C05d")
@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"type": "integer", "minimum": 1, "maximum": 100, "default": 50}, "a?: int // 1..100; = 50"),
        ({"type": "integer", "minimum": 0}, "a?: int // >=0"),
        ({"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1.5}, "a?: number // >0; <1.5"),
        ({"type": "number", "multipleOf": 0.5}, "a?: number // step 0.5"),
        ({"type": "string", "minLength": 1, "maxLength": 20}, "a?: string // 1-20 chars"),
        ({"type": "string", "minLength": 1}, "a?: string // 1+ chars"),
        ({"type": "string", "maxLength": 9}, "a?: string // <=9 chars"),
        ({"type": "string", "pattern": "^[A-Z]+$"}, "a?: string // /^[A-Z]+$/"),
        ({"type": "string", "format": "date-time"}, "a?: datetime"),
        ({"type": "string", "format": "hostname"}, "a?: string // hostname"),
        ({"type": "string", "examples": ["x-1", "x-2"]}, 'a?: string // e.g. "x-1"'),
        ({"type": "string", "description": "Who\n pays.", "default": ""}, 'a?: string // Who pays; = ""'),
        ({"type": "array", "items": {"type": "integer", "minimum": 1}, "uniqueItems": True}, "a?: int[] // unique; each >=1"),
        ({"anyOf": [{"type": "integer", "minimum": 1}, {"type": "null"}], "default": None}, "a?: int | null // >=1"),
        ({"type": "string", "deprecated": True}, "a?: string // deprecated"),
        ({"type": "string", "description": "The a", "title": "A"}, "a?: string }"),
        ({"type": "string", "default": "x" * 50}, "a?: string }"),
        ({"type": "number", "minimum": True, "maximum": "9"}, "a?: number }"),
    ],
)  # fmt: skip
def test_what_a_type_cannot_say_is_a_short_comment(schema, expected):
    written = declaration({"type": "object", "properties": {"a": schema}}, notes=Notes.ALL)
    assert expected in written
    assert re.search(re.escape(expected) + "( |;|$)", written, re.MULTILINE)


@pytest.mark.proves("C05d")
def test_facts_alone_leave_descriptions_and_examples_out():
    schema = {
        "type": "object",
        "properties": {"a": {"type": "integer", "minimum": 1, "description": "rows", "examples": [3]}},
    }
    assert "// >=1\n" in declaration(schema, notes=Notes.FACTS)
    assert "//" not in declaration(schema, notes=Notes.NONE)


@pytest.mark.proves("C05a")
def test_a_long_enumeration_is_cut_with_a_note():
    written = declaration({"enum": [f"v{number}" for number in range(500)]})
    assert '"v29" | /* 470 more */ (string & {})' in written
    assert len(written) < 400


@pytest.mark.proves("C05a")
def test_a_schema_deeper_than_the_bound_is_unknown_from_there():
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(2_000):
        schema = {"type": "array", "items": schema}
    assert "unknown[]" in declaration(schema)


@pytest.mark.proves("C05a")
def test_definitions_that_double_at_each_step_stay_small():
    doubling = {
        f"d{n}": {"type": "object", "properties": {k: {"$ref": f"#/$defs/d{n + 1}"} for k in "ab"}}
        for n in range(40)
    }
    doubling["d40"] = {"type": "string"}
    assert len(declaration({"$ref": "#/$defs/d0", "$defs": doubling})) < 5_000


USER = {
    "type": "object",
    "properties": {"id": {"type": "integer"}, "name": {"type": "string"}, "email": {"type": "string"}},
}


@pytest.mark.proves("C05b")
def test_equal_shapes_of_different_documents_are_declared_once():
    shapes = Shapes()
    one = read(
        shapes, {"type": "array", "items": {"$ref": "#/$defs/User"}, "$defs": {"User": USER}}, output=True
    )
    other = read(shapes, {"$ref": "#/definitions/User", "definitions": {"User": USER}}, output=True)
    third = read(shapes, USER | {"title": "User"}, output=True)
    writer = Writer(shapes, [one, other, third])
    assert [writer.expression(shape) for shape in (one, other, third)] == ["User[]", "User", "User"]
    assert [line for line in writer.declarations() if "email" in line] == [
        "type User = { id?: int; name?: string; email?: string };"
    ]


@pytest.mark.proves("C05b")
def test_a_shape_that_contains_itself_is_shared_too():
    tree = {
        "type": "object",
        "properties": {"children": {"type": "array", "items": {"$ref": "#/$defs/Tree"}}},
    }
    shapes = Shapes()
    roots = [read(shapes, {"$ref": "#/$defs/Tree", "$defs": {"Tree": tree}}) for _ in range(2)]
    assert roots[0] is roots[1]
    assert Writer(shapes, roots).declarations() == ["type Tree = { children?: Tree[] };"]


@pytest.mark.proves("C05b")
def test_shapes_of_one_name_that_differ_have_names_of_their_own():
    shapes = Shapes()
    long = {"type": "string", "description": "long enough to be worth a name"}
    documents = [
        {
            "type": "array",
            "items": {"$ref": "#/$defs/User"},
            "$defs": {"User": {"properties": {"first": long, key: long}}},
        }
        for key in ("second", "third", "second", "third")
    ]
    roots = [read(shapes, document) for document in documents]
    writer = Writer(shapes, roots)
    assert [writer.expression(root) for root in roots] == ["User[]", "User2[]", "User[]", "User2[]"]


@pytest.mark.proves("C05b")
def test_pages_that_differ_in_their_model_only_become_one_generic_type():
    shapes = Shapes()
    models = {
        name: {"type": "object", "properties": {name: {"type": "string"}, "id": {"type": "integer"}}}
        for name in "abc"
    }
    roots = [
        read(
            shapes,
            {
                "title": f"Page[{name}]",
                "type": "object",
                "properties": {"results": {"type": "array", "items": model}, "total": {"type": "integer"}},
                "required": ["results", "total"],
            },
            output=True,
        )
        for name, model in models.items()
    ]
    writer = Writer(shapes, roots)
    assert "type Page<T> = { results: T[]; total: int };" in writer.declarations()
    assert writer.expression(roots[0]) == "Page<{ a?: string; id?: int }>"


# Beside those that `keywords` gives values of their own.
OTHER_KEYWORDS = ("nullable", "minimum", "maxLength", "uniqueItems", "format", "pattern", "default", "examples", "description", "title", "additionalItems", "unevaluatedProperties", "multipleOf", "deprecated", "$id")  # fmt: skip
REFERENCES = st.sampled_from(
    ["#", "#/$defs/a", "#/$defs/b", "#/properties/a", "#a", "a", "http://x/y", "#/items/0", "#/%"]
)
TYPE_NAMES = st.sampled_from(["string", "integer", "number", "boolean", "null", "object", "array", "x"])
SCALARS = st.none() | st.booleans() | st.integers(-3, 10**20) | st.floats() | st.text(max_size=12)
NAMES = st.sampled_from(["a", "b", "c", "__proto__", "a b", "é", "then"]) | st.text(max_size=4)


def keywords(schemas: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    maps, lists = st.dictionaries(NAMES, schemas, max_size=3), st.lists(schemas, max_size=3)
    values: dict[str, Any] = dict.fromkeys(("properties", "$defs", "patternProperties"), maps)
    values |= dict.fromkeys(("anyOf", "oneOf", "allOf", "prefixItems"), lists)
    values |= dict.fromkeys(("items", "additionalProperties", "propertyNames", "not"), schemas)
    values |= {
        "type": TYPE_NAMES | st.lists(TYPE_NAMES, max_size=3),
        "$ref": REFERENCES,
        "$dynamicRef": REFERENCES,
    }
    values |= {
        "required": st.lists(NAMES, max_size=3),
        "enum": st.lists(SCALARS | st.lists(SCALARS), max_size=4),
    }
    values |= {
        "const": SCALARS | schemas,
        "$anchor": NAMES,
        "minItems": st.integers(-1, 4),
        "maxItems": st.integers(-1, 4),
    }
    odd = SCALARS | lists | maps
    # One in a few keywords has a value that no schema should have.
    pairs = {name: st.one_of(value, value, value, value, odd) for name, value in values.items()}
    return st.fixed_dictionaries({}, optional=pairs | dict.fromkeys(OTHER_KEYWORDS, odd))


SCHEMAS = st.recursive(
    st.booleans() | SCALARS | st.fixed_dictionaries({"type": TYPE_NAMES}), keywords, max_leaves=12
)


@pytest.mark.thorough
@pytest.mark.proves("C05a")
def test_whatever_stands_in_a_schema_the_declaration_compiles(judge):
    written: list[dict[str, Any]] = []

    @settings(max_examples=100, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(keywords(SCHEMAS))
    def declare_anything(schema):
        text = declaration(schema, notes=Notes.ALL)
        assert declaration(json.loads(json.dumps(schema)), notes=Notes.ALL) == text
        text.encode()
        written.append({"name": repr(schema), "declaration": text, "accepts": [], "refuses": []})

    declare_anything()
    broken = [verdict for verdict in judge(written) if verdict["broken"]]
    assert not broken, broken[:3]
