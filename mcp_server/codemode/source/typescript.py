"""TypeScript to JavaScript by blanking what only types are made of, so that no position moves.

Where blanks alone would change what the rest means (a line break that begins to end a statement, or ceases to),
one blank becomes a semicolon or a bracket moves into the blanked range; nothing before it on its line moves.
"""

import re
from collections.abc import Callable
from functools import cached_property

from tree_sitter import Node

from mcp_server.codemode.source.draft import Draft
from mcp_server.codemode.source.errors import SourceError
from mcp_server.codemode.source.syntax import Syntax, children, end, start
from mcp_server.codemode.source.text import Text

_TYPES = frozenset(
    {
        "asserts_annotation",
        "type_predicate_annotation",
        "type_parameters",
        "implements_clause",
        "accessibility_modifier",
        "override_modifier",
    }
)
_STATEMENTS = frozenset(
    {
        "interface_declaration",
        "type_alias_declaration",
        "ambient_declaration",
        "function_signature",
        "abstract_method_signature",
        "method_signature",
        "index_signature",
    }
)
_OTHERS = frozenset({"type_annotation", "type_arguments", "import_statement", "export_statement"})
_WORDS = frozenset({"readonly", "abstract", "?", "!"})
_REFUSED = {
    "enum_declaration": (
        "A TypeScript `enum` needs a compiler and does not run here. Write a plain object, for example "
        '`const Status = { Open: "open", Closed: "closed" };`.'
    ),
    "internal_module": "A TypeScript `namespace` does not run here. Write a plain object or plain functions.",
    "module": "A TypeScript `module` block does not run here. Write a plain object or plain functions.",
    "decorator": "Decorators do not run here. Call the function directly.",
}
_PROPERTY = (
    "A parameter property (`constructor(private name: string)`) does not run here. "
    "Declare the field in the class and assign it in the constructor: `this.name = name;`."
)
_CAST = (
    "This cast with angle brackets cannot be removed in place. Write `value as Type`, or leave the type out."
)
_DECLARED_TYPE = re.compile(r"\b(?:type|interface|class)\s+([\w$]+)")
_LINE_END = re.compile(r"[\n\r]")
_LONGER_NAME = re.compile(r"(?:\.[\w$]+)+(?:\[\])*(?![\w$(])")
_GAP = re.compile(r"(?:\s|//[^\n\r]*|/\*.*?\*/)*", re.DOTALL)


def strip(program: Syntax, source: Text) -> Draft:
    """The program with its types blanked; `Draft.changed` is False for plain JavaScript.

    Raises:
        SourceError: of kind "typescript", for what has no JavaScript of the same shape (enum, namespace,
            decorators, parameter properties).
    """
    stripper = _Stripper(program, source)
    for node in program.find(stripper.kinds):
        stripper.visit(node)
    return stripper.draft


