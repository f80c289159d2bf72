"""What each tool is called in JavaScript (contract C04)."""

import re
import unicodedata
from collections.abc import Iterable
from itertools import count

PROVIDED = frozenset({"$search", "$describe"})
"""Functions that `codemode` itself has; a tool never takes their place."""

UNSAFE = frozenset(
    """
    then constructor prototype __proto__ hasOwnProperty isPrototypeOf propertyIsEnumerable
    toString toLocaleString valueOf toJSON
    __defineGetter__ __defineSetter__ __lookupGetter__ __lookupSetter__
    """.split()  # noqa: SIM905 - words are read, not punctuation
)
"""Properties that the language itself reads from objects: a tool of that name would be called by accident."""

RESERVED = frozenset(
    """
    arguments await break case catch class const continue debugger default delete do else enum eval export extends
    false finally for function if implements import in instanceof interface let new null package private protected
    public return static super switch this throw true try typeof undefined var void while with yield
    """.split()  # noqa: SIM905 - words are read, not punctuation
)
"""Words that JavaScript keeps for itself in strict code."""

_NOT_ASCII_WORD = re.compile(r"[^0-9A-Za-z_$]")


def identifiers(names: Iterable[str]) -> dict[str, str]:
    """Return the JavaScript identifier of each tool name, distinct and the same whatever the order of `names`.

    Names that are identifiers already keep theirs; of the others that fall together, the first in sorted order has
    the plain form and the rest a number.
    """
    ordered = sorted(set(names))
    kept = {name: name for name in ordered if _identifier(name) == name}
    taken = {*kept.values(), *ordered, *PROVIDED}
    for name in ordered:
        if name not in kept:
            kept[name] = _free(_identifier(name), taken)
            taken.add(kept[name])
    return {name: kept[name] for name in ordered}


def callables(names: Iterable[str]) -> dict[str, str]:
    """Return every property of `codemode` that calls a tool, with the tool's name: identifiers and safe original names."""
    found = {identifier: name for name, identifier in identifiers(names).items()}
    for name in sorted(found.values()):
        if name not in UNSAFE and name not in PROVIDED:
            found.setdefault(name, name)
    return found


def collisions(names: Iterable[str]) -> list[tuple[str, ...]]:
    """Return the groups of tool names that would share one identifier, for a system check."""
    groups: dict[str, list[str]] = {}
    for name in sorted(set(names)):
        groups.setdefault(_identifier(name), []).append(name)
    return [tuple(group) for group in groups.values() if len(group) > 1]


def _identifier(name: str) -> str:
    text = _NOT_ASCII_WORD.sub(_letter, unicodedata.normalize("NFC", name)) or "_"
    if not (text[0] in "$_" or text[0].isidentifier()):
        text = f"_{text}"
    if text in RESERVED or text in UNSAFE or text in PROVIDED:
        text += "_"
    return text


def _letter(match: re.Match[str]) -> str:
    character = match[0]
    return character if f"a{character}".isidentifier() else "_"


def _free(wanted: str, taken: set[str]) -> str:
    if wanted not in taken:
        return wanted
    return next(text for number in count(2) if (text := f"{wanted}_{number}") not in taken)
