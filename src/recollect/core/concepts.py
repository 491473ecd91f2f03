"""What a memory is about, read from its text by rules: the names in it, its heading, its identifiers, tags, keywords.

No model and no list of names: what is written with a capital, or in a text without any capital two words in a row, is
taken for a name. Most of these are none. Which of them tell anything shows only in the whole space, so every mention
is kept, and how many memories share a name is asked when it is used (`spread`).
"""

import re
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import pairwise
from typing import Final, Literal

from recollect.core.analysis import analyse_query
from recollect.core.memory import LABEL_LIMIT, Memory
from recollect.core.stopwords import STOP_WORDS
from recollect.values import value

VERSION: Final = 1
"""Raised whenever the same text would give other concepts: a store then reads its memories anew."""
RULES: Final = f"rules {VERSION}"
"""What the extractor is called that reads by these rules."""

MentionKind = Literal["name", "identifier", "tag", "keyword"]

LONGEST_HEADING: Final = 8
"""Words up to which a first line that stands alone is a heading."""
_JOINING: Final = 2
"""Small words that may stand inside a name: University of the West."""

_WORD: Final = r"[^\W_]+(?:[-'\u2019.&][^\W_]+)*"
_TOKEN: Final = re.compile(rf"{_WORD}|\S|\n")
_JOINS: Final = frozenset(
    ("of", "the", "de", "la", "von", "van", "and", "for", "in", "del", "der", "du", "le", "al", "bin", "di", "da")
)
_POSSESSIVE: Final = r"['\u2019]s$"
_BRACKETED: Final = r"\s*\([^)]*\)\s*$"
_COMMON: Final = STOP_WORDS["english"]
# A question that names nothing pays for none of those.
_compiled = cache(re.compile)


@value
class Mention:
    """A concept that a memory mentions, as it is written there."""

    name: str
    kind: MentionKind = "name"


@value
class Relation:
    """What a memory says of two concepts."""

    subject: str
    relation: str
    object: str


@value
class Extraction:
    """What was read from one memory."""

    mentions: tuple[Mention, ...] = ()
    relations: tuple[Relation, ...] = ()


@value
class Unread:
    """Why nothing was read from one memory."""

    reason: str


def fold(name: str) -> str:
    """Give what names of the same concept have in common: case, apostrophes and blanks make no difference."""
    return one_line(name.casefold().replace("\u2019", "'"))


def one_line(name: str) -> str:
    """Give a name as it is kept: without line breaks, and with one blank between two words."""
    return " ".join(name.split())


def fold_all(names: Iterable[str]) -> list[str]:
    """Fold names, each once, in order."""
    return sorted({fold(name) for name in names})


def read_concepts(memory: Memory) -> Extraction:
    """Read what a memory mentions, each concept once, in the order in which it is written."""
    found: dict[str, Mention] = {}
    for mention in _mentions(memory):
        folded = fold(mention.name)
        if 1 < len(folded) <= LABEL_LIMIT:
            found.setdefault(folded, mention)
    return Extraction(tuple(found.values()))


def names_in(text: str) -> list[str]:
    """Give the names that a question, or a text without its heading, mentions."""
    return list(_pairs(text) if text == text.lower() else _spans(text))


def _mentions(memory: Memory) -> Iterator[Mention]:
    for tag in memory.tags:
        yield Mention(tag, "tag")
    for keyword in memory.keywords:
        yield Mention(keyword, "keyword")
    if heading := _heading(memory.content):
        yield Mention(heading)
    for name in names_in(memory.content):
        yield Mention(name)
    for identifier in sorted(analyse_query(memory.content).identifiers):
        yield Mention(identifier, "identifier")


def _heading(content: str) -> str | None:
    """Give a first line that is short and stands above others; what it adds in brackets tells namesakes apart."""
    first, _, rest = content.partition("\n")
    if not rest.strip() or len(first.split()) > LONGEST_HEADING:
        return None
    return _compiled(_BRACKETED).sub("", first).strip()


def _spans(text: str) -> Iterator[str]:
    """Give the runs of words with a capital, small words inside them included."""
    run: list[str] = []
    joining: list[str] = []
    for token in _tokens(text):
        word = _compiled(_POSSESSIVE).sub("", token)
        if token[0].isupper() or (run and token[0].isdigit()):
            run += [*joining, word]
            joining = []
            if word == token:
                continue
        elif run and token in _JOINS and len(joining) < _JOINING:
            joining.append(token)
            continue
        yield from _name(run)
        run, joining = [], []
    yield from _name(run)


def _name(run: list[str]) -> Iterator[str]:
    """Give a run without the common words that a sentence begins with."""
    start = next((place for place, word in enumerate(run) if word.lower() not in _COMMON), len(run))
    if run[start:]:
        yield " ".join(run[start:])


def _pairs(text: str) -> Iterator[str]:
    """Give every two words in a row that are not common: what may be a name in a text without capitals."""
    for one, other in pairwise(_tokens(text)):
        if one[0].isalnum() and other[0].isalnum() and not {one, other} & _COMMON:
            yield f"{one} {_compiled(_POSSESSIVE).sub('', other)}"


def _tokens(text: str) -> Iterable[str]:
    return (match.group() for match in _TOKEN.finditer(text))
