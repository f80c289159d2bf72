"""The shapes that TypeScript can say, each one made once: equal shapes are the same object."""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar


@dataclass(frozen=True, slots=True, eq=False)
class Shape:
    """A type; two shapes of one `Shapes` are equal when they are the same object."""


@dataclass(frozen=True, slots=True, eq=False)
class Word(Shape):
    """A type that is written as one word or literal: `string`, `int`, `"draft"`; `base` is what `typeof` says of it."""

    text: str
    base: str


@dataclass(frozen=True, slots=True, eq=False)
class Many(Shape):
    """An array of any length."""

    item: Shape


@dataclass(frozen=True, slots=True, eq=False)
class Row(Shape):
    """An array with a type for each place: the first `minimum` places are there, `rest` fills the places after."""

    items: tuple[Shape, ...]
    minimum: int
    rest: Shape | None


@dataclass(frozen=True, slots=True, eq=False)
class Table(Shape):
    """An object whose keys are data; `keys` names them when only certain keys are allowed."""

    value: Shape
    keys: Shape | None


@dataclass(frozen=True, slots=True)
class Member:
    """One key of an object."""

    name: str
    shape: Shape
    optional: bool
    note: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Record(Shape):
    """An object with known keys; `others` is the type of all further keys where the schema says one."""

    members: tuple[Member, ...]
    others: Shape | None


@dataclass(frozen=True, slots=True, eq=False)
class Either(Shape):
    """A union; `omitted` counts the values of a long enumeration that are left out."""

    options: tuple[Shape, ...]
    omitted: int


@dataclass(frozen=True, slots=True, eq=False)
class Both(Shape):
    """An intersection."""

    parts: tuple[Shape, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Reference(Shape):
    """A shape that contains itself, by the key under which `Shapes.bodies` has it."""

    key: str


Made = TypeVar("Made", bound=Shape)


class Shapes:
    """Makes shapes, and remembers what people call them."""

    def __init__(self) -> None:
        self._made: dict[Hashable, Any] = {}
        self.bodies: dict[str, Shape] = {}
        self.names: dict[Shape, dict[str, int]] = {}
        self.notes: dict[Shape, str] = {}
        self.unknown = self.word("unknown", "unknown")
        self.never = self.word("never", "never")
        self.null = self.word("null", "null")
        self.string = self.word("string", "string")
        self.number = self.word("number", "number")
        self.boolean = self.word("boolean", "boolean")

    def call(self, shape: Shape, name: str, *, rank: int, note: str = "") -> None:
        """Remember a name for `shape`, should it have to be declared; names of the lowest rank win."""
        if name:
            self.names.setdefault(shape, {}).setdefault(name, rank)
        if note:
            self.notes.setdefault(shape, note)

    def word(self, text: str, base: str) -> Word:
        """Return the word `text`."""
        return self._once(Word, text, base)

    def primitive(self, name: str) -> Shape:
        """Return the word for a scalar type of JSON Schema, `unknown` for a name that is none."""
        found = (self.string, self.number, self.boolean, self.null, self.word("int", "number"))
        names = ("string", "number", "boolean", "null", "integer")
        return dict(zip(names, found, strict=True)).get(name, self.unknown)

    def many(self, item: Shape) -> Shape:
        """Return the array of `item`."""
        return self._once(Many, item)

    def row(self, items: Sequence[Shape], minimum: int, rest: Shape | None) -> Shape:
        """Return the tuple of `items`; without items it is an array of `rest`."""
        if not items and rest is not None:
            return self.many(rest)
        return self._once(Row, tuple(items), min(minimum, len(items)), rest)

    def table(self, value: Shape, keys: Shape | None = None) -> Shape:
        """Return the object with `value` under every key."""
        return self._once(Table, value, keys)

    def record(self, members: Iterable[Member], others: Shape | None = None) -> Shape:
        """Return the object with these keys."""
        return self._once(Record, tuple(members), others)

    def reference(self, key: str) -> Reference:
        """Return the reference to the body that is, or will be, under `key`."""
        return self._once(Reference, key)

    def either(self, options: Iterable[Shape], omitted: int = 0) -> Shape:
        """Return the union, in the order given but null last; one that admits anything is `unknown`."""
        found = list(dict.fromkeys(option for option in options if option is not self.never))
        if self.unknown in found:
            return self.unknown
        if self.null in found:
            found = [option for option in found if option is not self.null] + [self.null]
        if len(found) == 1 and not omitted:
            return found[0]
        return self._once(Either, tuple(found), omitted) if found else self.never

    def both(self, parts: Iterable[Shape]) -> Shape:
        """Return the intersection, with what one part already says left out and plain objects merged."""
        found: list[Shape] = []
        for part in parts:
            self._join(found, part)
        if not found:
            return self.unknown
        return found[0] if len(found) == 1 else self._once(Both, tuple(found))

    def _join(self, found: list[Shape], part: Shape) -> None:
        if part is self.unknown or part in found:
            return
        for place, other in enumerate(found):
            joined = self._merged(other, part)
            if joined is not None:
                found[place] = joined
                return
        found.append(part)

    def _merged(self, one: Shape, other: Shape) -> Shape | None:
        if isinstance(one, Record) and isinstance(other, Record):
            return self._merged_records(one, other)
        for wide, narrow in ((one, other), (other, one)):
            if isinstance(wide, Word) and wide.text == wide.base and bases(narrow) == {wide.base}:
                return narrow
            if is_open(wide) and bases(narrow) == bases(wide):
                return narrow
        return None

    def _merged_records(self, one: Record, other: Record) -> Shape | None:
        if one.others or other.others or {m.name for m in one.members} & {m.name for m in other.members}:
            return None
        return self.record(one.members + other.members)

    def _once(self, kind: type[Made], *values: Any) -> Made:
        key = (kind, *values)
        if key not in self._made:
            self._made[key] = kind(*values)
        made: Made = self._made[key]
        return made


def is_open(shape: Shape) -> bool:
    """Return whether `shape` is an object or array of which nothing more is known."""
    inner = shape.value if isinstance(shape, Table) and shape.keys is None else None
    inner = shape.item if isinstance(shape, Many) else inner
    return isinstance(inner, Word) and inner.base == "unknown"


def bases(shape: Shape) -> set[str]:
    """Return what `typeof` may say of a value of this shape ("array" and "null" apart); "unknown" where it is not known."""
    if isinstance(shape, Word):
        return {shape.base}
    if isinstance(shape, Many | Row):
        return {"array"}
    if isinstance(shape, Record | Table):
        return {"object"}
    if isinstance(shape, Either):
        return set().union(*map(bases, shape.options))
    if isinstance(shape, Both):
        return bases(shape.parts[0])
    return {"unknown"}


def children(shape: Shape) -> tuple[Shape, ...]:
    """Return the shapes that `shape` is written with, one for each time."""
    found: tuple[Shape | None, ...] = ()
    match shape:
        case Many(item=item):
            found = (item,)
        case Row(items=items, rest=rest):
            found = (*items, rest)
        case Table(value=value, keys=keys):
            found = (keys, value)
        case Record(members=members, others=others):
            found = (*(member.shape for member in members), others)
        case Either(options=parts) | Both(parts=parts):
            found = parts
    return tuple(part for part in found if part is not None)
