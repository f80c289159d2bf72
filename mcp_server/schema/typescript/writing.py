"""Shapes written as TypeScript: what pays for a name of its own is declared once, the rest stands where it is used."""

from collections import Counter
from collections.abc import Iterator, Sequence

from mcp_server.schema.typescript import text
from mcp_server.schema.typescript.families import find_families
from mcp_server.schema.typescript.naming import FALLBACK, best_name, distinct
from mcp_server.schema.typescript.notes import FORMATS
from mcp_server.schema.typescript.shapes import (
    Both,
    Either,
    Many,
    Member,
    Record,
    Reference,
    Row,
    Shape,
    Shapes,
    Table,
    Word,
    children,
)

# Characters that a declaration costs beside its body, and that a name costs each time: from counted catalogues.
_DECLARATION = 20
_NAME = 8

WORDS = {"int": "number", **dict.fromkeys(FORMATS.values(), "string")}
"""Types that stand for one of the language's own, and are declared where they occur."""


class Writer:
    """Writes `roots` and all that they are made of; each occurrence in `roots` is one use."""

    def __init__(self, shapes: Shapes, roots: Sequence[Shape]) -> None:
        self._shapes = shapes
        self._order = list(self._reachable(roots))
        self._uses = Counter(roots)
        for shape in reversed(self._order):
            # What has a name is written once; what has none, as often as it is used.
            times = 1 if self._is_worth_a_name(shape) else self._uses[shape]
            for child in self._children(shape):
                self._uses[child] += times
        self._sizes: dict[Shape, int] = {}
        self._families = find_families(shapes, self._order)
        self._generic = {record: family for family in self._families for record in family.fillings}
        declared = [shape for shape in self._order if self._is_declared(shape)]
        declared.sort(key=self._wanted_name)
        wanted = [*(family.name for family in self._families), *map(self._wanted_name, declared)]
        names = distinct(wanted)
        self._family_names = dict(zip(self._families, names, strict=False))
        self._names = dict(zip(declared, names[len(self._families) :], strict=True))

    def words(self) -> list[str]:
        """Return the short words in use, such as `int`."""
        used = {shape.text for shape in self._order if isinstance(shape, Word)}
        return [word for word in WORDS if word in used]

    def declarations(self) -> list[str]:
        """Return one declaration for each short word and each named type, in a stable order."""
        words = [f"type {word} = {WORDS[word]};" for word in self.words()]
        found = {name: self._declaration(shape, name) for shape, name in self._names.items()}
        for family, name in self._family_names.items():
            found[name] = f"type {name}<T> = {self._body(family.body, 0)};"
        return [*words, *(found[name] for name in sorted(found))]

    def expression(self, shape: Shape, indent: int = 0) -> str:
        """Return the type as it is written where it is used; `indent` is the depth of the line it starts on."""
        if shape in self._names:
            return self._names[shape]
        if isinstance(shape, Record) and (family := self._generic.get(shape)):
            return f"{self._family_names[family]}<{self.expression(family.fillings[shape], indent)}>"
        return self._body(shape, indent)

    def _declaration(self, shape: Shape, name: str) -> str:
        note = self._shapes.notes.get(shape)
        body = self._shapes.bodies[shape.key] if isinstance(shape, Reference) else shape
        written = self._body(shape, 0) if body is shape else self.expression(body)
        return (f"// {note}\n" if note else "") + f"type {name} = {written};"

    def _children(self, shape: Shape) -> tuple[Shape, ...]:
        return (self._shapes.bodies[shape.key],) if isinstance(shape, Reference) else children(shape)

    def _reachable(self, roots: Sequence[Shape]) -> Iterator[Shape]:
        """Yield every shape once, what it is made of before it."""
        seen: set[Shape] = set()
        waiting: list[tuple[Shape, bool]] = [(root, False) for root in reversed(roots)]
        while waiting:
            shape, ready = waiting.pop()
            if ready:
                yield shape
            elif shape not in seen:
                seen.add(shape)
                waiting.append((shape, True))
                waiting += [(child, False) for child in reversed(self._children(shape)) if child not in seen]

    def _is_declared(self, shape: Shape) -> bool:
        size = self._size(shape)
        if isinstance(shape, Reference):
            return True
        if shape in self._generic:
            self._sizes[shape] = 2 * _NAME
            return False
        uses = self._uses[shape]
        pays = (uses - 1) * size > uses * _NAME + _DECLARATION or (uses > 1 and self._is_a_model(shape))
        if pays and self._is_worth_a_name(shape):
            self._sizes[shape] = _NAME
            return True
        return False

    def _is_a_model(self, shape: Shape) -> bool:
        """Return whether an author gave the record its name: that says more than its few keys again."""
        ranks = self._shapes.names.get(shape, {}).values()
        return (
            isinstance(shape, Record) and len(shape.members) > 1 and min(ranks, default=FALLBACK) < FALLBACK
        )

    def _is_worth_a_name(self, shape: Shape) -> bool:
        """Return whether a reader gains by a name: not for `string | null`."""
        if isinstance(shape, Either):
            plain = [
                option for option in shape.options if isinstance(option, Word) and option.text[0].isalpha()
            ]
            return self._shapes.null not in shape.options and len(plain) < len(shape.options)
        return isinstance(shape, Record | Both | Row | Reference)

    def _size(self, shape: Shape) -> int:
        """Return about how many characters the shape takes; its children are measured before it."""
        if isinstance(shape, Word):
            own = len(shape.text)
        elif isinstance(shape, Reference):
            own = _NAME
        else:
            own = sum(self._sizes.get(child, _NAME) + 3 for child in children(shape))
        if isinstance(shape, Record):
            own += sum(len(member.name) + len(member.note) + 2 for member in shape.members)
        self._sizes[shape] = own
        return own

    def _wanted_name(self, shape: Shape) -> str:
        return best_name(self._shapes.names.get(shape, {}))

    def _body(self, shape: Shape, indent: int) -> str:
        match shape:
            case Many(item=item):
                written = self._tight(item, indent) + "[]"
            case Row():
                written = self._row(shape, indent)
            case Table():
                written = self._table(shape, indent)
            case Record():
                written = self._record(shape, indent)
            case Either():
                written = self._either(shape, indent)
            case Both(parts=parts):
                written = " & ".join(self._tight(part, indent) for part in parts)
            case Word(text=written):
                pass
            case _:
                raise TypeError(f"{shape!r} is written by its name")
        return written

    def _tight(self, shape: Shape, indent: int) -> str:
        """Return the type so that a suffix or operator after it means all of it."""
        written = self.expression(shape, indent)
        return f"({written})" if isinstance(shape, Either | Both) and shape not in self._names else written

    def _row(self, shape: Row, indent: int) -> str:
        places = [self.expression(item, indent) for item in shape.items[: shape.minimum]]
        places += [f"{self._tight(item, indent)}?" for item in shape.items[shape.minimum :]]
        if shape.rest is not None:
            places.append(f"...{self._tight(shape.rest, indent)}[]")
        return f"[{', '.join(places)}]"

    def _table(self, shape: Table, indent: int) -> str:
        value = self.expression(shape.value, indent)
        if shape.keys is not None:
            return f"{{ [key in {self.expression(shape.keys, indent)}]?: {value} }}"
        # `type A = Record<string, A>` is an error where `{ [key: string]: A }` is not.
        return (
            f"{{ [key: string]: {value} }}" if self._mentions_reference(shape) else f"Record<string, {value}>"
        )

    def _mentions_reference(self, shape: Shape) -> bool:
        return any(isinstance(part, Reference) for part in self._reachable([shape]))

    def _either(self, shape: Either, indent: int) -> str:
        options = list(dict.fromkeys(self._options(shape, indent)))
        if "null" in options:
            options.remove("null")
            options.append("null")
        if shape.omitted:
            options[-1] = f"/* {shape.omitted} more */ {options[-1]}"
        return " | ".join(options)

    def _options(self, shape: Either, indent: int) -> Iterator[str]:
        for option in shape.options:
            if isinstance(option, Either) and option not in self._names and not option.omitted:
                yield from self._options(option, indent)
            else:
                yield (
                    self._tight(option, indent)
                    if isinstance(option, Either)
                    else self.expression(option, indent)
                )

    def _record(self, shape: Record, indent: int) -> str:
        lines = [self._member(member, indent + 1) for member in shape.members]
        if shape.others is not None:
            lines.append((f"[key: string]: {self._others(shape, shape.others, indent + 1)}", ""))
        if not any(note or "\n" in line for line, note in lines):
            written = "; ".join(line for line, _ in lines)
            return f"{{ {written} }}"
        margin = "\n" + " " * (indent + 1)
        return (
            "{"
            + "".join(f"{margin}{line}{note and f' // {note}'}" for line, note in lines)
            + f"\n{' ' * indent}}}"
        )

    def _member(self, member: Member, indent: int) -> tuple[str, str]:
        mark = "?" if member.optional else ""
        return f"{text.key(member.name)}{mark}: {self.expression(member.shape, indent)}", member.note

    def _others(self, shape: Record, others: Shape, indent: int) -> str:
        """Return the type of further keys; TypeScript wants it to admit the types of the known keys too."""
        if others is self._shapes.unknown:
            return "unknown"
        options = [
            self._tight(part, indent) for part in dict.fromkeys([others, *(m.shape for m in shape.members)])
        ]
        if any(member.optional for member in shape.members):
            options.append("undefined")
        return " | ".join(dict.fromkeys(options)) if "unknown" not in options else "unknown"
