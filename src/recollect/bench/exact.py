"""Questions that quote: for some memories of a set, a phrase that stands in that one memory of its space only.

The public sets hardly ask for the very words, which is what people do who remember them.
"""

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import nsmallest
from typing import Final

from recollect.bench.sources import Document, Question, Source
from recollect.bench.strata import EXACT
from recollect.core.concepts import Relation

EXACT_SETS: Final[Mapping[str, str]] = {"realmem_exact": "realmem", "scifact_exact": "scifact"}
"""Whose documents each asks about."""
HOW_MANY: Final = 300
SHORTEST: Final = 4
LONGEST: Final = 8
"""Words of a phrase."""

_VERSION: Final = 1
"""Raised whenever the same documents would give other questions."""
_SPARE: Final = 3
"""So many times as many memories are looked at, since some hold no phrase of their own."""
_TRIES: Final = 6
_WORD: Final = re.compile(r"\w+(?:['\u2019]\w+)*")


@dataclass(frozen=True, slots=True)
class _Phrase:
    document: str
    space: str
    quoted: str
    """As it stands there, marks and all, on one line."""
    folded: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ExactSet:
    name: str
    corpus: Source

    def fingerprint(self) -> str:
        return hashlib.sha256(f"{self.corpus.fingerprint()} exact {_VERSION}".encode()).hexdigest()[:16]

    def documents(self) -> Iterator[Document]:
        return self.corpus.documents()

    def triples(self) -> Iterator[tuple[str, Relation]]:
        return self.corpus.triples()

    def questions(self) -> Sequence[Question]:
        candidates = _candidates(self.corpus)
        alone = _alone(self.corpus, candidates)
        questions = []
        for phrases in candidates:
            phrase = next((each for each in phrases if each in alone), None)
            if phrase is not None:
                identity = f"{phrase.document}#exact"
                questions.append(Question(identity, phrase.quoted, phrase.space, EXACT, {phrase.document: 1}))
        return questions[:HOW_MANY]


def _candidates(corpus: Source) -> list[list[_Phrase]]:
    """Give some phrases of each memory that may be asked for, those to be preferred first."""
    # Drawn by their ids, whatever the order of the file, and without holding more than are drawn.
    drawn = nsmallest(HOW_MANY * _SPARE, corpus.documents(), key=lambda each: _number(each.space, each.id, "draw"))
    return [_phrases(each) for each in drawn]


def _phrases(document: Document) -> list[_Phrase]:
    words = list(_WORD.finditer(document.text))
    phrases = []
    for attempt in range(_TRIES):
        length = SHORTEST + _number(document.id, attempt, "length") % (LONGEST - SHORTEST + 1)
        if len(words) >= length:
            start = _number(document.id, attempt, "start") % (len(words) - length + 1)
            taken = words[start : start + length]
            quoted = " ".join(document.text[taken[0].start() : taken[-1].end()].split())
            phrases.append(_Phrase(document.id, document.space, quoted, _fold([word.group() for word in taken])))
    return phrases


def _alone(corpus: Source, candidates: Sequence[Sequence[_Phrase]]) -> set[_Phrase]:
    """Find the phrases that no other memory of their space holds, in one reading of them all."""
    by_beginning: dict[tuple[str, ...], list[_Phrase]] = {}
    for phrases in candidates:
        for phrase in phrases:
            by_beginning.setdefault((phrase.space, *phrase.folded[:SHORTEST]), []).append(phrase)
    elsewhere: set[_Phrase] = set()
    for document in corpus.documents():
        words = _fold(_WORD.findall(document.text))
        for start in range(len(words) - SHORTEST + 1):
            for phrase in by_beginning.get((document.space, *words[start : start + SHORTEST]), ()):
                if phrase.document != document.id and words[start : start + len(phrase.folded)] == phrase.folded:
                    elsewhere.add(phrase)
    return {phrase for phrases in candidates for phrase in phrases} - elsewhere


def _fold(words: Sequence[str]) -> tuple[str, ...]:
    return tuple(word.casefold() for word in words)


def _number(*parts: object) -> int:
    return int.from_bytes(hashlib.sha256("\0".join(map(str, parts)).encode()).digest()[:8], "big")
