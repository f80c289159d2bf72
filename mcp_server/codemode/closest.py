"""The name that was probably meant, for a name that does not exist."""

from collections.abc import Iterable
from difflib import SequenceMatcher

from mcp_server.codemode.search.words import canonical, split, terms

_CLOSE = 0.72
_LONGEST = 100


def closest(name: str, candidates: Iterable[str]) -> str | None:
    """The nearest of the candidates, or None if none is near.

    `getUser`, `get-user`, `user_get` and `fetch_users` are all near `get_user`; so are names with typing errors.
    """
    name = name[:_LONGEST]
    words = _words(name)
    folded = "".join(split(name))
    best, best_score = None, _CLOSE
    matcher = SequenceMatcher(autojunk=False)
    matcher.set_seq2(folded)
    for candidate in candidates:
        score = 1.0 if folded == "".join(split(candidate)) else _score(words, matcher, candidate)
        if score > best_score:
            best, best_score = candidate, score
    return best


def _score(words: frozenset[str], matcher: "SequenceMatcher[str]", candidate: str) -> float:
    other = _words(candidate)
    if words and words == other:
        return 0.98
    matcher.set_seq1("".join(split(candidate)))
    if matcher.quick_ratio() > _CLOSE and (ratio := matcher.ratio()) > _CLOSE:
        return ratio * 0.97
    shared, either = len(words & other), len(words | other)
    # One of two words is half a name; two of three are most of it.
    return shared / either * 1.1 if either and shared > 1 else 0.0


def _words(name: str) -> frozenset[str]:
    return frozenset(canonical(term) for term in terms(name))
