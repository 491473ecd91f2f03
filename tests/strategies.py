"""What Hypothesis makes memories, histories and deeds of."""

from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, get_args

from hypothesis import strategies as st

from making import StandingClock
from recollect.core.errors import RecollectError
from recollect.core.memory import LABEL_LIMIT, LINK_KINDS, Action, Memory, make_id
from recollect.service.recall import Recall
from recollect.service.recollect import Recollect

WORDS: Final = ("kiwi", "melon", "figs", "plum_pie", "getLemon", "mango-1.2", "the", "to be or not", "水果")
CATEGORIES: Final = ("facts", "people", "own")
"""The last is a stop word: a memory of it and of nothing else has no terms at all."""
QUERIES: Final = ("kiwi figs", "plum_pie lemon mango-1.2 水果", "to be or not", "facts own melon")

any_text = st.text(st.characters(exclude_categories=()))
"""Text of any characters at all, halves of surrogate pairs and null included."""

labels = st.text(max_size=LABEL_LIMIT, min_size=1).filter(lambda text: text.strip() and "\0" not in text)
moments = st.datetimes(min_value=datetime(1, 1, 2), max_value=datetime(9999, 12, 30), timezones=st.just(UTC))  # noqa: DTZ001
ids = st.builds(make_id, st.integers(0, (1 << 48) - 1), st.integers(0, (1 << 74) - 1))
actions: st.SearchStrategy[Action] = st.sampled_from(get_args(Action))

memories = st.builds(
    Memory,
    id=ids,
    space=labels,
    content=st.text(min_size=1, max_size=300).filter(lambda text: text.strip() and "\0" not in text),
    created_at=moments,
    updated_at=moments,
    category=labels,
    tags=st.lists(labels, max_size=4).map(tuple),
    keywords=st.lists(labels, max_size=4).map(tuple),
    importance=st.floats(0, 1),
    project=st.none() | labels,
    session=st.none() | labels,
    place=st.none() | st.integers(0, (1 << 31) - 1),
    sensitive=st.booleans(),
    version=st.integers(1, 1 << 40),
    action=actions,
    deleted_at=st.none() | moments,
)


@dataclass(frozen=True)
class Deed:
    """One thing done to a store: to the memories that numbers choose among those there are."""

    what: str
    which: int = 0
    other: int = 0
    words: tuple[str, ...] = ()
    importance: float = 0.5
    label: str | None = None
    flag: bool = False

    def do(self, memory: Recollect, ids_so_far: list[str]) -> None:
        """Do it; what cannot be done, as editing what is forgotten, is refused and so left undone."""
        if not ids_so_far or self.what == "remember":
            kept = memory.remember(
                " ".join(self.words),
                category=self.label or "facts",
                tags=self.words[:1] if self.flag else (),
                importance=self.importance,
                sensitive=self.flag,
                session=f"s{self.which % 2}",
                place=self.other,
            )
            ids_so_far.append(kept.id)
            return
        one, other = (ids_so_far[n % len(ids_so_far)] for n in (self.which, self.other))
        with suppress(RecollectError):
            self._do_to(memory, one, other)

    def _do_to(self, memory: Recollect, one: str, other: str) -> None:
        if self.what == "edit":
            memory.edit(one, content=" ".join(self.words))
        elif self.what == "weigh":
            memory.edit(one, importance=self.importance, sensitive=self.flag)
        elif self.what == "forget":
            memory.forget(one)
        elif self.what == "undo" and self.flag:
            memory.undo(one)
        elif self.what == "undo":
            memory.undo_last()
        elif self.what == "unlink":
            memory.unlink(one, self.label or "supersedes", other)
        else:
            memory.link(one, self.what, other)


_words = st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(tuple)
_numbers = st.integers(0, 7)
deeds = st.one_of(
    st.builds(
        Deed,
        st.just("remember"),
        _numbers,
        _numbers,
        words=_words,
        importance=st.sampled_from((0.0, 0.5, 1.0)),
        label=st.sampled_from(CATEGORIES),
        flag=st.booleans(),
    ),
    st.builds(Deed, st.just("edit"), _numbers, words=_words),
    st.builds(
        Deed, st.just("weigh"), _numbers, words=_words, importance=st.sampled_from((0.1, 0.9)), flag=st.booleans()
    ),
    st.builds(Deed, st.sampled_from(("forget", "undo")), _numbers, words=st.just(("kiwi",)), flag=st.booleans()),
    st.builds(Deed, st.sampled_from(LINK_KINDS), _numbers, _numbers, words=st.just(("melon",))),
    st.builds(Deed, st.just("unlink"), _numbers, _numbers, words=st.just(("figs",)), label=st.sampled_from(LINK_KINDS)),
)
lives = st.lists(deeds, min_size=1, max_size=12)
"""What happens to a store over time."""


def live(memory: Recollect, clock: StandingClock, life: list[Deed]) -> list[datetime]:
    """Do one deed a second, and give the moments after each."""
    so_far = [ref.id for ref in memory.store.memories.walk()]
    moments_after = []
    for deed in life:
        moments_after.append(clock.move())
        deed.do(memory, so_far)
    return moments_after


def shown(answer: Recall) -> list[tuple[object, ...]]:
    """Give all of an answer that a person sees: ids, texts, scores, what came along, and what was left out."""
    return [
        *((found.memory, found.score, found.instead_of, found.answers, found.pointers) for found in answer.results),
        (answer.notices, dict(answer.left_out), answer.tokens),
    ]


def recalls(memory: Recollect, as_of: datetime | None = None) -> list[list[tuple[object, ...]]]:
    """Ask all the questions there are, as things are or were."""
    return [
        *(shown(memory.recall(query, as_of=as_of)) for query in QUERIES),
        shown(memory.recall("kiwi melon", as_of=as_of, sessions=["s1"], before=5, sort="importance")),
    ]
