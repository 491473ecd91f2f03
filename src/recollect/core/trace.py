"""What each stage of a recall did, and what can be read from that: `explain` and `why_not`."""

from collections.abc import Mapping, Sequence
from typing import Final, Literal

from recollect.core.hits import LegAnswer, Ref, Scored
from recollect.core.pack import LeftOutWhy
from recollect.core.spread import Way
from recollect.core.telling import describe_ways
from recollect.values import field, value

STAGES: Final = ("legs", "context", "fusion", "spread", "rerank", "prior", "links", "pack")
"""The path of a recall, in order; the names of the files, the metrics and the explanations."""


@value
class StageTrace:
    """The ranking as a stage left it. A stage that is `off` passed on what it was given."""

    name: str
    ranking: tuple[Scored, ...]
    milliseconds: float
    on: bool = True


@value
class Trace:
    answers: tuple[LegAnswer, ...] = ()
    stages: tuple[StageTrace, ...] = ()
    replaced: Mapping[Ref, Ref] = field(default_factory=dict)
    """Superseded memories, with the newest that takes their place."""
    attached: Mapping[Ref, Ref] = field(default_factory=dict)
    """Answers that came along, with the memory that they are attached to."""
    left_out: Mapping[Ref, LeftOutWhy] = field(default_factory=dict)
    ways: Mapping[Ref, tuple[Way, ...]] = field(default_factory=dict)
    """How score came to memories in `spread`."""


@value
class Step:
    """Where one memory stood after a leg or a stage."""

    stage: str
    rank: int | None
    score: float | None
    note: str = ""


@value
class WhyNot:
    """Which stage lost a memory, and in words; `found` means it was not lost at all."""

    stage: str
    reason: str
    rank: int | None = None
    found: bool = False


@value
class Standing:
    """What the store knows about a memory before any leg is asked, as far as the scope goes."""

    state: Literal["in scope", "forgotten", "not yet known", "other scope", "excluded"]
    detail: str = ""


def explain(trace: Trace, ref: Ref) -> tuple[Step, ...]:
    """Follow one memory through the legs and the stages."""
    steps = []
    for answer in trace.answers:
        rank, hit = next(((n, hit) for n, hit in enumerate(answer.hits, 1) if hit.ref == ref), (None, None))
        note = answer.failure or ("" if hit else "not found by this leg")
        steps.append(Step(answer.leg, rank, hit.score if hit else None, note))
    for stage in trace.stages:
        position = _position(stage.ranking, ref)
        note = "" if stage.on else "off"
        if stage.name == "spread" and stage.on:
            note = _describe_spread(trace, ref)
        steps.append(Step(stage.name, *position, note))
    return tuple(steps)


def ways_to(trace: Trace, ref: Ref) -> dict[Ref, tuple[Way, ...]]:
    """Give the ways by which score came to a memory, by the memory that each came from, the widest first."""
    sources: dict[Ref, list[Way]] = {}
    for way in trace.ways.get(ref, ()):
        # What flows out of a memory flows back to it in part, which is not worth a word.
        if way.source != ref:
            sources.setdefault(way.source, []).append(way)
    return {source: tuple(ways) for source, ways in sources.items()}


def is_hit(trace: Trace, ref: Ref) -> bool:
    """Whether a leg found a memory."""
    return any(hit.ref == ref for answer in trace.answers for hit in answer.hits)


def hands_on(trace: Trace, ref: Ref) -> bool:
    """Whether score flows from a memory: part of it then flows back."""
    return any(way.source == ref for way in trace.ways.get(ref, ()))


def why_not(trace: Trace, ref: Ref, standing: Standing, evidence: Mapping[str, str]) -> WhyNot:
    """Say what kept a memory out of an answer; `evidence` is what each leg knows about it, in words."""
    if standing.state != "in scope":
        return WhyNot("scope", standing.detail or standing.state)
    if (found := _found(trace, ref)) is not None:
        return found
    before = _last_rank(trace, ref)
    if (newer := trace.replaced.get(ref)) is not None:
        served = _position(trace.stages[-1].ranking, newer)[0] is not None
        return WhyNot(
            "links", f"It is outdated: {newer.id} supersedes it{', and is served in its place' * served}.", before
        )
    if (why := trace.left_out.get(ref)) is not None:
        return WhyNot("pack", f"It stood at rank {before}, {why}.", before)
    return _lost(trace, ref, evidence, before)


def _lost(trace: Trace, ref: Ref, evidence: Mapping[str, str], before: int | None) -> WhyNot:
    """Say why a memory did not come as far as the stages that choose among what was found."""
    ranks = {answer.leg: rank for answer in trace.answers for rank, hit in enumerate(answer.hits, 1) if hit.ref == ref}
    if ranks and before is not None:
        return WhyNot("spread", f"It stood at rank {before}, too far down once others had score from the best.", before)
    if ranks:
        where = ", ".join(f"{leg} at rank {rank}" for leg, rank in ranks.items())
        return WhyNot("fusion", f"It was found by {where}, too far down for all legs together to bring it on.")
    if came := _describe_sources(trace, ref):
        return WhyNot("spread", f"No leg found it. Score came {came}, too little to bring it on.")
    failures = [f"{answer.leg} was left out ({answer.failure})" for answer in trace.answers if answer.failure]
    known = [f"{leg}: {words}" for leg, words in evidence.items()]
    return WhyNot("legs", "No leg brought it. " + "; ".join((*known, *failures)) + ".")


def _found(trace: Trace, ref: Ref) -> WhyNot | None:
    """Tell whether a memory is in the answer after all, on its own or attached."""
    served = _position(trace.stages[-1].ranking, ref)[0]
    if served is not None:
        came = "" if is_hit(trace, ref) else _describe_sources(trace, ref)
        how = f" No leg found it: it came {came}." * bool(came)
        return WhyNot("pack", f"It was recalled, at rank {served}.{how}", served, found=True)
    if (symptom := trace.attached.get(ref)) is not None:
        return WhyNot("links", f"It was recalled, attached to {symptom.id} as its answer.", found=True)
    return None


def _describe_spread(trace: Trace, ref: Ref) -> str:
    """Say what `spread` did for a memory: nothing, hand its score on, or bring it some."""
    came = _describe_sources(trace, ref)
    parts = ["found by no leg"] * bool(came and not is_hit(trace, ref))
    parts += ["score flows from it"] * hands_on(trace, ref)
    parts += [f"came {came}"] * bool(came)
    return "; ".join(parts)


def _describe_sources(trace: Trace, ref: Ref) -> str:
    return ", ".join(f"by {describe_ways(ways)} from {source.id[-8:]}" for source, ways in ways_to(trace, ref).items())


def _position(ranking: Sequence[Scored], ref: Ref) -> tuple[int | None, float | None]:
    for rank, item in enumerate(ranking, 1):
        if item.ref == ref:
            return rank, item.score
    return None, None


def _last_rank(trace: Trace, ref: Ref) -> int | None:
    """Give its rank as it came to `pack`, or where it last had one."""
    ranks = [rank for stage in trace.stages[:-1] if (rank := _position(stage.ranking, ref)[0]) is not None]
    return ranks[-1] if ranks else None
