"""Schemas of real pydantic and Django models, and hand-written ones, each with values that fit and values that do not."""

import enum
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from ipaddress import IPv4Address
from pathlib import Path
from typing import Annotated, Any, Generic, Literal, NamedTuple, NotRequired, Optional, TypeVar, Union
from uuid import UUID

from django.apps import apps
from django.db import models
from pydantic import (
    AnyUrl,
    Base64Bytes,
    BaseModel,
    ByteSize,
    ConfigDict,
    Discriminator,
    Field,
    Json,
    NonNegativeInt,
    RootModel,
    SecretStr,
    Tag,
    TypeAdapter,
    computed_field,
    conlist,
    create_model,
)
from typing_extensions import TypeAliasType, TypedDict


class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Only(enum.Enum):
    ONE = "one"


class Address(BaseModel):
    """Where letters arrive."""

    street: str
    city: str = "Bonn"


class Person(BaseModel):
    name: str
    home: Address
    work: Address | None = None
    boss: Optional["Person"] = None


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")
    a: int


class Open(BaseModel):
    model_config = ConfigDict(extra="allow")
    a: int


class TypedOpen(BaseModel):
    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, int]
    a: str


class Aliased(BaseModel):
    user_id: int = Field(alias="userId")
    content_type: str = Field("text/plain", alias="content-type")


class Cat(BaseModel):
    kind: Literal["cat"]
    lives: int = 9


class Dog(BaseModel):
    kind: Literal["dog"]
    bark: bool


class Owner(BaseModel):
    pet: Annotated[Cat | Dog, Field(discriminator="kind")]


class Computed(BaseModel):
    width: float

    @computed_field  # type: ignore[prop-decorator]
    @property
    def area(self) -> float:
        return self.width**2


class Bag(RootModel[dict[str, list[int]]]):
    pass


class Movie(TypedDict):
    title: str
    year: NotRequired[int]


class Partial(TypedDict, total=False):
    a: int


class Pair(NamedTuple):
    x: int
    y: str = "?"


@dataclass
class Point:
    x: float
    y: float
    label: str | None = None


Item = TypeVar("Item")


class Page(BaseModel, Generic[Item]):
    results: list[Item]
    next: str | None = None


class Node(BaseModel):
    value: int
    left: Optional["Node"] = None
    right: Optional["Node"] = None


class Folder(BaseModel):
    name: str
    entries: list[Union["Folder", "File"]] = []


class File(BaseModel):
    name: str
    inside: Folder | None = None


class Shop(BaseModel):
    """Deep, with everything shared."""

    manager: Person
    staff: list[Person]
    by_city: dict[str, list[Address]]
    palette: dict[Color, int]
    colors: set[Color] = set()
    opened: datetime
    hours: tuple[time, time]


AnyJSON = TypeAliasType("AnyJSON", "Union[str, float, bool, None, list[AnyJSON], dict[str, AnyJSON]]")  # noqa: RUF036, UP007


def _tagged(value: Any) -> str:
    return "dog" if isinstance(value, dict) and "bark" in value else "cat"


Case = tuple[str, Any, list[str], list[str]]

