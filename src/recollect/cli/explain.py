"""Why an answer is as it is: for each result its way through the legs and the stages, for all the time it took."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from rich.text import Text

from recollect.cli.paper import DIM, Paper, label, plain
from recollect.cli.show import line, short
from recollect.cli.weigh import Weighed
from recollect.core.hits import Ref
from recollect.core.telling import describe_ways
from recollect.core.trace import Step, explain, hands_on, is_hit
from recollect.service.recall import Recall, Recalled
from recollect.service.ways import Came

_NONE: Final = "-"
_LEGS: Final = "legs"
"""A stage without a ranking: each leg speaks for itself."""

Row = tuple[Text, Text, Text, Text]


def show_explanation(
    paper: Paper, answer: Recall, result: Recalled, weighed: Mapping[Ref, Weighed], indent: int
) -> None:
    """Write a table of the legs and stages that a result went through."""
    head = (Text(""), Text("rank", DIM), Text("score", DIM), Text(""))
    rows = _Rows(answer, (Ref(result.memory.space, result.memory.id), *result.instead_of), weighed)
    paper.columns([head, *rows.of_legs(), *rows.of_stages()], indent=indent, right={1, 2})


def show_stages(paper: Paper, answer: Recall) -> None:
    """Write which stages did nothing, and how long the others took."""
    paper.write()
    off = [stage.name for stage in answer.trace.stages if not stage.on]
    if off:
        paper.write(Text(f"{', '.join(off)}: off", DIM))
    spent = [f"{stage.name} {stage.milliseconds:.1f}" for stage in answer.trace.stages if stage.on]
    total = sum(stage.milliseconds for stage in answer.trace.stages)
    paper.write(Text(f"{total:.1f} ms: {', '.join(spent)}; {answer.tokens:,} tokens", DIM))


class _Rows:
    """The rows about one result, and about what it is served in place of."""

    def __init__(self, answer: Recall, refs: Sequence[Ref], weighed: Mapping[Ref, Weighed]) -> None:
        self._own = refs[0]
        self._steps = {ref: explain(answer.trace, ref) for ref in refs}
        self._weighed = weighed
        self._trace = answer.trace
        self._by_time = answer.query.sort == "recency"
        self._found = any(is_hit(answer.trace, ref) for ref in refs)
        self._legs = {each.leg for each in answer.trace.answers}

    def of_legs(self) -> Iterator[Row]:
        """Give a row for each leg and each memory it found; what is served for an older one was found through it."""
        if not self._found:
            yield _row(Step(_LEGS, None, None), Text("found by no leg"))
            return
        for leg in sorted(self._legs):
            steps = {ref: step for ref, steps in self._steps.items() for step in steps if step.stage == leg}
            found = {ref: step for ref, step in steps.items() if step.rank is not None}
            for ref, step in (found or {self._own: steps[self._own]}).items():
                evidence = self._weighed[ref].evidence.get(leg)
                words = " + ".join(f"{term} {adds:.2f}" for term, adds in evidence.parts) if evidence else ""
                if step.rank is None:
                    words = step.note
                through = Text("" if ref == self._own else f"  through {short(ref)}", DIM)
                yield _row(step, plain(words).append_text(through))

    def of_stages(self) -> Iterator[Row]:
        own = self._steps[self._own]
        # What no leg found stood nowhere before score came to it.
        left_out = {*self._legs, _LEGS, *(() if self._found else ("fusion",))}
        for place, step in enumerate(own):
            if step.stage in left_out or step.note == "off":
                continue
            # Before `links`, what is served may not have been there itself, but what it replaces was.
            at = {ref: steps[place] for ref, steps in self._steps.items()}
            ref = min(at, key=lambda each: (at[each].rank is None, at[each].rank))
            words = self._words(step.stage, ref)
            words += [Text(f"through {short(ref)}", DIM)] * (ref != self._own)
            yield _row(at[ref], Text("\n").join(words))

    def _words(self, stage: str, ref: Ref) -> list[Text]:
        if stage == "prior" and self._by_time:
            return [Text("by time alone", DIM)]
        if stage != "spread":
            return []
        words = [Text("score flows from it", DIM)] if hands_on(self._trace, ref) else []
        return [*words, *(_came(each) for each in self._weighed[ref].came)]


def _came(came: Came) -> Text:
    """Say what score came by, and from where."""
    return Text.assemble(("by ", DIM), label(describe_ways(came.ways)), (" from ", DIM), line(came.source))


def _row(step: Step, words: Text) -> Row:
    rank = _NONE if step.rank is None else f"{step.rank}"
    score = _NONE if step.score is None else f"{step.score:.3f}"
    return Text(step.stage, DIM), Text(rank), Text(score), words
