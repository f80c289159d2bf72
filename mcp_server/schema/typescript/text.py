"""Text of unknown origin, made fit to stand in a TypeScript declaration."""

import json
import re
from typing import Any

# Line ends of JavaScript that JSON does not escape, direction marks that make text look like other text, halves of
# surrogate pairs, and control characters.
_HIDDEN = re.compile("[\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]")
_BLANK = re.compile(r"[\s\x00-\x1f]+")
_WORD = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*")


def literal(value: Any) -> str:
    """Return a JSON value as TypeScript writes it: one line, nothing invisible."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, default=str)
    return _HIDDEN.sub(lambda match: f"\\u{ord(match[0]):04x}", text).replace("```", "\\u0060``")


def key(name: str) -> str:
    """Return the key of an object type, quoted unless it is a plain word."""
    return name if _WORD.fullmatch(name) else literal(name)


def comment(text: str) -> str:
    """Return text that can end neither a line comment nor a block comment nor a fence."""
    text = _BLANK.sub(" ", _HIDDEN.sub(" ", text)).strip()
    return text.replace("*/", "* /").replace("/*", "/ *").replace("```", "'''")


def shorten(text: str, length: int) -> str:
    """Return at most `length` characters: the first sentence if that fits, else whole words and an ellipsis."""
    if len(text) <= length:
        return text
    sentence = re.match(r".+?(?:[.!?](?=\s)|[\u3002\uff01\uff1f])", text)
    if sentence and len(sentence[0]) <= length:
        return sentence[0]
    return text[: length - 1].rsplit(" ", 1)[0].rstrip(" ,;:.") + "…"
