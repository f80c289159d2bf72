"""What a tool takes: the schema that clients see, and what its function gets (T04-T07)."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from enum import Enum, IntEnum
from functools import partial
from typing import Annotated, Any, Literal, NotRequired
from uuid import UUID

import pytest
from django.http import HttpRequest
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter
from typing_extensions import TypedDict

from mcp_server import Context, tool
from tests.door import call, client, listed, run, serving


@pytest.fixture(autouse=True)
def tools(db: Any) -> Iterator[None]:
    with serving():
        yield


class Format(Enum):
    DECIMAL = "decimal"
    FRACTION = "fraction"


class Level(IntEnum):
    LOW = 1
    HIGH = 2


class Address(BaseModel):
    street: str = Field(min_length=1)
    zip: str = "0000"


def schema_of(name: str = "take") -> dict[str, Any]:
    found: dict[str, Any] = listed()[name]["inputSchema"]
    return found


ROWS = {
    "text with lengths": (
        Annotated[str, Field(min_length=1, max_length=5)],
        {"type": "string", "minLength": 1, "maxLength": 5},
        ["a", "åäöåä"],
        ["", "abcdef", 5, None],
    ),
    "number with range": (
        Annotated[float, Field(ge=0, le=100)],
        {"type": "number", "minimum": 0, "maximum": 100},
        [0, 99.5, 100],
        [-0.1, 101, "5", True],
    ),
    "whole number": (int, {"type": "integer"}, [5, 5.0, -1], [5.5, "5", True, None]),
    "boolean": (bool, {"type": "boolean"}, [True, False], ["true", 1, 0, None]),
    "array": (
        list[float],
        {"type": "array", "items": {"type": "number"}},
        [[], [1, 2.5]],
        [["1"], "1", {"a": 1}, [None]],
    ),
    "nested object": (
        Address,
        {"$ref": "#/$defs/Address"},
        [{"street": "A"}, {"street": "A", "zip": "1"}],
        [{}, {"street": ""}, {"street": 1}, [], "A"],
    ),
    "enum": (Format, {"$ref": "#/$defs/Format"}, ["decimal"], ["DECIMAL", "x", 1]),
    "whole enum": (Level, {"$ref": "#/$defs/Level"}, [1, 2.0], ["1", True, 3]),
    "literal": (Literal["a", "b"], {"enum": ["a", "b"], "type": "string"}, ["a"], ["c", None, 1]),
    "nullable": (int | None, {"anyOf": [{"type": "integer"}, {"type": "null"}]}, [None, 1], ["1"]),
    "date": (date, {"type": "string", "format": "date"}, ["2024-01-31"], ["2024-13-01", 86400, "x"]),
    "datetime": (datetime, {"type": "string", "format": "date-time"}, ["2024-01-31T10:00:00Z"], [5, "x"]),
    "uuid": (UUID, {"type": "string", "format": "uuid"}, [str(UUID(int=5))], ["x", 5]),
    "keys that are numbers": (
        dict[int, str],
        {"type": "object", "additionalProperties": {"type": "string"}},
        [{"5": "a"}, {}],
        [{"x": "a"}, {"5": 5}],
    ),
}


@pytest.mark.proves("T04a", "T04b", "T04c", "T06b", "T06d")
@pytest.mark.parametrize(("annotation", "schema", "right", "wrong"), ROWS.values(), ids=ROWS)
def test_each_row_of_the_seeds_table_has_its_form(
    annotation: Any, schema: dict[str, Any], right: list[Any], wrong: list[Any]
):
    got: list[Any] = []

    def take(value: annotation) -> None:
        got.append(value)

    take.__annotations__["value"] = annotation
    tool(take)
    assert schema_of()["properties"]["value"] == schema
    assert schema_of()["required"] == ["value"]
    for value in right:
        assert not call("take", {"value": value}).is_error, value
    assert len(got) == len(right)
    for value in wrong:
        result = call("take", {"value": value})
        assert result.is_error
        assert result.text.startswith("[400] Invalid arguments for take:\n- value")
    assert len(got) == len(right), "the handler ran on bad input"


@pytest.mark.proves("T04d")
def test_defaults_are_shown_and_reach_the_function():
    @tool
    def take(a: str, b: int = 3, c: list[str] = [], d: str | None = None, e: Format = Format.DECIMAL) -> Any:  # noqa: B006 - authors write so
        c.append("x")
        return [a, b, c, d, repr(e)]

    properties = schema_of()["properties"]
    assert schema_of()["required"] == ["a"]
    assert properties["b"]["default"] == 3
    assert properties["c"]["default"] == []
    assert properties["d"]["default"] is None
    assert properties["e"]["default"] == "decimal"
    program = "return await codemode.take({a: 'x'})"
    for _ in range(2):  # a list that one call changes is not the next one's
        assert run(program) == ["x", 3, ["x"], None, "<Format.DECIMAL: 'decimal'>"]
    assert "required" in call("take", {"b": 1}).text


@pytest.mark.proves("T04e")
def test_descriptions_come_from_fields_and_docstrings():
    @tool
    def google(a: str, b: Annotated[int, Field(description="From the field")] = 1) -> None:
        """Do it.

        More on it.

        Args:
            a: The first,
                in two lines.
            b: From the docstring
        """

    @tool
    def numpy(a: str) -> None:
        """Do it.

        Parameters
        ----------
        a : str
            The first
        """

    @tool
    def sphinx(a: str) -> None:
        """Do it.

        :param a: The first
        """

    tools = listed()
    assert tools["google"]["description"] == "Do it.\n\nMore on it."
    assert [item["description"] for item in tools["google"]["inputSchema"]["properties"].values()] == [
        "The first, in two lines.",
        "From the field",
    ]
    for name in ("numpy", "sphinx"):
        assert tools[name]["description"] == "Do it."
        assert tools[name]["inputSchema"]["properties"]["a"]["description"] == "The first"


@pytest.mark.proves("T04f", "T06b")
@pytest.mark.parametrize("style", ["annotated", "default"])
def test_an_alias_is_the_name_everywhere_and_the_function_gets_its_own(style: str):
    if style == "annotated":

        @tool
        def take(user_id: Annotated[int, Field(alias="userId", ge=1)] = 7) -> int:
            return user_id

    else:

        @tool(name="take")
        def take_default(user_id: int = Field(7, alias="userId", ge=1)) -> int:
            return user_id

    assert schema_of()["properties"] == {"userId": {"type": "integer", "minimum": 1, "default": 7}}
    assert call("take", {"userId": 3}).text == "3"
    assert call("take").text == "7"
    assert "- userId is wrong" in call("take", {"userId": 0}).text
    assert 'user_id is not an argument; did you mean "userId"?' in call("take", {"user_id": 3}).text
    code = listed(endpoint="code")["code"]["description"]
    assert "userId?: int" in code
    assert "user_id" not in code


@pytest.mark.proves("T05a", "T05b")
@pytest.mark.parametrize("arguments", [{}, None])
def test_a_tool_without_parameters_takes_nothing(arguments: Any):
    @tool
    def take() -> str:
        return "ok"

    assert schema_of() == {"type": "object", "properties": {}, "additionalProperties": False}
    params = {"name": "take"} if arguments is None else {"name": "take", "arguments": arguments}
    assert client().request("tools/call", params)["content"][0]["text"] == "ok"
    assert run("return [await codemode.take(), await codemode.take({})]") == ["ok", "ok"]
    assert "The tool takes no arguments." in call("take", {"a": 1}).text


@pytest.mark.proves("T06b", "T06c")
def test_every_wrong_field_is_named_with_its_reason_and_none_with_its_value():
    @tool
    def take(address: Address, tags: list[int], user_name: str) -> None: ...

    text = call("take", {"address": {"street": "", "zip": 7}, "tags": [1, "hunter2"], "userName": "x"}).text
    assert text == (
        "[400] Invalid arguments for take:\n"
        "- address.street is wrong: String should have at least 1 character\n"
        "- address.zip is wrong: Input should be a valid string\n"
        "- tags[1] is wrong: Input should be a valid integer\n"
        "- user_name is required\n"
        '- userName is not an argument; did you mean "user_name"?\n'
        "Valid arguments: address, tags, user_name."
    )


@pytest.mark.proves("T06c")
def test_unknown_arguments_may_be_ignored():
    @tool(extra="ignore")
    def take(a: int = 1) -> int:
        return a

    assert call("take", {"a": 2, "b": 3}).text == "2"
    assert schema_of().get("additionalProperties") is not False


@pytest.mark.proves("T06d")
def test_text_counts_as_a_number_where_the_author_says_so():
    @tool
    def take(a: Annotated[int, Field(strict=False)], b: int = 0) -> int:
        return a + b

    assert call("take", {"a": "5"}).text == "5"
    assert call("take", {"a": 1, "b": "5"}).is_error


class Query(BaseModel):
    text: str
    limit: Annotated[int, Field(alias="maxItems")] = 10


class QueryDict(TypedDict):
    text: str
    limit: NotRequired[int]


@dataclass(slots=True)
class QueryClass:
    text: str
    limit: int = 10


class Open(BaseModel):
    model_config = ConfigDict(extra="allow")
    text: str


@pytest.mark.proves("T07a", "T06c")
@pytest.mark.parametrize(
    ("declared", "key"), [(Query, "maxItems"), (QueryDict, "limit"), (QueryClass, "limit"), (TypeAdapter(Query), "maxItems")],
    ids=["model", "TypedDict", "dataclass", "adapter"],
)  # fmt: skip
def test_an_input_schema_is_spread_over_the_parameters_or_given_whole(declared: Any, key: str):
    @tool(input_schema=declared)
    def spread(text: str, limit: int = 10) -> str:
        return f"{text} {limit}"

    @tool(input_schema=declared)
    def whole(query: Any) -> str:
        found: str = query["text"] if isinstance(query, dict) else query.text
        return found

    schema = schema_of("spread")
    assert schema["type"] == "object"
    assert "$ref" not in schema
    assert schema["additionalProperties"] is False
    assert call("spread", {"text": "a"}).text == "a 10"
    assert call("spread", {"text": "a", key: 3}).text == "a 3"
    assert call("whole", {"text": "a"}).text == "a"
    assert "- text is required" in call("spread", {}).text
    assert (
        f'{key}x is not an argument; did you mean "{key}"?' in call("whole", {"text": "a", f"{key}x": 1}).text
    )


@pytest.mark.proves("T06c", "T07a")
def test_a_model_that_allows_more_says_so_itself():
    @tool(input_schema=Open)
    def take(query: Open) -> Any:
        return query.model_extra

    assert call("take", {"text": "a", "b": 1}).text == '{\n  "b": 1\n}'


HAND_WRITTEN = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "properties": {
        "id": {"type": "string", "pattern": "^[0-9]+$"},
        "kind": {"oneOf": [{"const": "a"}, {"const": "b"}]},
        "pair": {"type": "array", "prefixItems": [{"type": "integer"}, {"type": "string"}], "items": False},
    },
    "required": ["id"],
    "additionalProperties": False,
    "x-own": True,
}


@pytest.mark.proves("T07b", "T07c", "T06b", "T06c")
def test_a_hand_written_schema_is_sent_unchanged_and_enforced():
    @tool(input_schema=HAND_WRITTEN)
    def take(**given: Any) -> Any:
        return given

    assert schema_of() == HAND_WRITTEN
    assert not call("take", {"id": "5", "kind": "a", "pair": [1, "x"]}).is_error
    text = call("take", {"id": "x", "pair": [1, 2], "kid": "a"}).text
    assert text.startswith("[400] Invalid arguments for take:")
    for said in ("- id ", "- pair[1] ", 'kid is not an argument; did you mean "kind"?'):
        assert said in text
    assert "- id" not in call("take", {"id": "5", "kind": "z"}).text
    assert "'id' is a required property" in call("take", {}).text


@pytest.mark.proves("T07c")
def test_a_hand_written_schema_reads_nothing_from_elsewhere():
    schema = {"type": "object", "properties": {"a": {"$ref": "https://example.com/schema.json"}}}

    @tool(input_schema=schema)
    def take(a: Any) -> None: ...

    result = call("take", {"a": 1})
    assert result.is_error
    assert "example.com" not in result.text


@pytest.mark.proves("T22", "T18a")
def test_context_and_request_are_given_and_never_asked_for():
    @tool
    def take(ctx: Context, request: HttpRequest, a: int = 1, also: Context | None = None) -> str:
        return f"{ctx.endpoint} {request.method} {a} {also is ctx}"

    assert schema_of()["properties"].keys() == {"a"}
    assert call("take", {"a": 2}).text == "default POST 2 True"
    assert "ctx is not an argument" in call("take", {"ctx": 1}).text


class Adder:
    """Callable objects are tools too."""

    def __init__(self, by: int) -> None:
        self.by = by

    def __call__(self, a: int) -> int:
        return a + self.by

    def method(self, a: int) -> int:
        return a - self.by


@pytest.mark.proves("T22")
@pytest.mark.parametrize(
    ("function", "text"),
    [(Adder(2), "7"), (Adder(2).method, "3"), (partial(Adder(2).method), "3")],
    ids=["object", "method", "partial"],
)
def test_any_callable_can_be_a_tool(function: Callable[..., Any], text: str):
    tool(name="take")(function)
    assert call("take", {"a": 5}).text == text
    assert call("take", {"a": "5"}).is_error


@pytest.mark.proves("T22")
def test_names_that_pydantic_keeps_for_itself_are_arguments_like_any_other():
    @tool
    def take(
        copy: int, schema: int, _hidden: int, model_config: int, json: int, self: int, p0: int = 0
    ) -> int:
        return copy + schema + _hidden + model_config + json + self + p0

    names = ["copy", "schema", "_hidden", "model_config", "json", "self"]
    assert list(schema_of()["properties"]) == [*names, "p0"]
    assert call("take", dict.fromkeys(names, 1)).text == "6"


@pytest.mark.proves("T22")
def test_a_decorated_function_is_the_function_that_it_was():
    def add(a: int, b: int = 2) -> int:
        return a + b

    assert tool(add) is add
    assert tool(name="other")(add) is add
    assert add(1) == 3
    with pytest.raises(TypeError):
        add("1")


@pytest.mark.proves("T06a")
def test_decimals_and_dates_reach_the_function_as_such():
    @tool
    def take(price: Decimal, day: date) -> str:
        return f"{price * 2} {day.isoweekday()}"

    assert call("take", {"price": "1.10", "day": "2024-01-31"}).text == "2.20 3"
    assert call("take", {"price": 2, "day": "2024-01-31"}).text == "4 3"
    assert call("take", {"price": "x", "day": 5}).is_error
