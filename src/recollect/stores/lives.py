"""What a memory's states call for in the words index: what `doctor` holds a store's entries against."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final

from recollect.core.analysis import weigh_terms
from recollect.core.memory import Memory
from recollect.core.moments import to_micros
from recollect.core.ports import Problem
from recollect.values import value

Terms = Mapping[str, float]
Posting = tuple[str, int, int | None, float, float]
"""Term, valid from, valid to, frequency, length."""

MEND: Final = "Run `recollect doctor --mend`: it builds the index and the counts anew from the rows."


@value
class Life:
    """One memory's states, and the index entries that they call for."""

    key: int
    states: tuple[Memory, ...]
    ends: tuple[int | None, ...]
    lengths: tuple[float, ...]
    postings: frozenset[Posting]
    indexed_at: int

    @property
    def is_live(self) -> bool:
        return self.states[-1].deleted_at is None

    @property
    def has_gap(self) -> bool:
        begins = [to_micros(state.updated_at) for state in self.states]
        versions = [state.version for state in self.states]
        return list(self.ends) != [*begins[1:], None] or versions != list(range(1, len(versions) + 1))


@value
class Noted:
    """What a store has noted of a space beside its rows: the live memories and their words, and its index entries."""

    space: str
    memories: int
    length: float
    entries: int


def length_of(terms: Terms) -> float:
    return sum(terms.values())


def trace_life(key: int, states: Sequence[Memory], ends: Sequence[int | None], language: str) -> Life:
    """Follow a memory's states: its entries run on until a state has other words, or none to find it by."""
    postings: set[Posting] = set()
    lengths: list[float] = []
    since, running = to_micros(states[0].updated_at), None
    for state, end in zip(states, ends, strict=True):
        terms = weigh_terms(state, language)
        lengths.append(length_of(terms))
        entries = terms if state.deleted_at is None else {}
        if entries != running:
            since, running = to_micros(state.updated_at), entries
        # The entry of an earlier state that runs on is replaced by a longer one.
        for term, tf in entries.items():
            postings.discard((term, since, to_micros(state.updated_at), tf, lengths[-1]))
            postings.add((term, since, end, tf, lengths[-1]))
    return Life(key, tuple(states), tuple(ends), tuple(lengths), frozenset(postings), since)


def check_lives(
    noted: Noted, lives: Iterable[tuple[Life, frozenset[Posting]]], restore: str, progress: Callable[[], None]
) -> Iterator[Problem]:
    """Hold a space's memories against the entries that each of them has, and all of them against what was noted."""
    live, length, entries = 0, 0.0, 0
    for life, indexed in lives:
        which = f"memory {life.states[-1].id} in {noted.space}"
        if life.has_gap:
            yield Problem(f"The past of {which} has a gap.", restore)
        if indexed != life.postings:
            yield Problem(f"The words of {which} are not indexed as they stand.", MEND)
        if life.is_live:
            live, length = live + 1, length + life.lengths[-1]
        entries += len(life.postings)
        progress()
    if live != noted.memories or abs(length - noted.length) > 0.01 * (1 + live):
        yield Problem(f"{noted.space} holds {live:,} memories of {length:,.0f} words; its counts differ.", MEND)
    if noted.entries != entries:
        found = f"{noted.entries:,} index entries"
        yield Problem(f"{noted.space} has {found} where its memories call for {entries:,}.", MEND)
