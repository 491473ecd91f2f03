"""Why an answer is as it is: for each result its way through the legs and the stages, for all the time it took."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from rich.text import Text

from recollect.cli.paper import DIM, Paper, plain
from recollect.cli.show import short
from recollect.core.hits import Ref
from recollect.core.ports import Evidence
from recollect.core.query import Sort
from recollect.core.trace import Step, explain
from recollect.service.recall import Recall, Recalled
from recollect.service.recollect import Recollect

_NONE: Final = "-"
_TIMES: Final = "\N{MULTIPLICATION SIGN}"
_LEGS: Final = "legs"
"""A stage without a ranking: each leg speaks for itself."""

Row = tuple[Text, Text, Text, Text]


def weigh(memory: Recollect, answer: Recall) -> dict[Ref, dict[str, Evidence]]:
    """Ask the legs about every result, and about what it is served in place of."""
    weighed = {}
    for result in answer.results:
        weighed[Ref(result.memory.space, result.memory.id)] = memory.evidence(answer, result.memory)
        for old in result.instead_of:
            weighed[old] = memory.evidence(answer, memory.get(old.id, answer.query.scope.as_of))
    return weighed


def show_explanation(
    paper: Paper, answer: Recall, result: Recalled, weighed: Mapping[Ref, Mapping[str, Evidence]], indent: int
) -> None:
    """Write a table of the legs and stages that a result went through."""
    head = (Text(""), Text("rank", DIM), Text("score", DIM), Text(""))
    refs = (Ref(result.memory.space, result.memory.id), *result.instead_of)
    ways = {ref: explain(answer.trace, ref) for ref in refs}
    legs = {each.leg for each in answer.trace.answers}
    rows = [head, *_leg_rows(ways, weighed, legs), *_stage_rows(ways, legs, answer.query.sort)]
    paper.columns(rows, indent=indent, right={1, 2})


def show_stages(paper: Paper, answer: Recall) -> None:
    """Write which stages did nothing, and how long the others took."""
    paper.write()
    off = [stage.name for stage in answer.trace.stages if not stage.on]
    if off:
        paper.write(Text(f"{', '.join(off)}: off", DIM))
    spent = [f"{stage.name} {stage.milliseconds:.1f}" for stage in answer.trace.stages if stage.on]
    total = sum(stage.milliseconds for stage in answer.trace.stages)
    paper.write(Text(f"{total:.1f} ms: {', '.join(spent)}; {answer.tokens:,} tokens", DIM))


def _leg_rows(
    ways: Mapping[Ref, Sequence[Step]], weighed: Mapping[Ref, Mapping[str, Evidence]], legs: set[str]
) -> Iterator[Row]:
    """Give a row for each leg and each memory it found; what is served for an older one was found through it."""
    own = next(iter(ways))
    for leg in sorted(legs):
        steps = {ref: step for ref, way in ways.items() for step in way if step.stage == leg}
        found = {ref: step for ref, step in steps.items() if step.rank is not None} or {own: steps[own]}
        for ref, step in found.items():
            evidence = weighed.get(ref, {}).get(leg)
            words = " + ".join(f"{term} {adds:.2f}" for term, adds in evidence.parts) if evidence else ""
            if step.rank is None:
                words = step.note
            through = Text("" if ref == own else f"  through {short(ref)}", DIM)
            yield _row(step, plain(words).append_text(through))


def _stage_rows(ways: Mapping[Ref, Sequence[Step]], legs: set[str], sort: Sort) -> Iterator[Row]:
    own = next(iter(ways))
    for place, step in enumerate(ways[own]):
        if step.stage in {*legs, _LEGS} or step.note == "off":
            continue
        # Before `links`, what is served may not have been there itself, but what it replaces was.
        ref = min(ways, key=lambda each: (ways[each][place].rank is None, ways[each][place].rank))
        by_time = step.stage == "prior" and sort == "recency"
        words = ["by time alone"] * by_time + [f"through {short(ref)}"] * (ref != own)
        yield _row(ways[ref][place], Text("  ".join(words), DIM))


def _row(step: Step, words: Text) -> Row:
    rank = _NONE if step.rank is None else f"{step.rank}"
    score = _NONE if step.score is None else f"{step.score:.3f}"
    return Text(step.stage, DIM), Text(rank), Text(score), words
