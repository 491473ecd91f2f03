"""Text in, terms out: the one analysis that every store indexes by and every query is read with.

Words are folded, stop words dropped, the rest stemmed. Identifiers (`getUserById`, `app.py::recall`,
`10.0.0.1`) are kept whole and also given by their parts, so that they are found either way. Scripts that
write without spaces are cut into overlapping pairs of characters.
"""

import re
import threading
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import pairwise
from typing import Final

import Stemmer

from recollect.core.memory import Memory
from recollect.core.stopwords import STOP_WORDS
from recollect.values import value

VERSION: Final = 1
"""Raised whenever the same text would give other terms: a store then indexes itself anew."""

LONGEST_TERM: Final = 64
"""A longer run is known by its beginning: nobody types more of a hash or a blob than that."""

FIELD_WEIGHTS: Final = {"content": 1.0, "keywords": 1.0, "tags": 1.0, "category": 0.5}
"""What one occurrence counts for, by the field it stands in. No public set has keywords or tags, so these are
plain: a word that somebody chose is worth one of the text, the category half of that."""

# Marks that a reader looks past: accents, Hebrew points, Arabic vowels.
_MARKS: Final = "[\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u064b-\u065f\u0670]"

# Scripts that write without spaces between words: Thai, Lao, Myanmar, Khmer, kana, Han, Hangul.
_UNSPACED: Final = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005\u3040-\u30ff\u3130-\u318f\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
# Indic vowel signs are no letters to Python, yet stand inside words.
_LETTER: Final = f"(?:(?![{_UNSPACED}_])[\\w\u0900-\u0963\u0966-\u0dff])"

# Words, and runs of words held together as in names, paths, addresses and versions. `C++` and `C#` keep their end.
_JOINED: Final = "{letter}+(?:(?:[-./@\\\\'\u2019+#~]|_+|::?){letter}+)*(?:\\+\\+|#)?"
_ASCII_CHUNK: Final = re.compile(_JOINED.format(letter="[A-Za-z0-9]"))
_PLAIN: Final = re.compile(r"[A-Za-z]?[a-z]*|[A-Z]+s?|[0-9]+")
_SEGMENT_ENDS: Final = r"[/\\:@~]+"
_PART_ENDS: Final = r"[-_.+#]+"
_HUMPS: Final = r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+|[^A-Za-z0-9]+"
# What makes a word other than a plain one a name or a code: a digit, or something that joins.
_CODE: Final = r"[0-9]|[-_./@\\+#~:]"
_CONTRACTION: Final = r"(?i)(?:n't|'(?:s|re|ve|ll|d|m))(?![a-z])"
_ODD_NEGATIONS: Final = {"won't": "will", "can't": "can", "shan't": "shall", "ain't": "am"}
"""Those that are more than a word and n't."""

_LETTERS: Final = r"[a-z]+"

# A prompt of plain words pays for none of those.
_compiled = cache(re.compile)
_local = threading.local()


@value
class QueryTerms:
    """The distinct terms of a query, in the order they were asked."""

    terms: tuple[str, ...]
    identifiers: frozenset[str] = frozenset()
    """Those that are names, codes or paths kept whole."""
    common: tuple[str, ...] = ()
    """The words of a query that is all stop words: no index has them, so they are looked for in the text."""


def analyse(text: str, language: str = "english") -> list[str]:
    """Give the terms of a text, repeated as often as they occur."""
    return [term for term, _ in _terms(text, language)]


def analyse_query(text: str, language: str = "english") -> QueryTerms:
    found = dict(_terms(text, language))
    if found:
        return QueryTerms(tuple(found), frozenset(term for term, whole in found.items() if whole))
    return QueryTerms((), common=tuple(dict.fromkeys(_compiled(_LETTERS).findall(text.lower()))))


def share_common(words: Sequence[str], text: str) -> float:
    """How much of a query of stop words a text has: half for the words, half for having them in a row."""
    found = _compiled(_LETTERS).findall(text.lower())
    share = len(set(found).intersection(words)) / len(words)
    return (share + (f" {' '.join(words)} " in f" {' '.join(found)} ")) / 2 if share else 0.0


