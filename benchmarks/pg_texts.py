"""Memories for any number of spaces: the texts of the public sets go in, what somebody might have kept comes out.

A space is made of runs of consecutive texts, as conversations are, from random places of the sets; where a text comes
again it ends in other words, so that no two spaces have the same texts. The same seed gives the same memories, and a
space does not depend on those before it.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final, NamedTuple

from recollect.bench.datasets import Dataset
from recollect.core.memory import CATEGORIES, DEFAULT_LENGTH_LIMIT, Memory, make_id

SETS: Final = ("locomo", "realmem", "factconsolidation", "beam_100k", "2wiki1000", "musique_dev200", "fiqa_gold")
ASKED: Final = ("locomo", "realmem", "beam_100k", "2wiki1000", "musique_dev200", "fiqa_gold")
BEGINNING: Final = datetime(2026, 1, 1, tzinfo=UTC)
_RUN: Final = 40
_TAIL: Final = 3
_LONGEST: Final = DEFAULT_LENGTH_LIMIT - 100
"""Of a text: there must be room for its tail."""
_PROJECTS: Final = 5


class Text(NamedTuple):
    content: str
    session: str | None
    place: int | None


@dataclass(frozen=True, slots=True)
class Pool:
    texts: Sequence[Text]
    words: Sequence[str]
    """As often as they are used, so that drawing from them keeps common words common."""
    questions: Sequence[str]

    @classmethod
    def read(cls, folder: Path, sets: Sequence[str] = SETS) -> "Pool":
        texts = [
            Text(document.text, document.session, document.seq)
            for name in sets
            for document in Dataset(folder / name).documents()
            if len(document.text) <= _LONGEST
        ]
        asked = [name for name in sets if name in ASKED]
        questions = [question.text for name in asked for question in Dataset(folder / name).questions()]
        words = [word for text in texts[:: len(texts) // 5000 + 1] for word in text.content.split() if word.isalpha()]
        random.Random(0).shuffle(questions)
        return cls(texts, words, questions)

    def memories(self, space: str, count: int, seed: int) -> Iterator[Memory]:
        source = random.Random(f"{seed} {space}")
        moment = BEGINNING
        for run, start in enumerate(self._starts(source, count)):
            project = source.choice([None, *(f"project-{number}" for number in range(_PROJECTS))])
            for text in self._run(start, min(_RUN, count - run * _RUN)):
                moment += timedelta(seconds=source.randrange(1, 600))
                tail = " ".join(source.choices(self.words, k=_TAIL))
                yield Memory(
                    make_id(int(moment.timestamp() * 1000), source.getrandbits(74)),
                    space,
                    f"{text.content}\n{tail}",
                    moment,
                    moment,
                    category=source.choice(CATEGORIES),
                    importance=source.randrange(1, 10) / 10,
                    project=project,
                    # A run may come twice.
                    session=None if text.session is None else f"{run} {text.session}",
                    place=text.place,
                )

    def _starts(self, source: random.Random, count: int) -> list[int]:
        return [source.randrange(len(self.texts)) for _ in range(-(-count // _RUN))]

    def _run(self, start: int, length: int) -> Iterator[Text]:
        for number in range(start, start + length):
            yield self.texts[number % len(self.texts)]
