"""What a floor costs against what it spares, drawn: a panel a set, a line a way of asking."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from recollect.bench.inject import FLOORS, SETS, Trial, Way, judge

_COLOURS: Final[dict[Way, str]] = {"words": "#b3541e", "words and meaning": "#1f6f8b"}
_WANTED: Final = (70, -3)
"""What was asked for: silent on so many in a hundred unrelated prompts, at no more points of recall than that."""


def plot_trade_off(trials: Sequence[Trial], target: Path, split: str) -> None:
    figure = Figure(figsize=(9.5, 4.2), layout="constrained")
    for ax, name in zip(figure.subplots(1, len(SETS), sharey=True), SETS, strict=True):
        for way, colour in _COLOURS.items():
            _draw(ax, trials, name, way, colour)
        silent, lost = _WANTED
        ax.axvline(lost, color="0.75", linewidth=1, zorder=0)
        ax.axhline(silent, color="0.75", linewidth=1, zorder=0)
        ax.set(title=name, xlabel="points of recall lost on its own questions", xlim=(-20.5, 0.5), ylim=(-2, 102))
        ax.spines[["top", "right"]].set_visible(False)
    figure.axes[0].set_ylabel("silent on unrelated prompts, %")
    figure.axes[0].legend(frameon=False, loc="lower left")
    figure.suptitle(
        f"The floor, from giving everything to three times as sure; dots: the default ({split} split)", fontsize=10
    )
    figure.savefig(target, metadata={"Date": None} if target.suffix == ".svg" else None)


def _draw(ax: Axes, trials: Sequence[Trial], name: str, way: Way, colour: str) -> None:
    points = [_point(trials, name, way, floor) for floor in FLOORS]
    ax.plot(*zip(*points, strict=True), color=colour, label=way, linewidth=1.8)
    ax.plot(*_point(trials, name, way, 1.0), "o", color=colour, markersize=7)


def _point(trials: Sequence[Trial], name: str, way: Way, floor: float) -> tuple[float, float]:
    outcome = judge(trials, name, way, floor)
    return 100 * outcome.lost.mean, 100 * outcome.silent["unrelated"].mean
