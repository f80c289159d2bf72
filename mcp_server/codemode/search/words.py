"""Words of names and texts as search compares them: split, folded, stemmed, with one word for each common verb."""

import re
import unicodedata
from functools import cache, lru_cache
from typing import Any

# Scripts written without blanks between words.
_RUN = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\u0e00-\u0e7f"
_PART = re.compile(rf"[{_RUN}]+|[^\W\d_{_RUN}]+|\d+")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_CJK = re.compile(rf"[{_RUN}]")

_STOP = """
a an and any are as at be by can could do does for from give has have how i if in into is it its let me my of on or our
please s so some t that the their them there these they this those to up us want was we were what when where which who will
with would you your need tool tools one
"""
STOP_WORDS = frozenset(_STOP.split())

# The first word of each line stands for the others.
_VERBS = """
get fetch read show retrieve view load display lookup detail details
list all browse enumerate every overview
search find query filter match
create add new make insert register
delete remove destroy erase drop discard
update edit change modify patch alter set rename adjust
send deliver dispatch submit
email mail
notify remind alert reminder notification
cancel abort revoke stop
copy clone duplicate
start begin launch run execute
upload import
download export
assign allocate
approve accept
"""
_NOUNS = """
user person people account member
customer client buyer
order purchase
invoice bill
product item article goods
price cost amount
count total number many sum
picture image photo
file document attachment
todo task
comment note remark
error failure problem issue
stock inventory
employee staff
message chat
meeting appointment
"""


@cache
def _canonical() -> dict[str, str]:
    return _stand_ins(_VERBS) | _stand_ins(_NOUNS)


@cache
def verbs() -> frozenset[str]:
    """The words that stand for the common verbs."""
    return frozenset(_stand_ins(_VERBS).values())


def _stand_ins(lines: str) -> dict[str, str]:
    groups = [line.split() for line in lines.strip().splitlines()]
    return {_stem(word): _stem(group[0]) for group in groups for word in group}


@lru_cache(maxsize=1)
def _stemmer() -> Any:
    # Here: it loads every language that it knows, three MB that only a search needs.
    import snowballstemmer

    return snowballstemmer.stemmer("english")


@lru_cache(maxsize=8192)
def _stem(word: str) -> str:
    return str(_stemmer().stemWord(word))


def split(text: str) -> list[str]:
    """The words of a name or text, folded to lower case without accents; `getHTTPUser2` gives get, http, user, 2."""
    words = []
    for part in _PART.findall(unicodedata.normalize("NFKC", text)):
        words += [_fold(word) for word in _CAMEL.split(part)]
    return words


def terms(text: str) -> list[str]:
    """What is indexed and looked up: stems, and pairs of characters where a script has no blanks."""
    found = []
    for word in split(text):
        if _CJK.match(word):
            found += [word[index : index + 2] for index in range(len(word) - 1)] or [word]
        elif word not in STOP_WORDS:
            found.append(_stem(word))
    return found


def canonical(term: str) -> str:
    """The word that stands for a term and its synonyms."""
    return _canonical().get(term, term)


def _fold(word: str) -> str:
    decomposed = unicodedata.normalize("NFD", word)
    return "".join(character for character in decomposed if not unicodedata.combining(character)).casefold()
