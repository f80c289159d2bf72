"""Imports and exports: nothing can be loaded, and what is exported is simply there."""

import re

from tree_sitter import Node

from mcp_server.codemode.source.errors import SourceError, SourceWarning
from mcp_server.codemode.source.syntax import Syntax, end, start
from mcp_server.codemode.source.text import Text

AVAILABLE = (
    "Nothing can be imported here. `codemode` (the tools), `console` and standard JavaScript "
    "(Math, JSON, Date, Intl, Map, Promise ...) are there without an import; files and the network are not."
)

_OWN_REQUIRE = re.compile(r"\b(?:function|const|let|var)\s+require\b")

_KINDS = frozenset(
    {"import_statement", "import_alias", "export_statement", "meta_property", "call_expression"}
)
_DYNAMIC = frozenset({"import"})


def refuse_modules(program: Syntax, source: Text) -> None:
    """Return if the program loads nothing, or only by `import()`, whose failure it may catch.

    Raises:
        SourceError: of kind "module", at the first import, re-export, `require()` or `import.meta`.
    """
    for node in program.find(_KINDS):
        if _loads(program, node):
            raise _error(program, source, node)


def warn_of_imports(program: Syntax, source: Text) -> list[SourceWarning]:
    """Return a warning at the first `import()`: V8 rejects it with an error whose message does not say what there is."""
    return [
        source.warning(start(node), f"`import()` always fails. {AVAILABLE}")
        for node in program.find(_DYNAMIC)[:1]
    ]


def _loads(program: Syntax, node: Node) -> bool:
    if node.type == "export_statement":
        return node.child_by_field_name("source") is not None
    if node.type == "meta_property":
        return program.text(node).startswith("import")
    if node.type == "call_expression":
        function = node.child_by_field_name("function")
        is_require = function is not None and program.text(function) == "require"
        return is_require and not _OWN_REQUIRE.search(program.units)
    return True


def _error(program: Syntax, source: Text, node: Node) -> SourceError:
    message = f"{AVAILABLE} Remove this line."
    line = program.units[start(node) : end(node) + 80].split("\n", 1)[0]
    if "codemode" in line:
        message = "`codemode` is there without an import. Remove this line."
    return source.error("module", start(node), message)
