"""Whether one run may take the place of another: the rule by which a feature is admitted or refused."""

from collections.abc import Sequence
from dataclasses import dataclass

from recollect.bench.compare import Comparison
from recollect.bench.errors import BenchError
from recollect.bench.significance import Interval


@dataclass(frozen=True, slots=True)
class Verdict:
    passed: bool
    reasons: tuple[str, ...]


def judge(comparison: Comparison, measures: Sequence[str], *, not_worse: bool = False) -> Verdict:
    """Admit A over B.

    A must be better: the mean difference over the sets clear of zero, and no set clearly worse, in each measure. Under
    `not_worse` it is enough that nothing, mean or set, is clearly worse.
    """
    if comparison.missing:
        raise BenchError(
            f"{comparison.a.name} has no results for {', '.join(comparison.missing)}, where it could be worse: "
            "run those sets too."
        )
    reasons: list[str] = []
    for measure in measures:
        if measure not in comparison.differences:
            raise BenchError(f"No set of these runs has the measure {measure}.")
        summary = comparison.differences[measure]
        mean = summary.mean[0]
        if mean.below_zero:
            reasons.append(f"{measure} is worse in the mean over the sets: {say(mean)}")
        elif not (mean.above_zero or not_worse):
            reasons.append(f"{measure} is not clearly better in the mean over the sets: {say(mean)}")
        reasons += [
            f"{measure} is worse on {name}: {say(interval)}"
            for name, (interval,) in summary.sets.items()
            if interval.below_zero
        ]
    return Verdict(not reasons, tuple(reasons))


def say(interval: Interval) -> str:
    return f"{interval.mean:+.4f} [{interval.low:+.4f}, {interval.high:+.4f}]"