class _Stripper:
    def __init__(self, program: Syntax, source: Text) -> None:
        self.program = program
        self.source = source
        self.draft = Draft(program.units)
        self._blanked_until = 0
        self._handlers: dict[str, Callable[[Node], None]] = {
            "as_expression": self._after_first,
            "satisfies_expression": self._after_first,
            "instantiation_expression": self._after_first,
            "non_null_expression": self._after_first,
            "type_assertion": self._cast,
            "arrow_function": self._arrow,
            "abstract_class_declaration": self._words,
            "variable_declarator": self._words,
            "method_definition": self._words,
            "public_field_definition": self._field,
            "required_parameter": self._parameter,
            "optional_parameter": self._parameter,
        }
        self.kinds = _TYPES | _STATEMENTS | _OTHERS | frozenset(_REFUSED) | frozenset(self._handlers)

    def visit(self, node: Node) -> None:
        """Blank what of this node is only type; a part that could not be read is left to V8."""
        kind = node.type
        if start(node) < self._blanked_until:
            return
        if kind in _REFUSED:
            raise self._error(node, _REFUSED[kind])
        if kind == "type_annotation":
            self._blank(node, self._end_of_type(node))
        elif kind in _TYPES:
            self._blank(node)
        elif kind in _STATEMENTS or _is_type_only(node):
            self._statement(node)
        elif kind == "type_arguments":
            self._arguments(node)
        elif kind in self._handlers:
            self._handlers[kind](node)

    def _error(self, node: Node, message: str) -> SourceError:
        return self.source.error("typescript", start(node), message)

    def _blank(self, node: Node, last: int | None = None) -> None:
        last = end(node) if last is None else last
        self.draft.blank(start(node), last)
        self._blanked_until = last

    def _statement(self, node: Node) -> None:
        # The semicolon keeps the lines around from becoming one statement.
        self._blank(node)
        self.draft.put(start(node), ";")

    def _arguments(self, node: Node) -> None:
        is_called = self.program.units[end(node) : end(node) + 20].lstrip().startswith("(")
        if not (is_called and self._is_comparison(node)):
            self._blank(node)

    def _is_comparison(self, node: Node) -> bool:
        """Whether `f(a < b, c > (d))` was read as a call with types: then the names are values."""
        names = [self.program.text(child) for child in children(node) if child.type == "type_identifier"]
        if len(names) < max(2, len(children(node))) or any(name[:1].isupper() for name in names):
            return False
        return self._declared_types.isdisjoint(names)

    @cached_property
    def _declared_types(self) -> frozenset[str]:
        return frozenset(_DECLARED_TYPE.findall(self.program.units))

    def _after_first(self, node: Node) -> None:
        """Keep the expression, blank what follows it: `as T`, `satisfies T`, `<T>` or `!`."""
        inner = next(iter(children(node)), None)
        if inner is None:
            return
        is_typed = node.type in {"as_expression", "satisfies_expression"}
        last = self._end_of_type(node) if is_typed else end(node)
        self.draft.blank(end(inner), last)
        if is_typed and (last < end(node) or self._must_end(last)):
            self.draft.put(end(inner), ";")

    def _end_of_type(self, node: Node) -> int:
        """Where the type that ends a node ends.

        The grammar reads `T` and a next line `[0]` as one type, and of `as a.b.C` only `a.b` as a type.
        """
        last = end(node)
        parts = children(node)
        while parts:
            inner, parts = parts[-1], children(parts[-1])
            if inner.type in {"lookup_type", "array_type"} and parts:
                bracket = self.program.units.find("[", end(parts[0]), end(inner))
                if _LINE_END.search(self.program.units, end(parts[0]), bracket):
                    last = end(parts[0])
                parts = parts[:1]
            elif inner.type == "nested_type_identifier" and (
                rest := _LONGER_NAME.match(self.program.units, last)
            ):
                return rest.end()
            elif inner.type not in {"union_type", "intersection_type"}:
                break
        return last

    def _must_end(self, index: int) -> bool:
        """Whether the next line would go on with this expression once the type between them is gone."""
        if self.program.has_error:  # an open comment would make this scan quadratic
            return False
        gap = _GAP.match(self.program.units, index)
        if gap is None or not _LINE_END.search(gap[0]):
            return False
        return self.program.units[gap.end() : gap.end() + 1] in {"(", "[", "`"}

    def _cast(self, node: Node) -> None:
        kind, value = node.named_children[0], node.named_children[-1]
        if self._has_lines(kind) or value.type in {"object", "function_expression", "class"}:
            raise self._error(node, _CAST)
        self._blank(kind)

    def _arrow(self, node: Node) -> None:
        """Keep `(` and `)` on the line where JavaScript wants them when a type around them has line breaks."""
        parameters = node.child_by_field_name("parameters")
        types = node.child_by_field_name("type_parameters")
        result = node.child_by_field_name("return_type")
        if parameters is None:
            return
        if types is not None and self._has_lines(types):
            self._blank(types)
            self._move("(", start(parameters), start(types))
        if result is not None and self._has_lines(result):
            self.draft.blank(start(result), end(result))
            self._move(")", end(parameters) - 1, end(result) - 1)

    def _has_lines(self, node: Node) -> bool:
        return _LINE_END.search(self.program.text(node)) is not None

    def _move(self, bracket: str, old: int, new: int) -> None:
        self.draft.blank(old, old + 1)
        self.draft.put(new, bracket)

    def _words(self, node: Node) -> None:
        for child in node.children:
            if child.type in _WORDS:
                self.draft.blank(start(child), end(child))

    def _field(self, node: Node) -> None:
        if any(child.type in {"declare", "abstract"} for child in node.children):
            self._statement(node)
            return
        self._words(node)
        annotation = node.child_by_field_name("type")
        if annotation is not None and node.child_by_field_name("value") is None:
            # `get: T` before a method must not become a getter.
            self.draft.blank(start(annotation), end(annotation))
            self.draft.put(start(annotation), ";")

    def _parameter(self, node: Node) -> None:
        if any(
            child.type in {"accessibility_modifier", "override_modifier", "readonly"}
            for child in node.children
        ):
            raise self._error(node, _PROPERTY)
        pattern = node.child_by_field_name("pattern")
        if pattern is not None and pattern.type == "this":
            comma = node.next_sibling
            last = comma if comma is not None and comma.type == "," else node
            self.draft.blank(start(node), end(last))
            self._blanked_until = end(last)
            return
        self._words(node)


def _is_type_only(node: Node) -> bool:
    """Whether an import or export names only types."""
    if node.type not in {"import_statement", "export_statement"}:
        return False
    if any(child.type == "type" for child in node.children):
        return True
    declaration = node.child_by_field_name("declaration")
    return declaration is not None and declaration.type in _STATEMENTS
