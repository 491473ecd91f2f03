"""Which concept a name stands for that is written a little otherwise than the concept's own. Pure.

Only for names that a model or an import brings: rules take names as they are written, and exact names and aliases are
found by the stores. Measured on the 16,245 names of musique_train100's triples, read by eye: of 49 pairs with the same
words 46 are surely the same thing. Where one word differs, of 50 pairs at a likeness of 0.8 and more 28 are (plurals;
the others are as Romania and Romanian, Albert and Alberta), of 50 between 0.7 and 0.8 only 14. So the same words are
taken for the same thing, and the next are worth a question to a model, if one may be asked.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable
from typing import Final

from recollect.core.concepts import Extraction, Mention, Relation, fold

SAME: Final = 1.0
"""The least likeness of names that are taken for the same: that of the same words."""
MAYBE: Final = 0.8
"""The least likeness of names that are worth a question."""
MOST_ALIKE: Final = 200
"""Names with one beginning that are compared: thousands may have it."""
_SHORTEST_BEGINNING: Final = 4
_SHORT: Final = 3

_ARTICLE: Final = re.compile(r"^(?:the|an?) (?=\S)")
_POSSESSIVE: Final = re.compile(r"'s(?!\w)")
# Marks that make another thing of what they stand at: 1.5 and 15, C and C++, 20 and 20 %.
_WORD: Final = re.compile(r"\d+(?:[.,:/-]\d+)+|[^\W_]+[+#]*|[%$€£&@]")
_ACCENT: Final = re.compile("[\u0300-\u036f]")
_ROMAN: Final = re.compile(r"[ivxlcdm]+")


def words_of(name: str) -> tuple[str, ...]:
    """Give a name's words, without articles, without marks and accents that make no other name of it."""
    bare = _POSSESSIVE.sub("", _ARTICLE.sub("", fold(name))).replace("'", "")
    plain = _ACCENT.sub("", unicodedata.normalize("NFD", bare))
    if any(unicodedata.category(each).startswith("M") for each in plain):
        # A script whose vowels are marks.
        return tuple(fold(name).split())
    return tuple(word for word in _WORD.findall(plain) if word != "the")


def likeness(name: str, other: str) -> float:
    """Say how alike two names are: 1 for the same words, 0 for those that differ by more than the form of one word."""
    words, others = words_of(name), words_of(other)
    if not words or len(words) != len(others):
        return 0.0
    differing = [(one, two) for one, two in zip(words, others, strict=True) if one != two]
    if not differing:
        return 1.0
    if len(differing) > 1 or any(map(_is_fixed, differing[0])):
        return 0.0
    ours, theirs = map(_trigrams, differing[0])
    return 2 * len(ours & theirs) / (len(ours) + len(theirs))


def nearest(name: str, names: Iterable[str]) -> tuple[float, str]:
    """Give the name that is most alike, and how much; the first in order of those that are as much."""
    alike = [(-likeness(name, other), other) for other in names]
    negative, other = min(alike, default=(0.0, ""))
    return -negative, other


def beginnings(name: str) -> tuple[str, ...]:
    """Give how names begin, folded, that may be like this one: a store finds those by its index."""
    bare = _ARTICLE.sub("", fold(name))
    beginning = bare[: max(_SHORTEST_BEGINNING, len(bare) // 2)]
    return beginning, f"the {beginning}"


def rename(read: Extraction, resolve: Callable[[str], str]) -> Extraction:
    """Give what was read with every name as the concept's that it stands for."""
    mentions = (Mention(resolve(each.name), each.kind) for each in read.mentions)
    relations = (Relation(resolve(each.subject), each.relation, resolve(each.object)) for each in read.relations)
    return Extraction(tuple(dict.fromkeys(mentions)), tuple(dict.fromkeys(relations)))


def _is_fixed(word: str) -> bool:
    """Whether a word says another thing with any other letter: numbers, Roman ones too, initials, short words."""
    return len(word) <= _SHORT or any(map(str.isdigit, word)) or _ROMAN.fullmatch(word) is not None


def _trigrams(word: str) -> set[str]:
    padded = f"  {word} "
    return {padded[place : place + 3] for place in range(len(padded) - 2)}
