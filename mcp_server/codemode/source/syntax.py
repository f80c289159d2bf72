"""The syntax tree of a program, with nodes addressed in code units. The only module that calls tree-sitter."""

import re
import threading
import warnings
from collections.abc import Iterator
from functools import cache, cached_property

import tree_sitter_typescript
from tree_sitter import Language, Node, Parser

_LONE_RETURN = re.compile("\r(?!\n)")

# Recovery from errors can take the parser cubic time (sixteen thousand characters of `~>`: a minute and a half), with
# the interpreter locked. A good program of 100 kB takes 15 ms, so what is slower than this is left to V8.
_MICROSECONDS = 500_000

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
        """The nodes of these kinds in the order of the text."""
        return [node for node, kind, _ in self._named if kind in kinds]

    def walk(self) -> Iterator[tuple[Node, list[Node]]]:
        """Every named node in the order of the text, each with its ancestors, the parent last.

        Without recursion, so at any depth. The list of ancestors is one and the same all the time. (`Node.parent`
        searches from the root, which makes deep programs quadratic; so do queries.)
        """
        path: list[Node] = []
        for node, _, depth in self._named:
            del path[depth:]
            yield node, path
            path.append(node)

    def tokens(self) -> Iterator[Node]:
        """The leaves of the tree, in the order of the text, without comments."""
        return (node for node, _ in self._nodes() if not node.child_count and node.type != "comment")

    @cached_property
    def _named(self) -> list[tuple[Node, str, int]]:
        """Every named node with its kind and depth."""
        return [(node, node.type, depth) for node, depth in self._nodes() if node.is_named]

    def _nodes(self) -> Iterator[tuple[Node, int]]:
        cursor = self.root.walk()
        depth = 0
        while (node := cursor.node) is not None:
            yield node, depth
            if cursor.goto_first_child():
                depth += 1
                continue
            while not cursor.goto_next_sibling():
                if not cursor.goto_parent():
                    return
                depth -= 1


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
    parser = _parsers.parser
    try:
        return Syntax(units, parser.parse(data, encoding="utf16le").root_node)
    except ValueError:  # its way to say that the time is over
        parser.reset()
        return None


class _Parsers(threading.local):
    """One parser for each thread."""

    @cached_property
    def parser(self) -> Parser:
        # The time limit of the parser itself is deprecated in favour of a callback, but parsing with callbacks leaks
        # memory in tree-sitter 0.26 and crashes in 0.25; hence the ceiling on its version, too.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            return Parser(_language(), timeout_micros=_MICROSECONDS)


_parsers = _Parsers()


@cache
def _language() -> Language:
    return Language(tree_sitter_typescript.language_typescript())
