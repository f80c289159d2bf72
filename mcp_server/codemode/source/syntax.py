"""The syntax tree of a program, with nodes addressed in code units. The only module that calls tree-sitter."""

import re
import time
from collections.abc import Iterator
from functools import cache

import tree_sitter_typescript
from tree_sitter import Language, Node, Parser, Query, QueryCursor

_LONE_RETURN = re.compile("\r(?!\n)")

# Recovery from errors takes the parser quadratic time on some texts (a hundred thousand quotes: a second). A good
# program of 100 kB takes 15 ms, so what is slower than this is left to V8.
_SECONDS = 0.1
_SECONDS_PER_UNIT = 1e-6

FUNCTIONS = frozenset(
    {
        "arrow_function",
        "function_expression",
        "function_declaration",
        "generator_function",
        "generator_function_declaration",
        "method_definition",
    }
)


class Syntax:
    """A parsed text.

    Args:
        units: the text as code units.
        root: the program's node.
    """

    def __init__(self, units: str, root: Node) -> None:
        self.units = units
        self.root = root
        self.has_error = root.has_error

    def text(self, node: Node) -> str:
        """The node's own text."""
        return self.units[start(node) : end(node)]

    def find(self, kinds: frozenset[str]) -> list[Node]:
        """The nodes of these kinds in the order of the text; much faster than a walk if they are few."""
        captured = QueryCursor(_query(kinds)).captures(self.root).get("node", [])
        return sorted(captured, key=lambda node: (node.start_byte, -node.end_byte))

    def walk(self) -> Iterator[tuple[Node, list[Node]]]:
        """Every named node in the order of the text, each with its ancestors, the parent last.

        Without recursion, so at any depth. The list of ancestors is one and the same all the time. (`Node.parent`
        searches from the root, which makes deep programs quadratic.)
        """
        for node, path in self._walk():
            if node.is_named:
                yield node, path

    def tokens(self) -> Iterator[Node]:
        """The leaves of the tree, in the order of the text, without comments."""
        return (node for node, _ in self._walk() if not node.child_count and node.type != "comment")

    def _walk(self) -> Iterator[tuple[Node, list[Node]]]:
        cursor = self.root.walk()
        path: list[Node] = []
        while (node := cursor.node) is not None:
            yield node, path
            if cursor.goto_first_child():
                path.append(node)
                continue
            while not cursor.goto_next_sibling():
                if not cursor.goto_parent():
                    return
                path.pop()


def start(node: Node) -> int:
    """Where the node begins, in code units."""
    return node.start_byte // 2


def end(node: Node) -> int:
    """Where the node ends, in code units."""
    return node.end_byte // 2


def children(node: Node) -> list[Node]:
    """The named children without comments."""
    return [child for child in node.named_children if child.type != "comment"]


def parse(units: str) -> Syntax | None:
    """The tree of a text, or None if reading it takes unreasonably long."""
    # tree-sitter's scanner knows no lone carriage return as a line end, JavaScript does.
    data = _LONE_RETURN.sub("\n", units).encode("utf-16-le", "surrogatepass")
    deadline = time.thread_time() + _SECONDS + _SECONDS_PER_UNIT * len(units)

    def read(offset: int, _: object) -> bytes:
        return data[offset : offset + 65536]

    def give_up(_: int, __: bool) -> bool:
        return time.thread_time() > deadline

    try:
        tree = Parser(_language()).parse(read, encoding="utf16le", progress_callback=give_up)
    except ValueError:
        return None
    return Syntax(units, tree.root_node)


@cache
def _query(kinds: frozenset[str]) -> Query:
    return Query(_language(), f"[{' '.join(f'({kind})' for kind in sorted(kinds))}] @node")


@cache
def _language() -> Language:
    return Language(tree_sitter_typescript.language_typescript())
