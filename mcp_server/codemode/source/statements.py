"""Questions about statements that several steps ask."""

from tree_sitter import Node

from mcp_server.codemode.source.syntax import Syntax, children, parse

# Declared before anything runs, or without an effect: a value may stand before them.
DECLARATIONS = frozenset(
    {"function_declaration", "generator_function_declaration", "class_declaration", "empty_statement"}
)


def last_statement(statements: list[Node]) -> Node | None:
    """The statement whose value counts: the last that is no declaration of a function or class."""
    return next((node for node in reversed(statements) if not _only_declares(node)), None)


def _only_declares(statement: Node) -> bool:
    return declaration_of(statement).type in DECLARATIONS or is_export_list(statement)


def declaration_of(statement: Node) -> Node:
    """What an `export` declares, or the statement itself."""
    if statement.type == "export_statement":
        return statement.child_by_field_name("declaration") or statement
    return statement


def expression_of(statement: Node | None) -> Node | None:
    """The expression that a statement consists of."""
    if statement is None or statement.type != "expression_statement":
        return None
    return next(iter(children(statement)), None)


def exported_expression(statement: Node) -> Node | None:
    """The expression of `export default ...` or `export = ...`."""
    if statement.type != "export_statement" or statement.child_by_field_name("declaration") is not None:
        return None
    value = statement.child_by_field_name("value")
    return value or next((child for child in children(statement) if child.type != "export_clause"), None)


def is_export_list(statement: Node) -> bool:
    """Whether the statement is `export { a, b }`."""
    return any(child.type == "export_clause" for child in statement.named_children)


def is_object(program: Syntax, block: Node) -> bool:
    """Whether `{ users, total }`, to the grammar a block, is meant as an object."""
    inner = children(block)
    if not inner or inner[0].type != "expression_statement" or ";" in program.text(inner[0])[-1:]:
        return False
    read = parse(f"({program.text(block)})")
    if read is None or read.has_error:
        return False
    value = expression_of(children(read.root)[0])
    return value is not None and [child.type for child in children(value)] == ["object"]


def bound_names(program: Syntax, pattern: Node) -> list[str]:
    """The variables that a name or a destructuring pattern binds, in order."""
    names, waiting = [], [pattern]
    while waiting:
        node = waiting.pop()
        if node.type in {"identifier", "shorthand_property_identifier_pattern"}:
            names.append(program.text(node))
        elif node.type in {"assignment_pattern", "object_assignment_pattern", "pair_pattern"}:
            bound = node.child_by_field_name("left") or node.child_by_field_name("value")
            waiting += [bound] if bound is not None else []
        else:
            waiting += reversed(children(node))
    return names