def weigh_terms(memory: Memory, language: str = "english") -> dict[str, float]:
    """Give each term of a memory with its frequency, weighted by the fields it stands in."""
    weighed: dict[str, float] = {}
    for field, text in (
        ("content", memory.content),
        ("keywords", "\n".join(memory.keywords)),
        ("tags", "\n".join(memory.tags)),
        ("category", memory.category),
    ):
        weight = FIELD_WEIGHTS[field]
        for term in analyse(text, language):
            weighed[term] = weighed.get(term, 0.0) + weight
    return weighed


def _terms(text: str, language: str) -> Iterator[tuple[str, bool]]:
    """Yield each term, and whether it is an identifier kept whole."""
    stop_words = STOP_WORDS.get(language, frozenset())
    stem = _stemmer(language)
    pattern = _ASCII_CHUNK if text.isascii() else _any_chunk()
    for match in pattern.finditer(_fold_marks(text)):
        chunk = match.group()
        if match.lastgroup == "unspaced":
            for pair in _pairs(chunk):
                yield pair, False
            continue
        pieces = {chunk.lower(): False} if _PLAIN.fullmatch(chunk) else _take_apart(chunk)
        for piece, has_humps in pieces.items():
            if not piece.isalpha():
                yield piece[:LONGEST_TERM], not piece.isdigit() and _compiled(_CODE).search(piece) is not None
            elif piece not in stop_words:
                yield stem(piece[:LONGEST_TERM]), has_humps


@cache
def _any_chunk() -> re.Pattern[str]:
    """Give the pattern for text of any script: it takes milliseconds to compile, which English need not pay."""
    return re.compile(f"(?P<unspaced>[{_UNSPACED}]+)|{_JOINED.format(letter=_LETTER)}")


def _take_apart(chunk: str) -> dict[str, bool]:
    """Give a chunk whole, the segments of a path, the parts of a name and their humps, each once.

    Beside each stands whether it has humps, which make letters alone a name: getUserById.
    """
    chunk = _without_apostrophes(chunk)
    whole = chunk.casefold()
    pieces = {whole: False}
    for segment in _compiled(_SEGMENT_ENDS).split(chunk):
        pieces.setdefault(segment.casefold(), False)
        for part in _compiled(_PART_ENDS).split(segment):
            humps = _compiled(_HUMPS).findall(part) if part.isascii() else [part]
            pieces[part.casefold()] = len(humps) > 1
            for hump in humps:
                pieces.setdefault(hump.casefold(), False)
    # A single character says nothing as a part: the e of E1101, the zeros of an address.
    return {piece: has_humps for piece, has_humps in pieces.items() if len(piece) > 1 or (piece and piece == whole)}


def _without_apostrophes(chunk: str) -> str:
    """Leave of a contraction or a possessive the word that it was made of."""
    chunk = chunk.replace("\u2019", "'")
    if "'" not in chunk:
        return chunk
    return _ODD_NEGATIONS.get(chunk.lower()) or _compiled(_CONTRACTION).sub("", chunk).replace("'", "")


def _pairs(run: str) -> Iterator[str]:
    if len(run) == 1:
        yield run
    for first, second in pairwise(run):
        yield first + second


def _fold_marks(text: str) -> str:
    if text.isascii():
        return text
    import unicodedata

    return unicodedata.normalize("NFC", _compiled(_MARKS).sub("", unicodedata.normalize("NFKD", text)))


def _stemmer(language: str) -> Callable[[str], str]:
    """Give this thread's stemmer: they keep state between calls, so threads must not share one."""
    stemmers: dict[str, Callable[[str], str]] = _local.__dict__.setdefault("stemmers", {})
    if language not in stemmers:
        stemmers[language] = Stemmer.Stemmer(language).stemWord
    return stemmers[language]
