"""The report's drawings: arms with their intervals, sweeps as lines, quality against latency."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from matplotlib.axes import Axes

from recollect.bench.drawing import GRID, QUIET, SERIES, drawing, new_figure, to_svg
from recollect.bench.significance import Interval
from recollect.bench.sweep import Point, Sweep

_WIDE: Final = 10.0
_ACROSS: Final = 3
"""Panels side by side."""


@dataclass(frozen=True, slots=True)
class Mark:
    """One arm in a drawing."""

    name: str
    value: Interval
    color: str


def color_of(names: Sequence[str]) -> dict[str, str]:
    """Give each arm a colour of its own, as far as they go."""
    return {name: SERIES[place % len(SERIES)] for place, name in enumerate(names)}


def plot_means(panels: Mapping[str, Sequence[Mark]], reference: str) -> str:
    """Draw the mean over the sets, a panel a measure, a line an arm."""
    arms = max(map(len, panels.values()))
    with drawing("means"):
        figure, axes = new_figure(_WIDE, 0.9 + 0.3 * arms, 1, len(panels), sharey=True)
        for place, (ax, (measure, marks)) in enumerate(zip(axes, panels.items(), strict=True)):
            _draw_marks(ax, marks, reference, names=place == 0)
            ax.set_title(measure)
        return to_svg(figure, "Mean over the sets by arm, with 95 % intervals")


def plot_sets(panels: Mapping[str, Sequence[Mark]], reference: str, measure: str) -> str:
    """Draw every set on its own, a line an arm."""
    rows = -(-len(panels) // _ACROSS)
    arms = max(map(len, panels.values()))
    with drawing("sets"):
        figure, axes = new_figure(_WIDE, rows * (0.8 + 0.22 * arms), rows, _ACROSS, sharey=True)
        for place, (ax, (name, marks)) in enumerate(zip(axes, panels.items(), strict=False)):
            _draw_marks(ax, marks, reference, names=place % _ACROSS == 0)
            ax.set_title(name)
        for ax in axes[len(panels) :]:
            ax.set_visible(False)
        return to_svg(figure, f"{measure} by set and arm, with 95 % intervals")


def plot_sweep(sweep: Sweep, axis: str, measure: str) -> str:
    """Draw a measure along one axis, a line for each value of the next one, all others as at the best point."""
    best = sweep.best(measure)[0]
    others = [name for name in sweep.axes if name != axis]
    split = max(others, key=lambda name: len(sweep.axes[name])) if others else None
    fixed = {name: best.values[name] for name in others if name != split}
    with drawing(f"{sweep.name} {axis} {measure}"):
        figure, (ax,) = new_figure(_WIDE * 0.62, 3.6)
        ax.grid(visible=True, axis="y")
        ax.grid(visible=False, axis="x")
        for number, value in enumerate(sweep.axes[split] if split else [None]):
            points = [
                point
                for point in sweep.points
                if (split is None or point.values[split] == value)
                and all(point.values[name] == held for name, held in fixed.items())
            ]
            places, labels = _places(points, axis)
            values = [point.mean[measure] for point in points]
            _draw_line(ax, places, values, SERIES[number % len(SERIES)], "" if split is None else f"{value}")
            if labels:
                ax.set_xticks(places, labels)
        ax.set_xlabel(axis + "".join(f", {name} = {held}" for name, held in fixed.items()))
        ax.set_title(f"{measure}, mean of sets, tune split")
        if split:
            ax.legend(title=split, loc="center left", bbox_to_anchor=(1, 0.5))
        return to_svg(figure, f"{measure} along {axis}")


def plot_latency(points: Sequence[tuple[Mark, float]], measure: str) -> str:
    """Draw quality against the time of a recall: left and up is better."""
    with drawing("latency"):
        figure, (ax,) = new_figure(_WIDE, 4.2)
        ax.grid(visible=True, axis="both")
        for mark, milliseconds in points:
            value = mark.value
            ax.plot([milliseconds] * 2, [value.low, value.high], color=mark.color, linewidth=1.2, alpha=0.5)
            ax.plot([milliseconds], [value.mean], "o", color=mark.color, markersize=7, label=mark.name)
        ax.set_xlabel("p50 of a recall, ms, query embedding included where there is one")
        ax.set_ylabel(measure)
        ax.set_xlim(left=0)
        ax.legend(loc="center left", bbox_to_anchor=(1, 0.5))
        return to_svg(figure, f"{measure} against latency")


def _draw_marks(ax: Axes, marks: Sequence[Mark], reference: str, *, names: bool) -> None:
    held = next((mark.value.mean for mark in marks if mark.name == reference), None)
    if held is not None:
        ax.axvline(held, color=QUIET, linewidth=0.9, linestyle=(0, (3, 3)))
    for place, mark in enumerate(marks):
        bold = mark.name == reference
        ax.plot([mark.value.low, mark.value.high], [place] * 2, color=mark.color, linewidth=2.6, alpha=0.45)
        ax.plot([mark.value.mean], [place], "o", color=mark.color, markersize=7 if bold else 5.5)
    ax.set_yticks(range(len(marks)), [mark.name for mark in marks])
    ax.set_ylim(len(marks) - 0.5, -0.5)
    ax.tick_params(axis="y", labelleft=names)
    ax.xaxis.set_major_formatter(lambda value, _: f"{value:.3f}".rstrip("0").replace("0.", ".", 1))


def _draw_line(ax: Axes, places: Sequence[float], values: Sequence[Interval], color: str, label: str) -> None:
    ax.fill_between(places, [each.low for each in values], [each.high for each in values], color=color, alpha=0.08)
    ax.plot(places, [each.mean for each in values], "o-", color=color, markersize=4, label=label)
    ax.spines["left"].set_color(GRID)


def _places(points: Sequence[Point], axis: str) -> tuple[list[float], list[str]]:
    """Give where points stand along an axis, and their labels if it is no scale of numbers."""
    values = [point.values[axis] for point in points]
    if all(isinstance(value, int | float) for value in values):
        return [float(value) for value in values], []
    return [float(place) for place in range(len(values))], [str(value) for value in values]
