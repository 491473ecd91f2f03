"""What links do to a ranking: after `prior`, before `pack`.

- supersedes: the newest of a chain is served in place of the older ones, at the best place any of them had.
- resolved-by: the answer comes attached to the symptom, three at most, beyond the limit asked.
- part-of, see-also: one-line pointers.

A link to a memory that is gone, or that lies outside the scope, does nothing.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from recollect.core.hits import Ref, Scored
from recollect.core.memory import Link, LinkKind, Memory
from recollect.values import value

MOST_ANSWERS: Final = 3
_FROM_TARGET: Final[Mapping[LinkKind, str]] = {
    "supersedes": "superseded-by",
    "resolved-by": "resolves",
    "part-of": "has-part",
    "see-also": "see-also",
}


@value
class Pointer:
    """`how` reads from the memory it hangs on: part-of, has-part, see-also, resolved-by."""

    how: str
    ref: Ref


@value
class Served:
    """A memory on its way into the answer, with what its links bring along."""

    ref: Ref
    score: float
    instead_of: tuple[Ref, ...] = ()
    answers: tuple[Ref, ...] = ()
    pointers: tuple[Pointer, ...] = ()


def read_link(kind: LinkKind, *, outgoing: bool) -> str:
    """Say what a link means to the memory at one of its ends."""
    return kind if outgoing else _FROM_TARGET[kind]


def newest_of(links: Iterable[Link], present: Mapping[Ref, Memory]) -> dict[Ref, Ref]:
    """For each superseded memory, the newest one that takes its place.

    A chain runs on through a memory that is gone. Of several that supersede the same memory one that is there goes
    before one that is not, then the latest made wins. Memories that supersede each other in a circle say nothing
    about which is newest, so they all stay.
    """
    ordered = sorted(
        (link for link in links if link.kind == "supersedes"),
        key=lambda link: (Ref(link.space, link.source) in present, link.created_at, link.source),
    )
    above = {Ref(link.space, link.target): Ref(link.space, link.source) for link in ordered}
    newest: dict[Ref, Ref | None] = {}
    for old in above:
        path: dict[Ref, None] = {}
        here = old
        while here in above and here not in newest and here not in path:
            path[here] = None
            here = above[here]
        # Where the path met itself there is no newest. Else each takes what its successor takes, or that itself.
        circle = here in path
        for each in reversed(path):
            successor = above[each]
            newest[each] = None if circle else newest.get(successor) or (successor if successor in present else None)
    return {old: new for old, new in newest.items() if new is not None}


def apply_links(
    ranking: Sequence[Scored], links: Sequence[Link], present: Mapping[Ref, Memory], exclude: frozenset[str]
) -> tuple[Served, ...]:
    """Serve the ranking through its links; `present` holds every memory that may be shown or pointed to."""
    newest = newest_of(links, present)
    scores: dict[Ref, float] = {}
    replaced: dict[Ref, list[Ref]] = {}
    for item in ranking:
        serving = newest.get(item.ref, item.ref)
        if serving.id in exclude or serving not in present:
            continue
        scores.setdefault(serving, item.score)
        if serving != item.ref:
            replaced.setdefault(serving, []).append(item.ref)
    if not links:
        return tuple(Served(ref, score) for ref, score in scores.items())
    outgoing, incoming = _by_end(links, present)
    return tuple(
        Served(
            ref,
            score,
            tuple(replaced.get(ref, ())),
            _answers(ref, outgoing, newest, exclude),
            _pointers(ref, outgoing, incoming),
        )
        for ref, score in scores.items()
    )


_Ends = dict[tuple[Ref, LinkKind], list[Ref]]


def _by_end(links: Iterable[Link], present: Mapping[Ref, Memory]) -> tuple[_Ends, _Ends]:
    outgoing: _Ends = {}
    incoming: _Ends = {}
    for link in sorted(links, key=lambda link: (link.created_at, link.source, link.target)):
        source, target = Ref(link.space, link.source), Ref(link.space, link.target)
        if source in present and target in present:
            outgoing.setdefault((source, link.kind), []).append(target)
            incoming.setdefault((target, link.kind), []).append(source)
    return outgoing, incoming


def _answers(ref: Ref, outgoing: _Ends, newest: Mapping[Ref, Ref], exclude: frozenset[str]) -> tuple[Ref, ...]:
    current = dict.fromkeys(newest.get(answer, answer) for answer in outgoing.get((ref, "resolved-by"), ()))
    return tuple(answer for answer in current if answer.id not in exclude and answer != ref)[:MOST_ANSWERS]


def _pointers(ref: Ref, outgoing: _Ends, incoming: _Ends) -> tuple[Pointer, ...]:
    both_ways = [*outgoing.get((ref, "see-also"), ()), *incoming.get((ref, "see-also"), ())]
    return (
        *(Pointer("part-of", whole) for whole in outgoing.get((ref, "part-of"), ())),
        *(Pointer("has-part", part) for part in incoming.get((ref, "part-of"), ())),
        *(Pointer("see-also", other) for other in dict.fromkeys(both_ways)),
    )
