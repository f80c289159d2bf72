"""JSON Schema 2020-12 (and what earlier drafts and OpenAPI say otherwise) read into shapes."""

import math
from collections.abc import Iterator
from typing import Any

from mcp_server.schema.typescript.naming import DEFINITION, FALLBACK, TITLE
from mcp_server.schema.typescript.notes import FORMATS, Notes, note
from mcp_server.schema.typescript.pointers import Document
from mcp_server.schema.typescript.shapes import (
    Both,
    Either,
    Member,
    Record,
    Reference,
    Row,
    Shape,
    Shapes,
    Table,
    Word,
    bases,
)
from mcp_server.schema.typescript.text import literal

DEEPEST = 48
"""Schemas nested deeper than this read as `unknown` from there on."""

LONGEST_ENUM = 40
KEPT_OF_LONG_ENUM = 30

_IMPLIED = {
    "object": ("properties", "required", "additionalProperties", "patternProperties", "propertyNames"),
    "array": ("items", "prefixItems"),
}
_GUESSED = {
    "string": ("minLength", "maxLength", "pattern", "format"),
    "number": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
}


class Reader:
    """Reads one schema document into `shapes`."""

    def __init__(self, shapes: Shapes, root: Any, *, notes: Notes) -> None:
        self.shapes = shapes
        self.document = Document(root)
        self.notes = notes
        self._read: dict[str, Shape] = {}
        self._waiting: list[tuple[str, str]] = []

    def root(self) -> Shape:
        """Return the shape of the whole document."""
        if self.document.contains_itself("") and not self.document.is_only_itself(""):
            shape: Shape = self._reference("")
        else:
            shape = self._schema(self.document.root, 0)
        while self._waiting:
            key, pointer = self._waiting.pop()
            self.shapes.bodies[key] = self._schema(self.document.at(pointer), 1)
        return shape

    def _schema(self, schema: Any, depth: int, *, guess: bool = True) -> Shape:
        if not isinstance(schema, dict) or depth > DEEPEST:
            return self.shapes.never if schema is False else self.shapes.unknown
        own = self._own(schema, depth, guess=guess)
        guess = guess and own is self.shapes.unknown
        parts = [own, self._target(schema, depth)]
        parts += [self._schema(branch, depth + 1, guess=False) for branch in _list(schema, "allOf")]
        parts += [
            self._union(schema[keyword], depth, guess=guess)
            for keyword in ("anyOf", "oneOf")
            if _list(schema, keyword)
        ]
        shape = self.shapes.both(parts)
        if schema.get("nullable") is True:
            shape = self.shapes.either([shape, self.shapes.null])
        if depth and isinstance(title := schema.get("title"), str):
            self._call(shape, title, TITLE)
        return shape

    def _call(self, shape: Shape, name: str, rank: int) -> None:
        """Give the name to what is worth one: for a choice between something and null, to the something."""
        if isinstance(shape, Either):
            others = [option for option in shape.options if option is not self.shapes.null]
            shape = others[0] if len(others) == 1 else shape
        if not isinstance(shape, Word):
            self.shapes.call(shape, name, rank=rank)

    def _union(self, branches: list[Any], depth: int, *, guess: bool) -> Shape:
        return self.shapes.either(self._schema(branch, depth + 1, guess=guess) for branch in branches)

    def _target(self, schema: dict[str, Any], depth: int) -> Shape:
        if "$ref" not in schema and "$dynamicRef" not in schema:
            return self.shapes.unknown
        pointer = self.document.place(schema.get("$ref", schema.get("$dynamicRef")))
        if pointer is None:
            return self.shapes.unknown
        if pointer not in self._read:
            self._read[pointer] = self._definition(pointer, depth)
        return self._read[pointer]

    def _definition(self, pointer: str, depth: int) -> Shape:
        schema = self.document.at(pointer)
        shape: Shape
        if not self.document.contains_itself(pointer):
            shape = self._schema(schema, depth + 1)
        elif self.document.is_only_itself(pointer):
            return self.shapes.unknown
        else:
            shape = self._reference(pointer)
        description = note(schema, self.notes) if self.notes is Notes.ALL else ""
        self.shapes.call(shape, _name(pointer, schema), rank=DEFINITION, note=description)
        return shape

    def _reference(self, pointer: str) -> Shape:
        key = self.document.key(pointer)
        if key not in self.shapes.bodies:
            self.shapes.bodies[key] = self.shapes.unknown
            self._waiting.append((key, pointer))
        return self.shapes.reference(key)

    def _own(self, schema: dict[str, Any], depth: int, *, guess: bool) -> Shape:
        types = list(_types(schema, guess=guess))
        if "const" in schema:
            return self._value(schema["const"])
        if isinstance(values := schema.get("enum"), list):
            return self._enum([value for value in values if _admitted(value, schema.get("type"))])
        return (
            self.shapes.either(self._kind(name, schema, depth) for name in types)
            if types
            else self.shapes.unknown
        )

    def _kind(self, name: str, schema: dict[str, Any], depth: int) -> Shape:
        if name == "object":
            return self._object(schema, depth)
        if name == "array":
            return self._array(schema, depth)
        if name == "string" and isinstance(schema.get("format"), str) and schema["format"] in FORMATS:
            return self.shapes.word(FORMATS[schema["format"]], "string")
        return self.shapes.primitive(name)

    def _object(self, schema: dict[str, Any], depth: int) -> Shape:
        others = self._others(schema, depth)
        members = list(self._members(schema, others, depth))
        if members:
            return self.shapes.record(members, others)
        if others is None and (_is_closed(schema) or "properties" in schema):
            return self.shapes.table(self.shapes.never)
        return self.shapes.table(others or self.shapes.unknown, self._keys(schema, depth))

    def _members(self, schema: dict[str, Any], others: Shape | None, depth: int) -> Iterator[Member]:
        properties = _dict(schema, "properties")
        required = dict.fromkeys(name for name in _list(schema, "required") if isinstance(name, str))
        for name, inner in properties.items():
            shape = self._schema(inner, depth + 1)
            self._call(shape, str(name), FALLBACK)
            yield Member(str(name), shape, name not in required, note(inner, self.notes, name=str(name)))
        for name in required:
            if name not in properties:
                yield Member(name, others or self.shapes.unknown, optional=False)

    def _others(self, schema: dict[str, Any], depth: int) -> Shape | None:
        found = [self._schema(inner, depth + 1) for inner in _dict(schema, "patternProperties").values()]
        more = schema.get("additionalProperties", schema.get("unevaluatedProperties"))
        if isinstance(more, dict) or more is True:
            found.append(self._schema(more, depth + 1))
        return self.shapes.either(found) if found else None

    def _keys(self, schema: dict[str, Any], depth: int) -> Shape | None:
        keys = self._schema(schema.get("propertyNames"), depth + 1)
        words = keys.options if isinstance(keys, Either) else (keys,)
        exact = all(isinstance(word, Word) and word.text.startswith('"') for word in words)
        return keys if exact and bases(keys) == {"string"} else None

    def _array(self, schema: dict[str, Any], depth: int) -> Shape:
        places = schema.get("prefixItems", schema.get("items"))
        if isinstance(places, list):
            return self._row(places, schema, depth)
        items, most = schema.get("items", True), _count(schema, "maxItems")
        if items is False or most == 0:
            return self.shapes.row((), 0, None)
        item = self._schema(items, depth + 1)
        if most is not None and most == _count(schema, "minItems") and most <= 3 and "items" in schema:
            return self.shapes.row([item] * most, most, None)
        return self.shapes.many(item)

    def _row(self, places: list[Any], schema: dict[str, Any], depth: int) -> Shape:
        most = _count(schema, "maxItems")
        items = [self._schema(place, depth + 1) for place in places[:most]]
        more = schema.get(
            "items" if "prefixItems" in schema else "additionalItems", schema.get("unevaluatedItems", True)
        )
        closed = more is False or (most is not None and most <= len(items))
        rest = None if closed else self._schema(more, depth + 1)
        return self.shapes.row(items, _count(schema, "minItems") or 0, rest)

    def _enum(self, values: list[Any]) -> Shape:
        if len(values) <= LONGEST_ENUM:
            return self.shapes.either(self._value(value) for value in values)
        kept, cut = values[:KEPT_OF_LONG_ENUM], values[KEPT_OF_LONG_ENUM:]
        wide = dict.fromkeys(self._wide(self._value(value)) for value in cut)
        return self.shapes.either([*map(self._value, kept), *wide], omitted=len(cut))

    def _wide(self, shape: Shape) -> Shape:
        """Return what stands for values left out: any string, but so that an editor still offers those kept."""
        if isinstance(shape, Word):
            text = {"string": "(string & {})"}.get(shape.base, shape.base)
            return self.shapes.word(text, shape.base)
        return (
            self.shapes.many(self.shapes.unknown)
            if isinstance(shape, Row)
            else self.shapes.table(self.shapes.unknown)
        )

    def _value(self, value: Any, depth: int = 0) -> Shape:
        if depth > DEEPEST:
            return self.shapes.unknown
        if isinstance(value, list | tuple):
            items = [self._value(item, depth + 1) for item in value]
            return self.shapes.row(items, len(items), None)
        if isinstance(value, dict):
            return self._literal_object(value, depth)
        if isinstance(value, float) and not math.isfinite(value):
            return self.shapes.number
        if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
            value = int(value)
        return self.shapes.null if value is None else self.shapes.word(literal(value), _base(value))

    def _literal_object(self, value: dict[str, Any], depth: int) -> Shape:
        if not value:
            return self.shapes.table(self.shapes.never)
        return self.shapes.record(
            Member(str(key), self._value(item, depth + 1), optional=False) for key, item in value.items()
        )


