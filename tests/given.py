"""A source for the harness that is all in memory, and a model that embeds it in no time."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Literal

from recollect.bench.sources import Document, Question, Source
from recollect.core.concepts import Relation
from recollect.core.vectors import Vector

DOCUMENTS = (
    Document("d/0", "The old harbour is closed.", "one", 0, session="s", seq=0),
    Document("d/1", "Anna keeps the boat keys.", "one", 1, session="s", seq=1),
    Document("d/2", "The boat was painted blue in May.", "one", 2, session="s", seq=2),
    Document("d/3", "Tea is at five.", "two", 3, time=datetime(2026, 3, 1, tzinfo=UTC), superseded_by="d/4"),
    Document("d/4", "Tea is at six now.", "two", 4, time=datetime(2026, 3, 2, tzinfo=UTC)),
)
QUESTIONS = (
    Question("q/keys", "who has the boat keys", "one", "who", {"d/1": 1}),
    Question("q/blue", "what was painted blue", "one", "what", {"d/2": 1}),
    Question("q/early", "the boat", "one", "what", {"d/1": 1}, before=2),
    Question("q/tea", "when is tea", "two", "when", {"d/4": 1}, stale=frozenset({"d/3"})),
)


@dataclass(frozen=True)
class Given:
    """A source that is all in memory."""

    name: str = "given"
    kept: tuple[Document, ...] = DOCUMENTS
    asked: tuple[Question, ...] = QUESTIONS
    state: str = "1"

    @property
    def corpus(self) -> Source:
        return self

    def fingerprint(self) -> str:
        return self.state

    def documents(self) -> Iterator[Document]:
        return iter(self.kept)

    def questions(self) -> Sequence[Question]:
        return self.asked

    def triples(self) -> Iterator[tuple[str, Relation]]:
        return iter(())


@dataclass
class Letters:
    """Embeds a text by how often it has each letter; enough to have vectors that differ."""

    model: str = "letters"
    where: Literal["local", "remote"] = "local"
    dimension: int | None = 26
    asked: list[str] = field(default_factory=list)

    def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
        self.asked += texts
        return [[1.0 + text.lower().count(chr(97 + place)) for place in range(26)] for text in texts]

    def embed_query(self, text: str, seconds: float) -> Vector:
        assert seconds > 0
        return self.embed_documents([text])[0]
