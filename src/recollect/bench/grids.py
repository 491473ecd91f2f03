"""What a sweep goes through: settings by name, each with the values to try."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Final

from recollect.bench.arms import Arm, find_arm, read_value, vary
from recollect.bench.errors import BenchError
from recollect.core.settings import Setting, Value

ALPHA: Final = "alpha"
"""The dense leg's share of a convex combination; the words leg has the rest."""
_SHARE: Final = Setting(0.5, "the dense leg's share", most=1)

Axes = Mapping[str, tuple[Value, ...]]


@dataclass(frozen=True, slots=True)
class Grid:
    name: str
    arm: str
    """What is varied."""
    axes: Axes

    def points(self) -> list[dict[str, Value]]:
        return [dict(zip(self.axes, values, strict=True)) for values in product(*self.axes.values())]

    def arms(self) -> list[tuple[dict[str, Value], Arm]]:
        base = find_arm(self.arm)
        return [(point, _varied(base, point)) for point in self.points()]


_SHARES: Final = (0.0, 0.2, 0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 1.0)
GRIDS: Final[Mapping[str, Grid]] = {
    grid.name: grid
    for grid in (
        Grid(
            "rrf",
            "rrf",
            {"rrf.k": (1, 5, 10, 20, 60, 100), "weight.dense": (0.25, 0.5, 1.0, 2.0), "depth": (50, 100)},
        ),
        Grid("convex", "convex", {ALPHA: _SHARES, "normaliser": ("theoretical-minimum", "min-max")}),
    )
}


def find_grid(name: str) -> Grid:
    if name not in GRIDS:
        raise BenchError(f"There is no grid {name!r}. There are {', '.join(GRIDS)}; --vary makes one of your own.")
    return GRIDS[name]


def make_grid(arm: str, given: Sequence[str]) -> Grid:
    """Make a grid of what a person wrote: `rrf.k=10,60` and the like."""
    axes: dict[str, tuple[Value, ...]] = {}
    for each in given:
        name, equals, values = each.partition("=")
        if not (equals and values):
            raise BenchError(f"Write --vary NAME=VALUE,VALUE and so on, not {each!r}.")
        axes[name] = tuple(_read(name, value) for value in values.split(","))
    return Grid("-".join(axes), arm, axes)


def _read(name: str, text: str) -> Value:
    return _SHARE.parse(name, text) if name == ALPHA else read_value(name, text)


def _varied(base: Arm, point: Mapping[str, Value]) -> Arm:
    values = {name: value for name, value in point.items() if name != ALPHA}
    if ALPHA in point:
        share = float(point[ALPHA])
        values |= {"weight.dense": share, "weight.lexical": round(1 - share, 6)}
    return vary(base, values)
