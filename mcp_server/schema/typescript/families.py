"""Records that differ in one type only, such as the pages of a list: they become one generic type."""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, replace

from mcp_server.schema.typescript.naming import best_name, common_words
from mcp_server.schema.typescript.shapes import Many, Record, Reference, Shape, Shapes, Word

SMALLEST_FAMILY = 3

HOLE = Word("T", "unknown")
ARRAY_OF_HOLES = Many(HOLE)


@dataclass(frozen=True, slots=True, eq=False)
class Family:
    """Records with one shape in common, but for what stands at `HOLE`; `fillings` has that for each record."""

    body: Record
    fillings: Mapping[Record, Shape]
    name: str


def find_families(shapes: Shapes, order: Iterable[Shape]) -> list[Family]:
    """Return the families among `order` whose members' names have a word in common: `OrderPage`, `UserPage`: `Page`."""
    # `type Tree = Page<Tree>` is an error where the same record written out is not.
    recursive = set(shapes.bodies.values())
    groups: defaultdict[Hashable, dict[Record, Shape]] = defaultdict(dict)
    bodies: dict[Hashable, Record] = {}
    for shape in order:
        if isinstance(shape, Record) and len(shape.members) > 1 and shape not in recursive:
            for body, filling in _opened(shape):
                # Bodies are made here, not by `Shapes`: they are equal when their members are.
                key = (body.members, body.others)
                bodies.setdefault(key, body)
                groups[key][shape] = filling
    found = []
    for group, fillings in groups.items():
        name = _name(shapes, fillings)
        if len(fillings) >= SMALLEST_FAMILY and name:
            found.append(Family(bodies[group], fillings, name))
    return found


def _opened(shape: Record) -> list[tuple[Record, Shape]]:
    """Return the record with the first member that holds a model opened, and that model."""
    for place, member in enumerate(shape.members):
        inner = member.shape.item if isinstance(member.shape, Many) else member.shape
        if isinstance(inner, Record | Reference):
            hole = ARRAY_OF_HOLES if isinstance(member.shape, Many) else HOLE
            members = (*shape.members[:place], replace(member, shape=hole), *shape.members[place + 1 :])
            return [(Record(members, shape.others), inner)]
    return []


def _name(shapes: Shapes, fillings: Iterable[Record]) -> str:
    names = {best_name(shapes.names.get(shape, {})) for shape in fillings}
    return common_words(sorted(names))
