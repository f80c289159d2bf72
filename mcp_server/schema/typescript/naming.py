"""Names for declared types, out of what authors call them."""

import re
import unicodedata
from collections.abc import Iterable, Mapping

DEFINITION, TITLE, FALLBACK = range(3)
"""Ranks of the names for a shape, the best first; those of the last rank are ours, not an author's."""

TAKEN = frozenset(
    """
    Any Array ArrayBuffer Atomics BigInt Boolean DataView Date Error EvalError Exclude Extract Function Infinity Intl
    JSON Map Math NaN Never NonNullable Number Object Omit Parameters Partial Pick Promise PromiseLike Proxy RangeError
    ReadonlyArray Readonly Record ReferenceError Reflect RegExp Required ReturnType Set String Symbol SyntaxError This
    TypeError URIError Uint8Array Unknown WeakMap WeakSet T
    """.split()  # noqa: SIM905 - words are read, not punctuation
)
"""Names that mean something to TypeScript already."""

LONGEST_NAME = 48


def best_name(names: Mapping[str, int]) -> str:
    """Return one name for a shape that authors call by several; `names` maps each to its rank, the lowest wins."""
    lowest = min(names.values(), default=0)
    found = sorted({pascal(name) for name, rank in names.items() if rank == lowest} - {""})
    if not found:
        return "Data"
    common = common_words(found)
    if len(found) == 1 or common:
        return common or found[0]
    return f"{found[0]}Or{found[1]}" if len(found) == 2 else f"{found[0]}Like"


def pascal(name: str) -> str:
    """Return `name` as a type name: `app__models__User-Output` is `AppModelsUserOutput`."""
    text = unicodedata.normalize("NFC", name)
    words = "".join(
        letter if f"a{letter}".isidentifier() and letter != "_" else " " for letter in text
    ).split()
    joined = "".join(word[0].upper() + word[1:] for word in words)[:LONGEST_NAME]
    return joined if joined.isidentifier() else f"T{joined}" if joined else ""


def distinct(wanted: Iterable[str], reserved: frozenset[str] = frozenset()) -> list[str]:
    """Return the names in order, with a number where one is taken already."""
    used = set(TAKEN | reserved)
    found = []
    for name in wanted:
        free = name if name not in TAKEN else f"{name}Data"
        number = 2
        while free in used:
            free = f"{name}{number}"
            number += 1
        used.add(free)
        found.append(free)
    return found


def common_words(names: list[str]) -> str:
    """Return the words that all names have, in the order of the first: `ListUsersInput`, `ListTagsInput`: `ListInput`."""
    split = [re.findall(r"[A-Z]?[^A-Z]+|[A-Z]+(?![^A-Z])", name) for name in names]
    return "".join(word for word in split[0] if all(word in words for words in split))
