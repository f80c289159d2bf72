"""Brackets that do not pair: V8 only says that the end came too early, this says which one is open."""

from collections import Counter

from tree_sitter import Node

from mcp_server.codemode.source.syntax import Syntax, start
from mcp_server.codemode.source.text import Text

_OPENING = {"(": ")", "[": "]", "{": "}", "${": "}"}
_CLOSING = frozenset(_OPENING.values())
_QUOTES = frozenset({"'", '"', "`"})
# In a broken text a division and a regular expression are easily confused, and with them the brackets inside.
_UNSURE = frozenset({"/", "/=", "html_comment"})


def check_brackets(program: Syntax, source: Text) -> None:
    """Return if no bracket is certainly missing or too many.

    Raises:
        SourceError: of kind "syntax"; at the innermost open bracket, or at one that closes nothing.
    """
    tokens = [token for token in program.tokens() if not token.is_missing]
    kinds = Counter(token.type for token in tokens)
    if any(kinds[quote] % 2 for quote in _QUOTES) or not _UNSURE.isdisjoint(kinds):
        return
    pending: list[Node] = []
    for token in tokens:
        if token.type in _OPENING:
            pending.append(token)
        elif token.type in _CLOSING:
            if not pending:
                message = f"This `{token.type}` closes nothing. Remove it."
                raise source.error("syntax", start(token), message)
            if _OPENING[pending.pop().type] != token.type:
                return  # V8 stumbles over exactly this one
    if pending:
        opening = pending[-1].type
        message = f"This `{opening}` is never closed: `{_OPENING[opening]}` is missing."
        raise source.error("syntax", start(pending[-1]), message)
