"""What a handler gives back, as each format and revision gets it (T08-T11, R01-R08, R13)."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from enum import Enum
from typing import Any
from uuid import UUID

import pytest
from django.contrib.auth.models import Group, User
from django.utils.translation import gettext_lazy
from pydantic import BaseModel, Field, TypeAdapter
from typing_extensions import TypedDict

from mcp_server import Audio, EmbeddedResource, Image, ResourceLink, ToolResult, tool
from mcp_server.models import ToolCall
from tests.door import call, client, listed, run, serving

OLD = {"MCP-Protocol-Version": "2025-03-26"}


@pytest.fixture(autouse=True)
def tools(db: Any) -> Iterator[None]:
    with serving():
        yield


def returning(value: Any, annotation: Any = Any, **settings: Any) -> None:
    """Define the tool `give`, which returns a value, or what a function makes of nothing."""

    def give() -> Any:
        return value() if callable(value) else value

    give.__annotations__["return"] = annotation
    tool(**settings)(give)


class Person(BaseModel):
    name: str
    age: int | None = None


@dataclass
class Point:
    x: int
    labels: list[str] = field(default_factory=list)


class Colour(Enum):
    RED = "red"


PLAIN = {
    "text": ("Hello\n", "Hello\n"),
    "whole float": (10.0, "10"),
    "float": (1.5, "1.5"),
    "huge float": (1e300, "1e+300"),
    "int": (7, "7"),
    "true": (True, "true"),
    "false": (False, "false"),
    "none": (None, ""),
    "object": ({"name": "Åsa", "ids": [1]}, '{\n  "name": "Åsa",\n  "ids": [\n    1\n  ]\n}'),
    "empty list": ([], "[]"),
    "model": (Person(name="Ada"), '{\n  "name": "Ada",\n  "age": null\n}'),
    "dataclass": (Point(1, ["a"]), '{\n  "x": 1,\n  "labels": [\n    "a"\n  ]\n}'),
    "date": (date(2024, 1, 31), "2024-01-31"),
    "datetime": (datetime(2024, 1, 31, 12, tzinfo=UTC), "2024-01-31T12:00:00Z"),
    "timedelta": (timedelta(hours=1), "PT1H"),
    "decimal": (Decimal("1.10"), "1.10"),
    "uuid": (UUID(int=1), "00000000-0000-0000-0000-000000000001"),
    "enum": (Colour.RED, "red"),
    "lazy": (gettext_lazy("Yes"), "Yes"),
    "lazy inside": ({"a": gettext_lazy("Yes")}, '{\n  "a": "Yes"\n}'),
    "tuple": ((1, 2), "[\n  1,\n  2\n]"),
    "set": ({3}, "[\n  3\n]"),
    "generator": (lambda: (n * n for n in range(2)), "[\n  0,\n  1\n]"),
    "generator inside": (lambda: {"a": (n for n in range(1))}, '{\n  "a": [\n    0\n  ]\n}'),
    "half a surrogate": ("a\ud800b", "a\ufffdb"),
    "half a surrogate in a dataclass": (Point(1, ["\ud800"]), '{\n  "x": 1,\n  "labels": [\n    "\ufffd"\n  ]\n}'),
    "a word like NaN": ("NaN and Infinity", "NaN and Infinity"),
    "content is data": ({"content": [], "isError": True}, '{\n  "content": [],\n  "isError": true\n}'),
}  # fmt: skip


@pytest.mark.proves("T08a", "T08b", "T08c", "T08d", "T09", "S08")
@pytest.mark.parametrize(("value", "text"), PLAIN.values(), ids=PLAIN)
def test_a_plain_value_becomes_text(value: Any, text: str):
    returning(value)
    result = call("give")
    assert (result.text, result.structured, result.is_error) == (text, None, False)
    assert result.content == ([] if value is None else [{"type": "text", "text": text}])


@pytest.mark.proves("R01", "R03a", "R03b", "R04", "T08d")
@pytest.mark.parametrize(("value", "text"), PLAIN.values(), ids=PLAIN)
def test_under_json_text_and_structured_content_are_the_same_object(value: Any, text: str):
    returning(value)
    result = call("give", endpoint="json")
    assert not result.is_error
    if value is None:
        assert (result.content, result.structured) == ([{"type": "text", "text": ""}], None)
        return
    assert json.loads(result.text) == result.structured
    assert result.text == json.dumps(result.structured, separators=(",", ":"), ensure_ascii=False)
    plain = result.structured
    if isinstance(value, dict | BaseModel | Point):
        assert "result" not in plain
    elif isinstance(value, list | tuple | set):
        assert plain.keys() == {"results"}


@pytest.mark.proves("R03b")
def test_an_object_that_has_results_is_not_wrapped_again():
    returning({"results": [1], "count": 9})
    assert call("give", endpoint="json").structured == {"results": [1], "count": 9}


def circle() -> Any:
    inner: dict[str, Any] = {}
    inner["rows"] = [inner]
    return {"deep": inner}


def self_holding() -> Any:
    point = Point(1)
    point.labels = [point]  # type: ignore[list-item]
    return {"point": point}


BROKEN = {
    "NaN": (lambda: {"rows": [{"price": float("nan")}]}, "nan at rows[0].price"),
    "infinity": (lambda: [1.0, float("-inf")], "-inf at [1]"),
    "NaN alone": (lambda: float("nan"), "nan at the top"),
    "NaN in a model": (lambda: Temperature(degrees=float("nan")), "nan at degrees"),
    "a cycle": (circle, "it holds itself at deep.rows[0]"),
    "a cycle through a dataclass": (self_holding, "it holds itself at point.labels[0]"),
    "an object": (lambda: {"a": object()}, "a object object"),
    "a function": (lambda: {"a": len}, "object"),
    "a model instance": (
        lambda: {"rows": [User(username="ada", password="hunter2")]},
        "annotate what the tool returns with a pydantic model, a TypedDict or a dataclass that has their names; it is at rows[0]",
    ),
    "a QuerySet": (lambda: User.objects.filter(username="ada"), "a User instance; say which fields"),
}


class Temperature(BaseModel):
    degrees: float


@pytest.mark.proves("T08e", "T08f", "T14e")
@pytest.mark.parametrize("where", ["default", "json", "code"])
@pytest.mark.parametrize(("value", "reason"), BROKEN.values(), ids=BROKEN)
def test_what_json_cannot_hold_is_an_error_that_names_the_path(
    value: Any, reason: str, where: str, caplog: pytest.LogCaptureFixture
):
    User.objects.create_user("ada")
    returning(value)
    result = (
        client(endpoint="code").run("await codemode.give()")
        if where == "code"
        else call("give", endpoint=where)
    )
    assert result.is_error
    assert "The tool returned a value that JSON cannot hold: " in result.text
    assert reason in result.text
    assert "hunter2" not in result.text
    assert ToolCall.objects.get(tool="give").status == "crashed"
    assert ToolCall.objects.get(tool="give").reference in caplog.text


@pytest.mark.proves("T08f", "T11b")
def test_a_declared_number_that_is_none_is_named_too():
    returning(lambda: Temperature(degrees=float("inf")), Temperature)
    assert "inf at degrees" in call("give").text


class GroupOut(TypedDict):
    id: int
    name: str


class UserOut(TypedDict):
    username: str
    groups: list[GroupOut]


@dataclass
class UserCard:
    username: str
    groups: list[GroupOut]


class GroupModel(BaseModel):
    name: str


class UserModel(BaseModel):
    username: str
    shown_as: str = Field(alias="first_name", serialization_alias="shownAs")
    groups: list[GroupModel]


@pytest.fixture
def ada() -> User:
    user = User.objects.create_user("ada", password="hunter2", first_name="Ada")
    user.groups.add(Group.objects.create(pk=1, name="crew"))
    return user


ROWS = [UserOut, UserCard]


@pytest.mark.proves("T08e", "T11a", "R03a", "R13a")
@pytest.mark.parametrize("kind", ROWS)
@pytest.mark.parametrize("is_async", [False, True])
def test_rows_of_a_query_set_are_read_by_the_declared_type(ada: User, kind: Any, is_async: bool):
    if is_async:

        @tool
        async def users() -> list[kind]:
            return User.objects.all()

        @tool
        async def user() -> kind:
            return await User.objects.aget()

    else:

        @tool(name="users")
        def sync_users() -> list[kind]:
            return User.objects.all()

        @tool(name="user")
        def sync_user() -> kind:
            return User.objects.get()

    row = {"username": "ada", "groups": [{"id": 1, "name": "crew"}]}
    result = call("users")
    assert json.loads(result.text) == [row]
    assert result.structured == {"results": [row]}
    assert call("users", endpoint="json").structured == {"results": [row]}
    assert call("user").structured == row
    assert run("return await codemode.users()") == [row]


@pytest.mark.proves("T08e")
def test_models_read_instances_and_their_relations_by_attributes(ada: User):
    returning(User.objects.all, list[UserModel])
    assert call("give").structured == {
        "results": [{"username": "ada", "shownAs": "Ada", "groups": [{"name": "crew"}]}]
    }


@pytest.mark.proves("T08e")
def test_values_of_a_query_set_need_no_declaration(ada: User):
    returning(lambda: User.objects.values("username"))
    assert json.loads(call("give").text) == [{"username": "ada"}]


@pytest.mark.proves("R03a", "T11a")
@pytest.mark.parametrize(
    ("annotation", "value", "structured"),
    [
        (list[Person], [], {"results": []}),
        (tuple[Person, ...], (Person(name="Ada"),), {"results": [{"name": "Ada", "age": None}]}),
        (Iterator[Person], lambda: (Person(name=n) for n in ["Ada"]), {"results": [{"name": "Ada", "age": None}]}),
        (Person, {"name": "Ada"}, {"name": "Ada", "age": None}),
        (Person | Point, Point(3), {"x": 3, "labels": []}),
        (Person | Point, Person(name="Ada"), {"name": "Ada", "age": None}),
    ],
)  # fmt: skip
def test_a_declared_output_is_described_and_kept(annotation: Any, value: Any, structured: Any):
    from jsonschema import Draft202012Validator

    returning(value, annotation)
    schema = listed()["give"]["outputSchema"]
    assert schema["type"] == "object"
    result = call("give")
    assert result.structured == structured
    Draft202012Validator(schema).validate(result.structured)
    assert json.loads(result.text) == structured.get("results", structured)


@pytest.mark.proves("T11b", "T14e")
@pytest.mark.parametrize(
    ("annotation", "value"), [(Person, {"nme": "hunter2"}), (list[Person], "hunter2"), (Person, None)]
)
def test_a_return_that_breaks_its_declaration_is_an_error_and_logged(
    annotation: Any, value: Any, caplog: pytest.LogCaptureFixture
):
    returning(value, annotation)
    result = call("give")
    assert result.is_error
    assert result.text.startswith("The tool's result does not fit the output that it declares. (reference ")
    assert "hunter2" not in result.text
    assert ToolCall.objects.get().reference in caplog.text
    assert "ValidationError" in caplog.text


@pytest.mark.proves("T11d", "T08b")
def test_a_type_that_admits_none_advertises_no_output_schema():
    returning(None, Person | None)
    assert "outputSchema" not in listed()["give"]
    assert (call("give").content, call("give").structured) == ([], None)


@pytest.mark.proves("T11c", "T09")
def test_structured_content_alone_gets_a_json_text():
    returning(lambda: ToolResult(structured_content={"bmi": 25.5, "category": "Normal"}))
    result = call("give")
    assert result.structured == {"bmi": 25.5, "category": "Normal"}
    assert json.loads(result.text) == result.structured
    assert run("return await codemode.give()") == result.structured


@pytest.mark.proves("T09", "T11b")
def test_a_full_result_is_held_to_the_declared_output():
    returning(lambda: ToolResult(structured_content={"nme": 1}), output_schema=Person)
    assert call("give").text.startswith("The tool's result does not fit")


@pytest.mark.proves("T09", "R05a")
def test_a_full_result_says_itself_whether_it_failed():
    returning(lambda: ToolResult(content=["Gone", Image(b"x")], is_error=True, meta={"shop/trace": "1"}))
    result = call("give")
    assert (result.is_error, result.text, result.meta) == (True, "Gone", {"shop/trace": "1"})
    assert [item["type"] for item in result.content] == ["text", "image"]
    assert json.loads(call("give", endpoint="json").text) == {"error": True, "message": "Gone"}
    caught = run("try { await codemode.give() } catch (error) { return error.message }")
    assert caught == "Gone"


@pytest.mark.proves("T10a", "T10b")
@pytest.mark.parametrize("data", [b"\x89PNG", bytearray(b"\x89PNG"), "iVBORw=="])
def test_media_are_bytes_or_base64(data: Any):
    returning(lambda: [Image(data), Audio(data, "audio/mpeg"), EmbeddedResource(uri="test://a", blob=data)])
    image, audio, resource = call("give").content
    assert image == {"type": "image", "data": "iVBORw==", "mimeType": "image/png"}
    assert audio == {"type": "audio", "data": "iVBORw==", "mimeType": "audio/mpeg"}
    assert resource == {"type": "resource", "resource": {"uri": "test://a", "blob": "iVBORw=="}}


@pytest.mark.proves("T10b")
@pytest.mark.parametrize(
    "value",
    [
        lambda: Image("not base64!"),
        lambda: Image(None),
        lambda: ToolResult(content=[Audio(5)]),
        lambda: ToolResult(content=[{"type": "text", "text": "hunter2"}]),  # type: ignore[list-item]
        lambda: ToolResult(content=[b"bytes"]),  # type: ignore[list-item]
        lambda: EmbeddedResource(uri="test://a"),
        lambda: EmbeddedResource(uri="test://a", blob="%%%"),
    ],
    ids=["text", "None", "a number", "a dict", "bytes", "an empty resource", "a blob of text"],
)
def test_content_that_cannot_be_sent_is_the_tools_failure(value: Any):
    returning(value)
    for endpoint in ("default", "json"):
        result = call("give", endpoint=endpoint)
        assert result.is_error
        assert "The tool returned" in result.text
        assert "hunter2" not in result.text
    assert set(ToolCall.objects.values_list("status", flat=True)) == {"crashed"}


@pytest.mark.proves("T10a")
def test_one_content_item_and_links_are_content():
    returning(lambda: ResourceLink(uri="test://a", name="a", title="A", size=3))
    assert call("give").content == [
        {"type": "resource_link", "uri": "test://a", "name": "a", "title": "A", "size": 3}
    ]


LIMIT = 2048


@pytest.mark.proves("R08a", "R08b")
@pytest.mark.parametrize("letter", ["a", "é", "文", "😀"])
@pytest.mark.parametrize("endpoint", ["default", "json"])
def test_text_at_the_cap_is_whole_and_a_byte_more_is_not(letter: str, endpoint: str):
    frame = len('{"result":""}') if endpoint == "json" else 0
    letters, rest = divmod(LIMIT - frame, len(letter.encode()))
    whole = letter * letters + "." * rest
    with serving(TEXT_LIMIT=LIMIT):
        returning(lambda: whole)
        result = call("give", endpoint=endpoint)
        assert (len(result.text.encode()), result.is_error) == (LIMIT, False)
    with serving(TEXT_LIMIT=LIMIT):
        returning(lambda: whole + ".")
        result = call("give", endpoint=endpoint)
        assert len(result.text.encode()) < 300
        assert f"The result has {LIMIT + 1} bytes, more than the {LIMIT} that text may have." in result.text
        assert result.is_error == (endpoint == "default")
        if endpoint == "json":
            assert "structuredContent" in result.text
            assert result.structured == {"result": whole + "."}
        old = call("give", endpoint=endpoint, headers=OLD)
        assert old.is_error
        assert "`limit` and `fields`" in old.text
        assert endpoint == "default" or json.loads(old.text)["error"] is True


@pytest.mark.proves("R08a", "R08b")
def test_the_cap_counts_all_texts_of_a_full_result_and_keeps_media():
    with serving(TEXT_LIMIT=1024):
        returning(
            lambda: ToolResult(content=["a" * 600, Image(b"x"), "b" * 600], structured_content={"n": 1})
        )
        result = call("give")
    assert [item["type"] for item in result.content] == ["text", "image"]
    assert "structuredContent" in result.text
    assert result.structured == {"n": 1}


@pytest.mark.proves("R02")
def test_older_clients_get_no_structured_content_and_the_same_text():
    returning([Person(name="Ada")], list[Person])
    for endpoint in ("default", "json"):
        old, new = call("give", endpoint=endpoint, headers=OLD), call("give", endpoint=endpoint)
        assert (old.structured, old.text) == (None, new.text)


@pytest.mark.proves("T07a", "T07b", "T07c", "T11b")
def test_a_hand_written_output_schema_is_sent_unchanged_and_enforced():
    schema = {
        "type": "object",
        "properties": {"n": {"type": "integer", "maximum": 5}},
        "required": ["n"],
        "x-own": [1],
    }

    @tool(output_schema=schema)
    def give(n: int) -> Any:
        return {"n": n}

    assert listed()["give"]["outputSchema"] == schema
    assert call("give", {"n": 5}).structured == {"n": 5}
    assert call("give", {"n": 6}).text.startswith("The tool's result does not fit")


@pytest.mark.proves("T07a", "R03b")
def test_any_type_can_be_an_output_schema():
    returning(lambda: ["3", "4"], output_schema=TypeAdapter(list[int]))
    assert listed()["give"]["outputSchema"] == {
        "type": "object",
        "properties": {"results": {"type": "array", "items": {"type": "integer"}}},
        "required": ["results"],
    }
    assert call("give").structured == {"results": [3, 4]}