TYPES: list[Case] = [
    ("text", str, ['"a"'], ["1", "null"]),
    ("whole", int, ["1"], ['"1"', "true"]),
    ("real", float, ["1.5"], ['"x"']),
    ("truth", bool, ["true"], ["1"]),
    ("nothing", None, ["null"], ["1"]),
    ("anything", Any, ["1", '"a"', "null", "[]"], []),
    ("bytes", bytes, ['"a"'], ["1"]),
    ("base64", Base64Bytes, ['"YQ=="'], ["1"]),
    ("moment", datetime, ['"2026-01-01T00:00:00Z"'], ["1"]),
    ("day", date, ['"2026-01-01"'], ["1"]),
    ("clock", time, ['"10:00:00"'], ["1"]),
    ("span", timedelta, ['"P1D"'], ["1"]),
    ("identifier", UUID, ['"0000"'], ["1"]),
    ("link", AnyUrl, ['"https://example.org"'], ["1"]),
    ("address", IPv4Address, ['"127.0.0.1"'], ["1"]),
    ("path", Path, ['"/a"'], ["1"]),
    ("secret", SecretStr, ['"x"'], ["1"]),
    ("size", ByteSize, ["1", '"1KB"'], ["null"]),
    ("decimal", Decimal, ["1.5", '"1.5"'], ["true"]),
    ("not negative", NonNegativeInt, ["0"], ['"0"']),
    ("enumeration", Color, ['"red"'], ['"green"', '"RED"']),
    ("numbers named", Level, ["1", "2"], ["3", '"1"']),
    ("enumeration of one", Only, ['"one"'], ['"two"']),
    ("literal", Literal["a", 1, True, None], ['"a"', "1", "true", "null"], ['"b"', "false", "2"]),  # noqa: PYI061
    ("optional", str | None, ['"a"', "null"], ["1", "undefined"]),
    ("choice", int | str | None, ["1", '"a"', "null"], ["true"]),
    ("list", list[int], ["[]", "[1]"], ['["a"]', "1"]),
    ("list of anything", list, ["[1, 'a']"], ["1"]),
    ("list of choices", list[int | str], ["[1, 'a']"], ["[true]", "1", "'a'"]),
    ("list of optionals", list[str | None], ["['a', null]"], ["[1]", "null"]),
    ("list of lists", list[list[int]], ["[[1], []]"], ["[1]"]),
    ("set", set[str], ["['a']"], ["[1]"]),
    ("frozen set", frozenset[int], ["[1]"], ["['a']"]),
    ("bounded list", conlist(int, min_length=2, max_length=2), ["[1, 2]"], ["[1]", "[1, 2, 3]"]),
    ("longer bounded list", conlist(int, min_length=1, max_length=9), ["[1]", "[1, 2, 3]"], ["['a']"]),
    ("pair", tuple[int, str], ["[1, 'a']"], ["[1]", "['a', 1]", "[1, 'a', 2]"]),
    ("any number", tuple[int, ...], ["[]", "[1, 2]"], ["['a']"]),
    ("empty tuple", tuple[()], ["[]"], ["[1]"]),
    ("named tuple", Pair, ["[1, 'a']", "[1]"], ["['a']", "[1, 2]"]),
    ("map", dict[str, int], ["{}", "{a: 1}"], ["{a: 'x'}", "1"]),
    ("map of choices", dict[str, int | None], ["{a: null}"], ["{a: 'x'}"]),
    ("map by enumeration", dict[Color, int], ["{red: 1}", "{}"], ["{green: 1}", "{red: 'x'}"]),
    ("map by literal", dict[Literal["a", "b"], str], ["{a: 'x'}"], ["{c: 'x'}", "{a: 1}"]),
    ("map by number", dict[int, str], ['{"1": "x"}'], ['{"1": 1}']),
    ("map of anything", dict, ["{a: 1}"], ["1"]),
    ("model", Address, ["{street: 'a'}", "{street: 'a', city: 'b'}"], ["{}", "{street: 1}"]),
    (
        "models in models",
        Person,
        ["{name: 'a', home: {street: 's'}}"],
        ["{name: 'a'}", "{name: 'a', home: {}}"],
    ),
    (
        "itself in itself",
        Node,
        ["{value: 1, left: {value: 2, left: null}}"],
        ["{value: 1, left: {}}", "{left: null}"],
    ),
    (
        "each in the other",
        Folder,
        ["{name: 'a', entries: [{name: 'b', inside: {name: 'c'}}]}"],
        ["{name: 'a', entries: [1]}"],
    ),
    ("closed", Strict, ["{a: 1}"], ["{a: 1, b: 2}", "{}"]),
    ("open", Open, ["{a: 1, b: 'x'}"], ["{b: 1}", "{a: 'x'}"]),
    ("open for one type", TypedOpen, ["{a: 'x', b: 1}"], ["{a: 1}", "{a: 'x', b: true}"]),
    ("aliases", Aliased, ["{userId: 1}", "{userId: 1, 'content-type': 'a'}"], ["{user_id: 1}", "{}"]),
    (
        "discriminated",
        Owner,
        ["{pet: {kind: 'cat'}}", "{pet: {kind: 'dog', bark: true}}"],
        ["{pet: {kind: 'dog'}}", "{pet: {kind: 'cow'}}"],
    ),
    (
        "discriminated by a function",
        Annotated[Annotated[Cat, Tag("cat")] | Annotated[Dog, Tag("dog")], Discriminator(_tagged)],
        ["{kind: 'cat'}", "{kind: 'dog', bark: true}"],
        ["{kind: 'dog'}"],
    ),
    ("root model", Bag, ["{a: [1]}", "{}"], ["{a: 1}"]),
    ("typed dict", Movie, ["{title: 'a'}", "{title: 'a', year: 1}"], ["{year: 1}", "{title: 1}"]),
    ("partial typed dict", Partial, ["{}", "{a: 1}"], ["{a: 'x'}"]),
    ("dataclass", Point, ["{x: 1, y: 2}", "{x: 1, y: 2, label: null}"], ["{x: 1}", "{x: '1', y: 2}"]),
    ("generic", Page[Address], ["{results: [{street: 'a'}]}"], ["{results: [1]}", "{}"]),
    ("generic of generic", Page[Page[int]], ["{results: [{results: [1]}]}"], ["{results: [1]}"]),
    ("any JSON", AnyJSON, ["null", "1", "{a: [1, {b: 'x'}]}"], ["undefined"]),
    ("JSON text", Json[int], ['"1"'], ["1"]),
    ("annotated twice", Annotated[Annotated[int, Field(ge=1)], Field(le=9)], ["5"], ["'5'"]),
    (
        "much in one",
        Shop,
        [
            "{manager: {name: 'a', home: {street: 's'}}, staff: [], by_city: {x: [{street: 's'}]}, palette: {}, opened: 'a', hours: ['a', 'b']}"
        ],
        [
            "{manager: {name: 'a', home: {street: 's'}}, staff: [], by_city: {x: {street: 's'}}, palette: {}, opened: '', hours: ['a', 'b']}"
        ],
    ),
]

