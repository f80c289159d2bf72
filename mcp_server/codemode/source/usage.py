"""Every use of `codemode` in a program, with what is certain about it."""

from dataclasses import dataclass
from typing import NamedTuple

from tree_sitter import Node

from mcp_server.codemode.source.statements import bound_names
from mcp_server.codemode.source.syntax import FUNCTIONS, Syntax, children

_CATCHING = frozenset({"allSettled", "any", "catch", "race"})
_ACCESS = frozenset({"member_expression", "subscript_expression"})
_NAMES = frozenset({"identifier", "shorthand_property_identifier", "shorthand_property_identifier_pattern"})

_NAME_BYTES = 2 * len("codemode")


class _Scope(NamedTuple):
    handled: bool = False
    nested: bool = False


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One plain call `codemode.name(...)`.

    Args:
        name: the property that is called.
        node: the call.
        property: where the name stands.
        handled: whether a `try` or `catch` around may take its failure.
        nested: whether it stands in a function, so that its caller may.
        dropped: whether nothing waits for its result.
    """

    name: str
    node: Node
    property: Node
    handled: bool
    nested: bool
    dropped: bool


class Usage:
    """All uses of the tools in one program.

    Attributes:
        calls: the plain calls in the order of the text.
        unwaited: callbacks of `forEach` that are async and call tools: nothing waits for them.
        questioned: names that the program also uses otherwise (`typeof codemode.x`, `"x" in codemode`,
            `codemode.x?.()`), so it may know that they can be missing.
        obscure: whether `codemode` is handed around or is a variable of the program's own.
        catches: whether anything in the program handles failures.
    """

    def __init__(self, program: Syntax) -> None:
        self._program = program
        self.calls: list[ToolCall] = []
        self.unwaited: list[Node] = []
        self.questioned: set[str] = set()
        self.obscure = False
        self.catches = False
        self._plain: set[int] = set()
        if "codemode" in program.units:
            self._read()

    def is_certain(self, call: ToolCall) -> bool:
        """Whether a mistake in this call surely fails the run."""
        caught = call.handled or (self.catches and call.nested)
        return not (caught or self.obscure or call.name in self.questioned)

    def _read(self) -> None:
        scopes: list[_Scope] = []
        for node, path in self._program.walk():
            kind = node.type
            del scopes[len(path) :]
            scope = scopes[-1] if scopes else _Scope()
            if kind == "call_expression":
                scope = self._call_scope(node, scope)
                self._read_call(node, path, scope)
            elif kind in _ACCESS:
                self._read_access(node)
            elif kind in FUNCTIONS:
                scope = scope._replace(nested=True)
                self._read_callback(node, path)
            elif kind == "statement_block":
                scope = self._block_scope(node, path[-1], scope)
            elif kind in _NAMES and node.end_byte - node.start_byte == _NAME_BYTES:
                self._read_name(node, path[-1])
            scopes.append(scope)

    def _block_scope(self, block: Node, parent: Node, outer: _Scope) -> _Scope:
        if parent.type != "try_statement" or parent.child_by_field_name("handler") is None:
            return outer
        self.catches = True
        return outer._replace(handled=outer.handled or block == parent.child_by_field_name("body"))

    def _call_scope(self, call: Node, outer: _Scope) -> _Scope:
        if not self._catches(call):
            return outer
        self.catches = True
        return outer._replace(handled=True)

    def _catches(self, call: Node) -> bool:
        """Whether `promise.catch(f)`, `promise.then(f, g)`, `Promise.allSettled(...)` and the like."""
        method = self._method(call)
        arguments = call.child_by_field_name("arguments")
        return method in _CATCHING or (
            method == "then" and arguments is not None and len(children(arguments)) > 1
        )

    def _method(self, call: Node) -> str:
        function = call.child_by_field_name("function")
        name = function.child_by_field_name("property") if function is not None else None
        return self._program.text(name) if name is not None else ""

    def _read_call(self, node: Node, path: list[Node], scope: _Scope) -> None:
        function = node.child_by_field_name("function")
        name = self._property(function) if function is not None else None
        if function is None or name is None or any(child.type == "?." for child in node.children):
            return
        self._plain.add(function.id)
        dropped = bool(path) and (path[-1].type == "expression_statement" or self._is_each_body(path))
        text = _literal(self._program, name)
        if text:
            self.calls.append(ToolCall(text, node, name, scope.handled, scope.nested, dropped))

    def _read_access(self, node: Node) -> None:
        name = self._property(node)
        if name is not None and node.id not in self._plain:
            self.questioned.add(_literal(self._program, name))

    def _property(self, node: Node) -> Node | None:
        """The name in `codemode.name` or `codemode["name"]`; None for another object."""
        if node.type not in _ACCESS:
            return None
        owner = node.child_by_field_name("object")
        if owner is None or owner.type != "identifier" or self._program.text(owner) != "codemode":
            return None
        if node.child_by_field_name("optional_chain") is not None:
            return None
        return node.child_by_field_name("property") or node.child_by_field_name("index")

    def _read_name(self, node: Node, parent: Node) -> None:
        if self._program.text(node) != "codemode":
            return
        if parent.type in _ACCESS and node == parent.child_by_field_name("object"):
            if parent.child_by_field_name("optional_chain") is not None:
                name = parent.child_by_field_name("property") or parent.child_by_field_name("index")
                self.questioned.add(_literal(self._program, name) if name is not None else "")
        elif parent.type == "variable_declarator" and node == parent.child_by_field_name("value"):
            pattern = parent.child_by_field_name("name")
            self.questioned.update(bound_names(self._program, pattern) if pattern is not None else ())
        elif parent.type == "binary_expression" and node == parent.child_by_field_name("right"):
            left = parent.child_by_field_name("left")
            self.questioned.add(_literal(self._program, left) if left is not None else "")
            self.obscure = self.obscure or left is None or left.type != "string"
        elif parent.type != "unary_expression":
            self.obscure = True

    def _is_each_body(self, path: list[Node]) -> bool:
        """Whether a call below this path is the whole body of an arrow function given to `forEach`."""
        return len(path) > 2 and path[-1].type == "arrow_function" and self._is_each(path[-3:-1])

    def _read_callback(self, function: Node, path: list[Node]) -> None:
        if (
            self._is_each(path)
            and function.children[0].type == "async"
            and "codemode" in self._program.text(function)
        ):
            self.unwaited.append(function)

    def _is_each(self, path: list[Node]) -> bool:
        return len(path) > 1 and path[-1].type == "arguments" and self._method(path[-2]) == "forEach"


def _literal(program: Syntax, name: Node) -> str:
    """The text of a property name or of a string without escapes, else ""."""
    text = program.text(name)
    if name.type != "string":
        return text if name.type == "property_identifier" else ""
    return "" if "\\" in text else text[1:-1]
