"""JSON Schema -> TypeScript (contract C05). Pure: it knows no tool, no user and no database.

`read` turns schemas into shapes, equal ones into the same shape even when they come from different documents; a `Writer`
over all of them declares once what is used often. `declaration` does both for a single schema.

What is decided here, where TypeScript cannot say what JSON Schema says: an object with `properties` is closed unless its
schema names further keys (a call with an unknown key is an error to a reader, and `additionalProperties` is open when unsaid);
`required` counts, whatever `default` says; limits without a `type` mean the type that they are for; `not`,
`if` and `contains` are left out.
"""

from typing import Any

from mcp_server.schema.typescript.naming import FALLBACK, TITLE
from mcp_server.schema.typescript.notes import Notes
from mcp_server.schema.typescript.reading import Reader, parameter
from mcp_server.schema.typescript.shapes import Shape, Shapes
from mcp_server.schema.typescript.writing import Writer

__all__ = ["Notes", "Shape", "Shapes", "Writer", "declaration", "parameter", "read"]


def read(
    shapes: Shapes, schema: Any, *, name: str = "", notes: Notes = Notes.NONE, output: bool = False
) -> Shape:
    """Return the shape of a schema.

    `name` is what it may be called when nobody gave it a name. The title of an `output` is a name; that of an input is
    made by a library out of the function's.
    """
    shape = Reader(shapes, schema, notes=notes).root()
    title = schema.get("title") if output and isinstance(schema, dict) else None
    if isinstance(title, str):
        shapes.call(shape, title, rank=TITLE)
    shapes.call(shape, name, rank=FALLBACK)
    return shape


def declaration(schema: Any, *, name: str = "T", notes: Notes = Notes.NONE) -> str:
    """Return TypeScript that declares `name` as the type of the schema, with what it needs before it."""
    shapes = Shapes()
    shape = read(shapes, schema, notes=notes)
    writer = Writer(shapes, [shape])
    return "\n".join([*writer.declarations(), f"type {name} = {writer.expression(shape)};"])