def parameter(shape: Shape, shapes: Shapes) -> str:
    """Return whether a function with this input has a parameter: "none", "optional" or "required"."""
    if isinstance(shape, Table):
        return "none" if shape.value is shapes.never else "optional"
    return "optional" if _admits_nothing_given(shape, shapes) else "required"


def _admits_nothing_given(shape: Shape, shapes: Shapes) -> bool:
    match shape:
        case Record(members=members):
            return all(member.optional for member in members)
        case Both(parts=parts):
            return all(_admits_nothing_given(part, shapes) for part in parts)
        case Either(options=options):
            return any(_admits_nothing_given(option, shapes) for option in options)
        case Reference(key=key):
            return not isinstance(shapes.bodies[key], Reference) and _admits_nothing_given(
                shapes.bodies[key], shapes
            )
    return isinstance(shape, Table)


def _types(schema: dict[str, Any], *, guess: bool) -> Iterator[str]:
    given = schema.get("type")
    if isinstance(given, str):
        yield given
    elif isinstance(given, list):
        yield from (name for name in given if isinstance(name, str))
    else:
        for name, keywords in {**_IMPLIED, **(_GUESSED if guess else {})}.items():
            if any(keyword in schema for keyword in keywords):
                yield name
                return


def _admitted(value: Any, types: Any) -> bool:
    names = [types] if isinstance(types, str) else types
    if not isinstance(names, list):
        return True
    return not names or _base(value) in {
        "number" if name == "integer" else name for name in names if isinstance(name, str)
    }


def _base(value: Any) -> str:
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "number"
    if isinstance(value, dict):
        return "object"
    if value is None:
        return "null"
    return "array" if isinstance(value, list | tuple) else "string"


def _name(pointer: str, schema: Any) -> str:
    above, _, last = pointer.rpartition("/")
    if above.endswith(("$defs", "definitions")):
        return last.replace("~1", " ").replace("~0", " ")
    title = schema.get("title") if isinstance(schema, dict) else None
    return title if isinstance(title, str) else last


def _is_closed(schema: dict[str, Any]) -> bool:
    return schema.get("additionalProperties", schema.get("unevaluatedProperties")) is False


def _dict(schema: dict[str, Any], keyword: str) -> dict[str, Any]:
    value = schema.get(keyword)
    return value if isinstance(value, dict) else {}


def _list(schema: dict[str, Any], keyword: str) -> list[Any]:
    value = schema.get(keyword)
    return value if isinstance(value, list) else []


def _count(schema: dict[str, Any], keyword: str) -> int | None:
    value = schema.get(keyword)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
