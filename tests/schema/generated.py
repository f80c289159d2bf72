"""Generated signatures: types that authors write, with values that fit them, for property tests."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from enum import Enum, IntEnum
from typing import Annotated, Any, Literal
from uuid import UUID

from hypothesis import strategies as st
from pydantic import BaseModel, Field


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


class Level(IntEnum):
    LOW = 1
    HIGH = 2


class Address(BaseModel):
    street: str
    number: int = 1


class Person(BaseModel):
    name: str = Field(alias="fullName")
    home: Address | None = None
    nicknames: list[str] = []


@dataclass(frozen=True)
class Kind:
    """A type, and JSON values that fit it."""

    annotation: Any
    values: st.SearchStrategy[Any]


def _kind(annotation: Any, values: st.SearchStrategy[Any]) -> Kind:
    return Kind(annotation, values)


INTEGERS = st.integers() | st.integers(min_value=-5, max_value=5)
FLOATS = st.floats(allow_nan=False, allow_infinity=False)
ADDRESSES = st.fixed_dictionaries({"street": st.text()}, optional={"number": st.integers()})

SIMPLE = [
    _kind(str, st.text()),
    _kind(Annotated[str, Field(min_length=1, max_length=3)], st.text(min_size=1, max_size=3)),
    _kind(int, INTEGERS),
    _kind(Annotated[int, Field(ge=0, lt=10)], st.integers(0, 9)),
    _kind(float, FLOATS),
    _kind(bool, st.booleans()),
    _kind(Literal["a", "b"], st.sampled_from(["a", "b"])),
    _kind(Literal[1, 2], st.sampled_from([1, 2])),
    _kind(Colour, st.sampled_from(["red", "blue"])),
    _kind(Level, st.sampled_from([1, 2])),
    _kind(date, st.dates().map(date.isoformat)),
    _kind(Decimal, st.decimals(allow_nan=False, allow_infinity=False, places=2).map(str)),
    _kind(UUID, st.uuids().map(str)),
    _kind(Address, ADDRESSES),
    _kind(
        Person,
        st.fixed_dictionaries(
            {"fullName": st.text()},
            optional={"home": st.none() | ADDRESSES, "nicknames": st.lists(st.text())},
        ),
    ),
]


def _list_of(kind: Kind) -> Kind:
    annotation: Any = list.__class_getitem__(kind.annotation)
    return Kind(annotation, st.lists(kind.values, max_size=3))


def _dict_of(kind: Kind) -> Kind:
    annotation: Any = dict.__class_getitem__((str, kind.annotation))
    return Kind(annotation, st.dictionaries(st.text(), kind.values, max_size=3))


def _optional(kind: Kind) -> Kind:
    return Kind(kind.annotation | None, st.none() | kind.values)


def _wrapped(inner: st.SearchStrategy[Kind]) -> st.SearchStrategy[Kind]:
    return inner.map(_list_of) | inner.map(_dict_of) | inner.map(_optional)


KINDS = st.recursive(st.sampled_from(SIMPLE), _wrapped, max_leaves=3)


def _json(numbers: st.SearchStrategy[Any], text: st.SearchStrategy[str]) -> st.SearchStrategy[Any]:
    return st.recursive(
        st.none() | st.booleans() | numbers | text,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3),
        max_leaves=6,
    )


JSON = _json(st.integers() | FLOATS, st.text())
"""Any value that a client can send."""

_SAFE = 2**53 - 1
_LETTERS = st.characters(codec="utf-8", exclude_characters="\0")
EXACT = _json(st.integers(-_SAFE, _SAFE) | st.floats(-_SAFE, _SAFE), st.text(_LETTERS))
"""Any value that a program gives back as it is: numbers that JavaScript holds exactly, and no NUL (contract S08)."""

NAMES = st.sampled_from(["a", "user_id", "copy", "model_config", "_x", "schema", "größe"])


@dataclass(frozen=True)
class Parameter:
    """One parameter: its name, the client's name for it, and whether it may be left out."""

    name: str
    kind: Kind
    alias: str | None
    optional: bool

    @property
    def sent_as(self) -> str:
        return self.alias or self.name


@st.composite
def parameter_lists(draw: st.DrawFn) -> list[Parameter]:
    names = draw(st.lists(NAMES, unique=True, max_size=4))
    return [
        Parameter(
            name, draw(KINDS), f"{name}Alias" if draw(st.booleans()) else None, draw(st.booleans())
        )
        for name in names
    ]  # fmt: skip


def function_of(parameters: list[Parameter]) -> Callable[..., Any]:
    """Return a function with these keyword parameters, which gives back what it gets."""

    def function(**given: Any) -> Any:
        return given

    hints, found = {}, []
    for item in parameters:
        hint = item.kind.annotation
        hints[item.name] = Annotated[hint, Field(alias=item.alias)] if item.alias else hint
        default = None if item.optional else inspect.Parameter.empty
        found.append(inspect.Parameter(item.name, inspect.Parameter.KEYWORD_ONLY, default=default))
    function.__signature__ = inspect.Signature(found)  # type: ignore[attr-defined]
    function.__annotations__ = hints
    return function


def fitting(parameters: list[Parameter]) -> st.SearchStrategy[dict[str, Any]]:
    """Return arguments that the function takes."""
    required = {item.sent_as: item.kind.values for item in parameters if not item.optional}
    optional = {item.sent_as: item.kind.values for item in parameters if item.optional}
    return st.fixed_dictionaries(required, optional=optional)
