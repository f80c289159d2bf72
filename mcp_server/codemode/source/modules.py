"""Imports and exports: nothing can be loaded, and what is exported is simply there."""

import re

from tree_sitter import Node

from mcp_server.codemode.source.errors import SourceError
from mcp_server.codemode.source.syntax import Syntax, end, start
from mcp_server.codemode.source.text import Text

AVAILABLE = (
    "Nothing can be imported here. `codemode` (the tools), `console` and standard JavaScript "
    "(Math, JSON, Date, Intl, Map, Promise ...) are there without an import; files and the network are not."
)

_OWN_REQUIRE = re.compile(r"\b(?:function|const|let|var)\s+require\b")


def refuse_modules(program: Syntax, source: Text) -> None:
    """Return if the program loads nothing.

    Raises:
        SourceError: of kind "module", at the first import, re-export, `require()` or `import.meta`.
    """
    first = next((node for node, path in program.walk() if _loads(program, node, path)), None)
    if first is not None:
        raise _error(program, source, first)


def _loads(program: Syntax, node: Node, path: list[Node]) -> bool:
    if node.type in {"import_statement", "import_alias", "import"}:
        return True
    if node.type == "export_statement":
        return node.child_by_field_name("source") is not None
    if node.type == "meta_property":
        return program.text(node).startswith("import")
    is_callee = node.type == "identifier" and bool(path) and path[-1].type == "call_expression"
    return is_callee and program.text(node) == "require" and not _OWN_REQUIRE.search(program.units)


def _error(program: Syntax, source: Text, node: Node) -> SourceError:
    message = f"{AVAILABLE} Remove this line."
    line = program.units[start(node) : end(node) + 80].split("\n", 1)[0]
    if "codemode" in line:
        message = "`codemode` is there without an import. Remove this line."
    return source.error("module", start(node), message)
