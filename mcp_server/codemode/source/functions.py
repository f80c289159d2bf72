"""The functions a program declares at its top level, and which of them it means to be called."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from tree_sitter import Node

from mcp_server.codemode.source.statements import DECLARATIONS, declaration_of, expression_of
from mcp_server.codemode.source.syntax import FUNCTIONS, Syntax, children, end, start

_ENTRY_NAMES = frozenset(
    {"main", "run", "execute", "handler", "program", "script", "task", "solve", "start", "code", "default"}
)
_GLOBALS = frozenset({"codemode", "console"})
_TOOLS_BY_ANY_NAME = frozenset({"api", "client", "context", "ctx", "mcp", "tools"})
_WORK = frozenset({"await_expression", "call_expression", "new_expression", "yield_expression"})
_VARIABLES = frozenset({"lexical_declaration", "variable_declaration"})
_ON_THE_WAY = frozenset(
    {"await_expression", "call_expression", "member_expression", "parenthesized_expression"}
)


@dataclass(frozen=True, slots=True)
class Function:
    """A function with a name at the top level.

    Args:
        name: its name.
        node: the function itself.
        declaration: the statement that declares it.
        exported: whether the program exports it.
    """

    name: str
    node: Node
    declaration: Node
    exported: bool

    @property
    def is_entry_name(self) -> bool:
        """Whether the name says that the program starts here."""
        return self.name in _ENTRY_NAMES


@dataclass(frozen=True, slots=True)
class Callee:
    """The function that a call runs.

    Args:
        node: the function.
        bare_arrow: the same, if it is an arrow function called without the brackets that JavaScript wants.
        runs_here: whether this call is the only use, so that its value is the program's.
    """

    node: Node
    bare_arrow: Node | None
    runs_here: bool


class Functions:
    """The top level of a program, seen as functions and uses of them.

    Args:
        program: the tree.
        statements: its statements.
    """

    def __init__(self, program: Syntax, statements: list[Node]) -> None:
        self._program = program
        self._statements = statements
        self.all = list(self._declared())
        self._by_name = {function.name: function for function in self.all}

    def resolve(self, expression: Node) -> Node | None:
        """The function that an expression is, literally or by the name of one at the top level."""
        expression = unwrap(expression)
        if expression.type in FUNCTIONS:
            return expression
        if expression.type == "identifier":
            named = self._by_name.get(self._program.text(expression))
            return named.node if named is not None else None
        return None

    def callee(self, expression: Node) -> Callee | None:
        """The function that `f()`, `await f()`, `f().catch(...)` or an immediate call runs."""
        node, bare_arrow = expression, None
        while node.type in _ON_THE_WAY:
            inner = node.child_by_field_name("function") or node.child_by_field_name("object")
            inner = inner or next(iter(children(node)), None)
            if inner is None:
                return None
            is_bare = node.type == "call_expression" and inner.type == "arrow_function"
            bare_arrow = inner if is_bare else bare_arrow
            node = inner
        function = self.resolve(node) if node is not expression else None
        if function is None:
            return None
        runs_here = node.type != "identifier" or self._mentions[self._program.text(node)] == 1
        return Callee(function, bare_arrow, runs_here)

    def likely_entries(self) -> list[Function]:
        """The functions that may be meant to be called; one, if that is clear."""
        free = [function for function in self.all if not self._mentions[function.name]]
        exported = [function for function in free if function.exported]
        named = [function for function in free if function.is_entry_name]
        return next((likely for likely in (free, exported, named) if len(likely) == 1), free or self.all)

    @cached_property
    def do_work(self) -> bool:
        """Whether the top level does more than declare and log."""
        return any(self._works(declaration_of(statement)) for statement in self._statements)

    def _works(self, statement: Node) -> bool:
        if statement.type in DECLARATIONS or statement.type == "export_statement":
            return False
        if statement.type in _VARIABLES:
            return _computes(statement)
        expression = expression_of(statement)
        if expression is None:
            return True
        return unwrap(expression).type not in {"identifier", "string"} and not is_log(
            self._program, expression
        )

    def _declared(self) -> Iterable[Function]:
        listed = self._exported_names()
        for statement in self._statements:
            inner = declaration_of(statement)
            for name, node in _named_functions(self._program, inner):
                yield Function(name, node, statement, inner is not statement or name in listed)

    def _exported_names(self) -> set[str]:
        names = set()
        for statement in self._statements:
            if statement.type == "export_statement":
                for clause in statement.named_children:
                    named = [child.child_by_field_name("name") for child in clause.named_children]
                    names |= {self._program.text(name) for name in named if name is not None}
        return names

    @cached_property
    def _mentions(self) -> dict[str, int]:
        """How often each function is named outside its own declaration and outside `export { ... }`."""
        count = dict.fromkeys(self._by_name, 0)
        own = {name: (start(each.declaration), end(each.declaration)) for name, each in self._by_name.items()}
        for node, path in self._program.walk():
            if node.type in {"identifier", "shorthand_property_identifier"}:
                name = self._program.text(node)
                listed = path[-1].type == "export_specifier"
                if name in count and not listed and not own[name][0] <= start(node) < own[name][1]:
                    count[name] += 1
        return count


def unwrap(expression: Node) -> Node:
    """The expression inside any number of parentheses."""
    while expression.type == "parenthesized_expression":
        inner = children(expression)
        if not inner:
            break
        expression = inner[0]
    return expression


def is_log(program: Syntax, expression: Node) -> bool:
    """Whether the expression only writes known values to the console, or is a directive."""
    text = program.text(expression)
    if text.startswith("console."):
        arguments = expression.child_by_field_name("arguments")
        return arguments is not None and not _computes(arguments)
    return text[1:-1] == "use strict"


def arguments_for(program: Syntax, function: Node, *, is_program: bool) -> str | None:
    """What to call a function with that nobody calls, or None if it plainly expects values of its own.

    Args:
        program: the tree it is in.
        function: the function.
        is_program: whether it is surely the program itself; then a single parameter, whatever its name, gets the
            tools. `codemode` and `console` go where a parameter has that name in any case.
    """
    given = []
    nodes = _parameters(function)
    for index, node in enumerate(nodes):
        pattern = node.child_by_field_name("pattern") or node
        text = program.text(pattern)
        if text in _GLOBALS:
            given.append(text)
        elif pattern.type == "object_pattern" and _takes_globals(program, pattern):
            given.append("{ codemode, console }")
        elif index == 0 and (text in _TOOLS_BY_ANY_NAME or (is_program and len(nodes) == 1)):
            given.append("codemode")
        else:
            return ", ".join(given) if _is_optional(node, pattern) else None
    return ", ".join(given)


def _is_optional(parameter: Node, pattern: Node) -> bool:
    return parameter.child_by_field_name("value") is not None or pattern.type == "rest_pattern"


def _parameters(function: Node) -> list[Node]:
    single = function.child_by_field_name("parameter")
    if single is not None:
        return [single]
    several = function.child_by_field_name("parameters")
    return children(several) if several is not None else []


def _takes_globals(program: Syntax, pattern: Node) -> bool:
    return any(program.text(child).partition(":")[0].strip() in _GLOBALS for child in children(pattern))


def _named_functions(program: Syntax, declaration: Node) -> Iterable[tuple[str, Node]]:
    if declaration.type in FUNCTIONS:
        pairs = [(declaration.child_by_field_name("name"), declaration)]
    elif declaration.type in _VARIABLES:
        assigned = [
            (node.child_by_field_name("name"), node.child_by_field_name("value"))
            for node in children(declaration)
        ]
        pairs = [(name, unwrap(value)) for name, value in assigned if value is not None]
    else:
        return
    for name, node in pairs:
        if name is not None and node.type in FUNCTIONS:
            yield program.text(name), node


def _computes(declaration: Node) -> bool:
    """Whether an initial value needs a call, outside the functions in it."""
    waiting = [declaration]
    while waiting:
        node = waiting.pop()
        if node.type in _WORK:
            return True
        waiting += [child for child in node.named_children if child.type not in FUNCTIONS]
    return False
