"""The last step: what is under the floor goes, the rest is fitted into the limit and the budget, whole.

A memory is never cut. What does not fit is passed over for a smaller one behind it, and said to be left out.
"""

from collections.abc import Mapping, Sequence
from typing import Final, Literal

from recollect.core.hits import LegAnswer, Ref
from recollect.core.links import Pointer, Served
from recollect.core.memory import Memory
from recollect.values import replace, value

CHARACTERS_PER_TOKEN: Final = 4
"""A rule of thumb for English prose; no tokenizer is worth its weight here."""

LeftOutWhy = Literal["under the floor", "over the limit", "over the budget"]


@value
class Packed:
    served: tuple[Served, ...]
    """In their order, each with the answers that come along. Nothing is given twice: an answer that stands further
    up, or does not fit, is pointed to."""
    left_out: Mapping[Ref, LeftOutWhy]
    tokens: int


def count_tokens(text: str) -> int:
    return -(-len(text) // CHARACTERS_PER_TOKEN)


def pack(
    ranking: Sequence[Served],
    memories: Mapping[Ref, Memory],
    answers: Sequence[LegAnswer],
    *,
    floors: Mapping[str, float],
    limit: int,
    budget: int | None,
) -> Packed:
    floors = {leg: floor for leg, floor in floors.items() if floor}
    evidence = _evidence(answers) if floors else {}
    served: list[Served] = []
    left_out: dict[Ref, LeftOutWhy] = {}
    given: set[Ref] = set()
    tokens = 0
    for item in ranking:
        if item.ref in given:
            continue
        if not _stands(item, evidence, floors):
            left_out[item.ref] = "under the floor"
            continue
        if len(served) == limit:
            left_out[item.ref] = "over the limit"
            continue
        room = None if budget is None else budget - tokens
        answers_now = _attach(item, memories, given, room)
        cost = sum(count_tokens(memories[ref].content) for ref in (item.ref, *answers_now))
        if room is not None and cost > room:
            left_out[item.ref] = "over the budget"
        else:
            elsewhere = (Pointer("resolved-by", ref) for ref in item.answers if ref not in answers_now)
            served.append(replace(item, answers=answers_now, pointers=(*elsewhere, *item.pointers)))
            given.update((item.ref, *answers_now))
            tokens += cost
    return Packed(tuple(served), left_out, tokens)


def _attach(item: Served, memories: Mapping[Ref, Memory], given: set[Ref], room: int | None) -> tuple[Ref, ...]:
    """Choose the answers that come along: those not given yet, while memory and answers fit the room."""
    attached: list[Ref] = []
    used = count_tokens(memories[item.ref].content)
    for answer in item.answers:
        cost = count_tokens(memories[answer].content)
        if answer not in given and (room is None or used + cost <= room):
            attached.append(answer)
            used += cost
    return tuple(attached)


def _evidence(answers: Sequence[LegAnswer]) -> dict[Ref, dict[str, float]]:
    evidence: dict[Ref, dict[str, float]] = {}
    for answer in answers:
        for hit in answer.hits:
            evidence.setdefault(hit.ref, {})[answer.leg] = hit.evidence
    return evidence


def _stands(item: Served, evidence: Mapping[Ref, Mapping[str, float]], floors: Mapping[str, float]) -> bool:
    """Whether a leg that has a floor has that much evidence, for it or for the older memory that it stands for."""
    if not floors:
        return True
    found = [evidence.get(ref, {}) for ref in (item.ref, *item.instead_of)]
    return any(legs.get(leg, 0.0) >= floor for legs in found for leg, floor in floors.items())
