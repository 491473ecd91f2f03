"""Two short texts compared: whether they say the same, and whether one seems to contradict the other. Pure.

Compared are analysed terms, and apart from them what makes another statement of the same words: numbers, names, and a
negation. "Deploys run on Tuesdays" and "on Thursdays" share all but one term, and are not the same.
"""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from hashlib import blake2b
from typing import Final

from recollect.core.analysis import analyse
from recollect.values import value

SAME: Final = 0.9
"""The least part of a statement's terms that another must have to say it too: of fewer than ten, all."""
_LEAST_SHARED: Final = 2
_MOST_OTHER: Final = 1
"""Plain words by which a statement and its negation may differ besides."""
_MOST_REPLACED: Final = 4
"""Words in place of which a statement that contradicts another has others."""
_PLAIN_VALUE: Final = 4
"""Terms that must come before a value that is neither a number nor a name, for its being another to mean anything."""
_DIGEST_BYTES: Final = 16

_WORD: Final = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)?")
_NAMED: Final = re.compile(r"(?<![.!?:] )(?<!^)\b(?:[A-Z]\w+|\w+[_./-]\w[\w./-]*|\w*\d\w*|\w+[A-Z]\w*)")
_NEGATION: Final = re.compile(
    r"(?i)\b(?:not|no|never|none|nobody|nothing|without|cannot|neither|nor|no longer|stop|avoid|\w+n['\u2019]t)\b"
)
_CONTRASTED: Final = re.compile(r"(?i), (?:and |but )?(?:not|never)\b[^.;]*| (?:rather than|instead of)\b[^.;,]*")
"""What a statement sets itself against: it says what is not, and so is no part of what is."""

_FILLERS: Final = frozenset(analyse("please remember note"))
"""Terms that say nothing of what is stated."""
_STATING: Final = frozenset(
    ("is", "are", "was", "were", "has", "have", "be", "will", "does", "do", "did", "uses", "runs")
)
"""Words that a value does not have in it: what differs on both sides of one is more than a value."""


@value
class Statement:
    words: tuple[str, ...]
    """What it says is so, word by word."""
    terms: frozenset[str]
    telling: frozenset[str]
    """Those of its terms that are numbers, names and identifiers."""
    negated: bool
    rejected: frozenset[str] = frozenset()
    """Terms of what it says is not so, in place of what is: "5433, not 5432"."""


def digest(text: str) -> bytes:
    """Give what texts have in common that differ in case, marks and blanks only."""
    words = " ".join(_WORD.findall(text.casefold().replace("\u2019", "'")))
    return blake2b((words or text).encode("utf-8", "surrogatepass"), digest_size=_DIGEST_BYTES).digest()


def read_statement(text: str) -> Statement:
    contrasts = [each.group() for each in _CONTRASTED.finditer(text)]
    positive = _CONTRASTED.sub("", text) if contrasts else text
    terms = frozenset(analyse(positive)) - _FILLERS
    named = _terms_of(_NAMED.findall(positive))
    digits = frozenset(term for term in terms if any(map(str.isdigit, term)))
    return Statement(
        words=tuple(_WORD.findall(positive.lower())),
        terms=terms,
        telling=(named & terms) | digits,
        negated=_NEGATION.search(positive) is not None,
        rejected=frozenset(analyse(" ".join(contrasts))) - terms if contrasts else frozenset(),
    )


def adds_nothing(new: Statement, known: Statement) -> bool:
    """Whether all that a statement says is said by a known one."""
    if not new.terms or new.negated != known.negated or not new.telling <= known.terms:
        return False
    return len(new.terms & known.terms) >= SAME * len(new.terms) and not (new.terms - known.terms) & known.rejected


def says_same(one: Statement, other: Statement) -> bool:
    """Whether each adds nothing to the other."""
    return adds_nothing(one, other) and adds_nothing(other, one)


def contradicts(one: Statement, other: Statement) -> bool:
    """Whether two statements seem to say different things of the same: another value, or the opposite."""
    shared = one.terms & other.terms
    ours, theirs = one.terms - shared, other.terms - shared
    if _sets_right(one, theirs, shared) or _sets_right(other, ours, shared):
        return True
    if len(shared) < _LEAST_SHARED:
        return False
    if one.negated != other.negated:
        telling = (ours & one.telling) | (theirs & other.telling)
        return not telling and len(ours) + len(theirs) <= _MOST_OTHER
    return _gives_another_value(one, other)


def _sets_right(one: Statement, theirs: frozenset[str], shared: frozenset[str]) -> bool:
    """Whether a statement says that what another one says besides is not so."""
    return bool(shared and theirs) and theirs <= one.rejected


def _gives_another_value(one: Statement, other: Statement) -> bool:
    """Whether two statements are alike up to what stands at their end.

    There the value stands: "the port is 5432". What differs further to the front is another subject.
    """
    ours, theirs = one.words, other.words
    most = min(len(ours), len(theirs))
    start = _alike(ours, theirs, most)
    if start < _LEAST_SHARED:
        return False
    end = _alike(ours[::-1], theirs[::-1], most - start)
    values = (ours[start : len(ours) - end], theirs[start : len(theirs) - end])
    if any(not 0 < len(each) <= _MOST_REPLACED or _STATING.intersection(each) for each in values):
        return False
    before = len(_terms_of(ours[:start]) & one.terms)
    if before < _LEAST_SHARED or len(_terms_of(ours[len(ours) - end :]) & one.terms) > 1:
        return False
    first, second = map(_terms_of, values)
    if first & one.telling and second & other.telling:
        return _has_number(first) == _has_number(second)
    return before >= _PLAIN_VALUE and len(first) == len(second) == 1


def _terms_of(words: Iterable[str]) -> frozenset[str]:
    return frozenset(term for word in words for term in _terms_of_one(word))


@lru_cache(maxsize=1 << 16)
def _terms_of_one(word: str) -> tuple[str, ...]:
    return tuple(analyse(word))


def _alike(one: Sequence[str], other: Sequence[str], most: int) -> int:
    """Count the words that two texts begin with alike."""
    return next((place for place in range(most) if one[place] != other[place]), most)


def _has_number(terms: frozenset[str]) -> bool:
    """Whether any of some terms is a number: a value is replaced by one of its kind."""
    return any(any(map(str.isdigit, term)) for term in terms)
