"""A set without its capitals, as notes in a hurry are: how much of what names are good for is left."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from recollect.bench.sources import Document, Question, Source
from recollect.core.concepts import Relation

LOWERED: Final = "_lower"
"""How the name of such a set ends."""


@dataclass(frozen=True, slots=True)
class Lowered:
    inside: Source

    @property
    def name(self) -> str:
        return f"{self.inside.name}{LOWERED}"

    @property
    def corpus(self) -> Source:
        return self

    def fingerprint(self) -> str:
        return f"{self.inside.fingerprint()}{LOWERED}"

    def documents(self) -> Iterator[Document]:
        return (replace(each, text=each.text.lower()) for each in self.inside.documents())

    def questions(self) -> Sequence[Question]:
        return [replace(each, text=each.text.lower()) for each in self.inside.questions()]

    def triples(self) -> Iterator[tuple[str, Relation]]:
        return self.inside.triples()
