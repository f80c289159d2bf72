"""Ranking: BM25 over weighted fields, with synonyms below exact words and guesses for words that no tool has."""

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from itertools import pairwise

from mcp_server.codemode.described import DescribedTool
from mcp_server.codemode.search.documents import Document, read
from mcp_server.codemode.search.words import canonical, terms, verbs

_SATURATION = 1.2
_LENGTH = 0.4
_SYNONYM = 0.7
_PREFIX = 0.6
_TYPO = 0.7
_CLOSE = 0.72
_NAME_BONUS = 0.6
# A query without a verb asks to see things: a list rather than one, reading rather than writing.
_READING = {"list": 1.15, "get": 1.08, "search": 1.08}
# Matches this far below the best are noise.
_FLOOR = 0.2
_LONGEST_QUERY = 24


class Index:
    """The tools of one visible set, ready to be ranked.

    Args:
        tools: the tools; the index keeps them.
    """

    def __init__(self, tools: Sequence[DescribedTool]) -> None:
        self.tools = tuple(tools)
        self._documents: list[Document] = [read(tool) for tool in tools]
        self._mean = (
            sum(document.length for document in self._documents) / max(1, len(self._documents)) or 1.0
        )
        self._stems = _postings([document.weights for document in self._documents])
        self._concepts = _postings([document.concepts for document in self._documents])

    def rank(self, query: str) -> list[tuple[float, int]]:
        """Scores and places of the tools that fit the query, best first, equals in the order of the tools."""
        words = self._known(list(dict.fromkeys(terms(query[:1000])))[:_LONGEST_QUERY])
        scores: defaultdict[int, float] = defaultdict(float)
        covered: Counter[int] = Counter()
        for word in words:
            for place, score in self._hits(word).items():
                scores[place] += score
                covered[place] += 1
        concepts = frozenset(map(canonical, words))
        ranked = [
            (score * (0.4 + 0.6 * covered[place] / len(words)) * self._name_factor(place, concepts), place)
            for place, score in scores.items()
        ]
        ranked.sort(key=lambda hit: (-hit[0], hit[1]))
        return [hit for hit in ranked if hit[0] >= ranked[0][0] * _FLOOR]

    def _name_factor(self, place: int, concepts: frozenset[str]) -> float:
        """More for a name that the query says in full, and for reading if the query has no verb."""
        name = self._documents[place].name
        factor = 1 + (_NAME_BONUS * len(name & concepts) / len(name) if name else 0.0)
        if concepts.isdisjoint(verbs()):
            factor *= max((_READING[word] for word in name if word in _READING), default=1.0)
        return factor

    def _known(self, words: list[str]) -> list[str]:
        """The query's words, with those joined that only together are a word of a tool, and the reverse."""
        joined = [first + second for first, second in pairwise(words) if self._has(first + second)]
        apart: list[str] = []
        for word in words:
            apart += [word] if self._has(word) else self._split(word)
        return list(dict.fromkeys([*apart, *joined]))

    def _has(self, word: str) -> bool:
        return word in self._stems or canonical(word) in self._concepts

    def _split(self, word: str) -> list[str]:
        for cut in range(3, len(word) - 2):
            halves = terms(word[:cut]) + terms(word[cut:])
            if len(halves) == 2 and all(self._has(half) for half in halves):
                return halves
        return [word]

    def _hits(self, word: str) -> Mapping[int, float]:
        exact = self._score(self._stems.get(word, {}))
        alike = self._score(self._concepts.get(canonical(word), {}))
        if exact or alike:
            return {place: max(exact.get(place, 0.0), _SYNONYM * score) for place, score in alike.items()}
        return self._guess(word)

    def _guess(self, word: str) -> Mapping[int, float]:
        """Hits of the words that begin so, or else that are spelt nearly so."""
        best: dict[int, float] = {}
        for other, factor in self._near(word):
            for place, score in self._score(self._stems[other]).items():
                best[place] = max(best.get(place, 0.0), score * factor)
        return best

    def _near(self, word: str) -> list[tuple[str, float]]:
        begun = [
            (other, _PREFIX) for other in self._stems if other.startswith(word) or word.startswith(other)
        ]
        begun = [(other, factor) for other, factor in begun if len(other) > 3 or not other.isascii()]
        if begun and (len(word) > 2 or not word.isascii()):
            return begun
        matcher = SequenceMatcher(autojunk=False)
        matcher.set_seq2(word)
        near = []
        for other in self._stems:
            if abs(len(other) - len(word)) > 3 or not other.isalpha():
                continue
            matcher.set_seq1(other)
            if matcher.quick_ratio() >= _CLOSE and (ratio := matcher.ratio()) >= _CLOSE:
                near.append((other, _TYPO * ratio))
        near.sort(key=lambda pair: -pair[1])
        return near[:3]

    def _score(self, posting: Mapping[int, float]) -> dict[int, float]:
        if not posting:
            return {}
        count = len(self._documents)
        rarity = math.log(1 + (count - len(posting) + 0.5) / (len(posting) + 0.5))
        return {place: rarity * self._frequency(place, weight) for place, weight in posting.items()}

    def _frequency(self, place: int, weight: float) -> float:
        length = 1 - _LENGTH + _LENGTH * self._documents[place].length / self._mean
        return weight * (_SATURATION + 1) / (weight + _SATURATION * length * 2)


def _postings(documents: Sequence[Mapping[str, float]]) -> dict[str, dict[int, float]]:
    postings: dict[str, dict[int, float]] = {}
    for place, document in enumerate(documents):
        for term, weight in document.items():
            postings.setdefault(term, {})[place] = weight
    return postings