OUTPUTS: list[Case] = [
    ("computed", Computed, ["{width: 1, area: 1}"], ["{width: 1}"]),
    ("decimal back", Decimal, ['"1.5"'], ["1"]),
    ("JSON text back", Json[int], ["1"], ["'1'"]),
]

TREE = {
    "type": "object",
    "properties": {"next": {"$ref": "#tree"}},
    "$anchor": "tree",
    "additionalProperties": False,
}

WRITTEN: list[Case] = [
    ("anchor", TREE, ["{}", "{next: {next: {}}}"], ["{next: 1}"]),
    ("dynamic anchor", {"$dynamicAnchor": "n", "type": "array", "items": {"$dynamicRef": "#n"}}, ["[[], [[]]]"], ["[1]"]),
    ("own address", {"$id": "https://a/b", "$ref": "https://a/b#/$defs/x", "$defs": {"x": {"type": "string"}}}, ["'a'"], ["1"]),
    (
        "address inside",
        {"$ref": "item", "$defs": {"x": {"$id": "item", "type": "integer"}}},
        ["1"],
        ["'a'"],
    ),
    ("reference to itself only", {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}, ["1", "'a'"], []),
    ("itself or text", {"$ref": "#/$defs/a", "$defs": {"a": {"anyOf": [{"$ref": "#/$defs/a"}, {"type": "string"}]}}}, ["'a'"], []),
    (
        "map of itself",
        {"$ref": "#/$defs/a", "$defs": {"a": {"anyOf": [{"type": "string"}, {"type": "object", "additionalProperties": {"$ref": "#/$defs/a"}}]}}},
        ["'a'", "{a: {b: 'c'}}"],
        ["1", "{a: 1}"],
    ),
    ("intersection narrows", {"allOf": [{"properties": {"a": {"type": "string"}}}, {"properties": {"a": {"const": "x"}}, "required": ["a"]}]}, ["{a: 'x'}"], ["{a: 'y'}", "{}"]),
    ("type above choices", {"type": "string", "anyOf": [{"format": "date"}, {"format": "email"}]}, ["'a'"], ["1"]),
    ("limits above a type", {"type": "integer", "allOf": [{"minLength": 1}, {"minimum": 1}]}, ["1"], ["'a'"]),
    ("items above choices", {"type": "array", "anyOf": [{"items": {"type": "string"}}, {"items": {"type": "integer"}}]}, ["['a']", "[1]"], ["['a', 1]", "1"]),
    ("enumeration within a type", {"type": "string", "enum": ["a", None]}, ["'a'"], ["null"]),
    ("enumeration of objects", {"enum": [{"a": 1}, [1, 2], {}]}, ["{a: 1}", "[1, 2]", "{}"], ["{a: 2}", "[1]"]),
    ("whole numbers as reals", {"enum": [1.0, 2.5]}, ["1", "2.5"], ["3"]),
    ("no value at all", {"enum": []}, [], ["1", "null"]),
    ("empty choice", {"type": "object", "properties": {"a": False}}, ["{}"], ["{a: 1}"]),
    ("optional places", {"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}], "items": False, "minItems": 1}, ["['a']", "['a', 1]"], ["[]", "['a', 'b']", "['a', 1, 1]"]),
    ("fewer places than types", {"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}], "minItems": 1, "maxItems": 1}, ["['a']"], ["['a', 1]"]),
    ("nothing fits in", {"type": "array", "maxItems": 0}, ["[]"], ["[1]"]),
    ("more by pattern", {"type": "object", "properties": {"a": {"type": "integer"}}, "patternProperties": {"^x": {"type": "string"}}}, ["{a: 1, xb: 's'}"], ["{a: 's'}", "{xb: true}"]),
    ("nothing unevaluated", {"type": "object", "unevaluatedProperties": False}, ["{}"], ["{a: 1}"]),
    ("several types", {"type": ["integer", "object", "null"], "properties": {"a": {"type": "string"}}, "required": ["a"]}, ["1", "null", "{a: 'x'}"], ["{}", "'a'"]),
    ("nullable in OpenAPI", {"type": "array", "items": {"type": "string"}, "nullable": True}, ["null", "['a']"], ["[1]"]),
    ("500 values", {"enum": [f"v{number}" for number in range(500)]}, ["'v1'", "'v499'"], ["1"]),
    ("500 numbers", {"enum": list(range(500))}, ["1", "499"], ["'a'"]),
    ("names that mean something", {"$defs": {name: {"type": "object", "properties": {"a": {"type": "string"}, "b": {"$ref": f"#/$defs/{name}"}}} for name in ("Record", "Promise", "int", "string", "Any", "__proto__", "1", "")}, "type": "object", "properties": {name: {"$ref": f"#/$defs/{name}"} for name in ("Record", "Promise", "int", "string", "Any", "__proto__", "1")}}, ["{Record: {a: 'x'}}"], ["{Record: {a: 1}}"]),
    ("types that are none", {"type": ["any", 3], "properties": 5, "required": "a", "enum": "x", "allOf": {}}, ["1"], []),
]  # fmt: skip

PYTHON_TYPES: dict[type, Any] = {
    models.BooleanField: bool,
    models.DateTimeField: datetime,
    models.PositiveSmallIntegerField: NonNegativeInt,
    models.ForeignKey: int,
    models.AutoField: int,
    models.BigAutoField: int,
    models.CharField: str,
    models.EmailField: str,
    models.TextField: str,
}


def django_cases() -> Iterator[Case]:
    """Yield real Django models as a project would describe them, with choices and nullable columns."""
    user = "id: 1, username: 'a', password: 'x', date_joined: '2026-01-01T00:00:00Z'"
    yield (
        "auth.User",
        _model("auth.User"),
        [f"{{{user}}}", f"{{{user}, last_login: null}}"],
        ["{}", f"{{{user}, is_staff: 1}}"],
    )
    yield "auth.Group", _model("auth.Group"), ["{id: 1, name: 'a'}"], ["{id: 'a', name: 'a'}"]
    permission = "id: 1, name: 'a', content_type: 1, codename: 'x'"
    yield (
        "auth.Permission",
        _model("auth.Permission"),
        [f"{{{permission}}}"],
        [f"{{{permission}, content_type_id: 1}}", "{id: 1}"],
    )
    content = "{id: 1, app_label: 'a', model: 'b'}"
    yield "contenttypes.ContentType", _model("contenttypes.ContentType"), [content], ["{id: 1}", "null"]
    entry = "id: 1, action_time: '', user: 1, object_repr: 'x', action_flag: 2"
    yield (
        "admin.LogEntry",
        _model("admin.LogEntry"),
        [f"{{{entry}}}", f"{{{entry}, object_id: null}}"],
        [f"{{{entry.replace('2', '7')}}}"],
    )
    session = "{session_key: 'a', session_data: 'b', expire_date: ''}"
    yield "sessions.Session", _model("sessions.Session"), [session], ["{session_key: 1}"]


def _model(label: str) -> Any:
    model = apps.get_model(label)
    return create_model(model.__name__, **dict(_fields(model)))


def _fields(model: type[models.Model]) -> Iterator[tuple[str, Any]]:
    for column in model._meta.fields:
        python = (
            Literal[tuple(value for value, _ in column.choices)]
            if column.choices
            else PYTHON_TYPES[type(column)]
        )
        python = python | None if column.null else python
        has_default = column.null or column.blank or column.has_default()
        yield (
            column.name,
            (python, None if column.null else "" if column.blank else False)
            if has_default
            else (python, ...),
        )


def cases() -> list[dict[str, Any]]:
    """Return every case as the judge reads it, but for the declaration."""
    found = [
        (name, TypeAdapter(kind).json_schema(), *values) for name, kind, *values in [*TYPES, *django_cases()]
    ]
    found += [
        (name, TypeAdapter(kind).json_schema(mode="serialization"), *values)
        for name, kind, *values in OUTPUTS
    ]
    found += WRITTEN
    return [dict(zip(("name", "schema", "accepts", "refuses"), case, strict=True)) for case in found]
