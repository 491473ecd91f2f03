"""What a memory's states call for in the words index: what `doctor` holds a store's entries against."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from recollect.core.analysis import weigh_terms
from recollect.core.memory import Memory
from recollect.stores.moments import to_micros

Terms = Mapping[str, float]
Posting = tuple[str, int, int | None, float, float]
"""Term, valid from, valid to, frequency, length."""


@dataclass(frozen=True, slots=True)
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
