"""What is measured on: documents to keep, questions to ask, and what is relevant to them.

A public set is one source; a user's own store can become another. Nothing else of the harness knows files.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Literal, Protocol

from recollect.core.concepts import Relation

Split = Literal["tune", "test", "all"]
SPLITS: Final[tuple[Split, ...]] = ("test", "tune", "all")
_TUNED: Final = 5
"""Of sixteen: about 31 % of the questions are for tuning."""


@dataclass(frozen=True, slots=True)
class Document:
    """A memory to be, in the one space it is kept in. The same text may be kept in several spaces."""

    id: str
    text: str
    space: str
    index: int
    """Where it stands in its source."""
    session: str | None = None
    seq: int | None = None
    time: datetime | None = None
    superseded_by: str | None = None


@dataclass(frozen=True, slots=True)
class Question:
    id: str
    text: str
    space: str
    stratum: str
    relevant: Mapping[str, int]
    """Document ids with their grades, all above 0."""
    stale: frozenset[str] = frozenset()
    """Outdated documents: they must rank below what is relevant."""
    before: int | None = None
    """Only documents whose `seq` is lower exist yet."""
    hops: int = 1
    time: datetime | None = None

    @property
    def split(self) -> Split:
        return split_of(self.id)


class Source(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def corpus(self) -> "Source":
        """Whose documents it asks about: its own, or those of another source."""

    def fingerprint(self) -> str:
        """Tell apart any two states of what it reads."""

    def documents(self) -> Iterator[Document]:
        """Give every document once for each space it is kept in, without holding them all."""

    def questions(self) -> Sequence[Question]: ...

    def triples(self) -> Iterator[tuple[str, Relation]]:
        """Give what a language model read in documents, if the source brings that along: document and relation."""


@dataclass(frozen=True, slots=True)
class Part:
    """A source's questions of one split."""

    source: Source
    split: Split
    questions: tuple[Question, ...] = field(repr=False)


def split_of(question: str) -> Split:
    """Say which half a question is in: by its id alone, so that it never moves."""
    return "tune" if int(hashlib.sha256(question.encode()).hexdigest()[0], 16) < _TUNED else "test"


def take_part(source: Source, split: Split) -> Part:
    questions = tuple(each for each in source.questions() if split in {each.split, "all"})
    return Part(source, split, questions)
