"""Two short texts compared: whether they say the same, and whether one seems to contradict the other. Pure.

Compared are analysed terms, and apart from them what makes another statement of the same words: numbers, names, and a
negation. "Deploys run on Tuesdays" and "on Thursdays" share all but one term, and are not the same.
"""

import re
from hashlib import blake2b
from typing import Final

from recollect.core.analysis import analyse
from recollect.values import value

SAME: Final = 0.8
"""The least part of a statement's terms that another must have to say it too."""
_LEAST_SHARED: Final = 2
_MOST_REPLACED: Final = 3
"""Terms in place of which a statement that contradicts another has other ones."""
_MOST_OTHER: Final = 1
"""Plain words by which two statements about the same may differ besides: more is another subject."""
_DIGEST_BYTES: Final = 16

_WORD: Final = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)?")
_NAMED: Final = re.compile(r"(?<![.!?:] )(?<!^)\b(?:[A-Z]\w+|\w+[_./-]\w[\w./-]*|\w*\d\w*|\w+[A-Z]\w*)")
_NEGATION: Final = re.compile(
    r"(?i)\b(?:not|no|never|none|nobody|nothing|without|cannot|neither|nor|no longer|stop|avoid|\w+n['\u2019]t)\b"
)
_CONTRASTED: Final = re.compile(r"(?i), (?:and |but )?(?:not|never)\b[^.;]*| (?:rather than|instead of)\b[^.;,]*")
"""What a statement sets itself against: it says what is not, and so is no part of what is."""


@value
class Statement:
    terms: frozenset[str]
    """What it says is so."""
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
    positive = _CONTRASTED.sub("", text)
    contrast = " ".join(each.group() for each in _CONTRASTED.finditer(text))
    terms = frozenset(analyse(positive))
    named = frozenset(term for name in _NAMED.findall(positive) for term in analyse(name))
    digits = frozenset(term for term in terms if any(map(str.isdigit, term)))
    return Statement(
        terms=terms,
        telling=(named & terms) | digits,
        negated=_NEGATION.search(positive) is not None,
        rejected=frozenset(analyse(contrast)) - terms,
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
    if len(shared) < _LEAST_SHARED or max(len(ours), len(theirs)) > _MOST_REPLACED:
        return False
    if len(ours - one.telling) + len(theirs - other.telling) > _MOST_OTHER:
        return False
    if one.negated != other.negated:
        return not (ours & one.telling or theirs & other.telling)
    values, others = ours & one.telling, theirs & other.telling
    return bool(values and others) and _has_number(values) == _has_number(others)


def _sets_right(one: Statement, theirs: frozenset[str], shared: frozenset[str]) -> bool:
    """Whether a statement says that what another one says besides is not so."""
    return bool(shared and theirs) and theirs <= one.rejected


def _has_number(terms: frozenset[str]) -> bool:
    """Whether any of some terms is a number: a value is replaced by one of its kind."""
    return any(any(map(str.isdigit, term)) for term in terms)
