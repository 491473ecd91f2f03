"""Matplotlib figures as SVG that sits inside a page and takes the page's colours, light or dark."""

import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

INK: Final = "#010203"
QUIET: Final = "#040506"
GRID: Final = "#070809"
SERIES: Final = tuple(f"#0a0b{number:02x}" for number in range(14))
"""Colours that stand for the page's own, which the style sheet names."""
_NAMES: Final = {
    INK: "var(--ink)",
    QUIET: "var(--quiet)",
    GRID: "var(--line)",
    **{color: f"var(--series-{number})" for number, color in enumerate(SERIES)},
}
_STYLE: Final[Any] = {
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "font.size": 9.5,
    "text.color": INK,
    "axes.labelcolor": QUIET,
    "axes.edgecolor": GRID,
    "axes.titlecolor": INK,
    "axes.titlesize": 10.5,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.spines.left": False,
    "axes.grid": True,
    "axes.grid.axis": "x",
    "axes.axisbelow": True,
    "grid.color": GRID,
    "grid.linewidth": 0.8,
    "xtick.color": QUIET,
    "ytick.color": INK,
    "xtick.major.size": 0,
    "ytick.major.size": 0,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "savefig.facecolor": "none",
    "legend.frameon": False,
    "lines.linewidth": 1.8,
}


@contextmanager
def drawing(name: str) -> Iterator[None]:
    """Draw in the house style; the name keeps the ids of several drawings in one page apart."""
    style: Any = {**_STYLE, "svg.hashsalt": name}
    with mpl.rc_context(style):
        yield


def new_figure(
    width: float, height: float, rows: int = 1, columns: int = 1, *, sharey: bool = False
) -> tuple[Figure, list[Axes]]:
    # Made without pyplot, which would keep every figure until the end.
    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, list(figure.subplots(rows, columns, squeeze=False, sharey=sharey).flat)


def to_svg(figure: Figure, title: str) -> str:
    """Give a figure as an SVG element with a title for those who do not see it."""
    octets = io.BytesIO()
    figure.savefig(octets, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    svg = octets.getvalue().decode()
    svg = svg[svg.index("<svg") :]
    for color, variable in _NAMES.items():
        svg = svg.replace(color, variable)
    # The page decides the font, and ids that nothing refers to would only meet those of the next drawing.
    svg = re.sub(r"font-family: [^;\"]+; ?", "", svg)
    svg = re.sub(r"font: ([a-z ]*)([\d.]+)px [^;\"]+", r"font-size: \2px", svg)
    svg = re.sub(r'<g id="[A-Za-z0-9.]+_\d+"', "<g", svg)
    # The page decides the width; the box keeps the proportions.
    svg = re.sub(r'(<svg[^>]*?) width="[^"]+"', r"\1", svg, count=1)
    svg = re.sub(r'(<svg[^>]*?) height="[^"]+"', r"\1", svg, count=1)
    return svg.replace(">", f' role="img" aria-label="{title}">', 1).strip()
