"""What `million.py` measured, as a page to read and pictures: results go in, Markdown and two PNG files come out."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import matplotlib as mpl

mpl.use("Agg")
from matplotlib import pyplot as plt

from pg_large import EF_SEARCH, crossover

MOST_GROWTH: Final = 1.5
"""How much longer the p95 of a million may be than that of ten thousand."""
_LINES: Final = ("store", "store, lexical", "store, dense", "store, exact", "reference")
_BEST_SCAN: Final = "relaxed_order"


def write(results: Mapping[str, Any], folder: Path) -> str:
    parts = [
        *_show_curve(results.get("curve", [])),
        *_show_large(results.get("large", [])),
        *_show_wide(results.get("wide")),
        *_show_bytes(results.get("bytes")),
    ]
    page = "\n".join(["# A million memories on one machine", "", *parts, ""])
    (folder / "million.md").write_text(page, encoding="utf-8")
    if results.get("curve"):
        _draw_curve(results["curve"], folder / "curve.png")
    if results.get("large"):
        _draw_large(results["large"], folder / "large.png")
    return page


def growth(curve: Sequence[Mapping[str, Any]]) -> float:
    first, last = (_time(point, "store", "p95") for point in (curve[0], curve[-1]))
    return last / first


def verdict(results: Mapping[str, Any]) -> list[str]:
    """Say what was promised and does not hold."""
    failed = []
    points = [*results.get("curve", []), *([results["wide"]] if results.get("wide") else [])]
    failed += [f"recall@50 at {point['memories']:,} is {point['recall@50']}" for point in points if _lossy(point)]
    if len(results.get("curve", [])) > 1 and growth(results["curve"]) >= MOST_GROWTH:
        failed.append(f"p95 grows {growth(results['curve']):.2f} times")
    return failed


def _lossy(point: Mapping[str, Any]) -> bool:
    return bool(point["recall@50"] < 1)


def _show_curve(curve: Sequence[Mapping[str, Any]]) -> list[str]:
    if not curve:
        return []
    lines = [
        "Milliseconds, p50 / p95, of all the SQL of a recall as its owner asks it, of each leg, and of the reference.",
        "",
        f"| memories | {' | '.join(_LINES)} | dense recall@50 |",
        "|" + " --- |" * (len(_LINES) + 2),
    ]
    for point in curve:
        times = " | ".join(f"{_time(point, name, 'p50'):.2f} / {_time(point, name, 'p95'):.2f}" for name in _LINES)
        lines.append(f"| {point['memories']:,} | {times} | {point['recall@50']:.4f} |")
    return [*lines, "", f"The p95 grows {growth(curve):.2f} times (less than {MOST_GROWTH} wanted).", ""]


def _show_large(points: Sequence[Mapping[str, Any]]) -> list[str]:
    if not points:
        return []
    ways = list(points[0]["ways"])
    lines = [
        "One space: p50 in milliseconds, and recall@50.",
        "",
        f"| way | {' | '.join(format(point['size'], ',') for point in points)} |",
        "|" + " --- |" * (len(points) + 1),
    ]
    for way in ways:
        cells = (f"{point['ways'][way]['p50']:.2f}, {point['ways'][way]['recall@50']:.3f}" for point in points)
        lines.append(f"| {way} | {' | '.join(cells)} |")
    built = " | ".join(f"{point['build_seconds']:.0f} s, {point['index_bytes'] / 1e6:.0f} MB" for point in points)
    lines += [f"| the index | {built} |", ""]
    for ef_search in EF_SEARCH:
        size = crossover(list(map(dict, points)), f"hnsw {ef_search} {_BEST_SCAN}")
        said = "never, here" if size is None else f"from {size:,} on"
        lines.append(f"- ef_search {ef_search}: sooner than exact with recall@50 of at least 0.95 {said}.")
    return [*lines, ""]


def _show_wide(wide: Mapping[str, Any] | None) -> list[str]:
    if wide is None:
        return []
    times = ", ".join(f"{name} {_time(wide, name, 'p50'):.2f} / {_time(wide, name, 'p95'):.2f} ms" for name in _LINES)
    return [
        f"{wide['memories']:,} memories with vectors of {wide['dimension']:,}: {times};",
        f"dense recall@50 {wide['recall@50']:.4f}.",
        "",
    ]


def _show_bytes(weight: Mapping[str, Any] | None) -> list[str]:
    if weight is None:
        return []
    lines = [
        f"Bytes a memory, of {weight['bytes_of_text']:.0f} bytes of text and {weight['postings_a_memory']:.1f} terms:",
        "",
        "| relation | bytes |",
        "| --- | --- |",
    ]
    lines += [f"| {name} | {size:,.0f} |" for name, size in weight["bytes_a_memory"].items()]
    return [*lines, f"| **in all** | {weight['bytes_a_memory_in_all']:,.0f} |", ""]


def _time(point: Mapping[str, Any], name: str, part: str) -> float:
    return float(point["milliseconds"][name][part])


def _draw_curve(curve: Sequence[Mapping[str, Any]], path: Path) -> None:
    figure, axes = plt.subplots(figsize=(8, 4.5))
    sizes = [point["memories"] for point in curve]
    for name, style in (("store", "o-"), ("reference", "s-")):
        for part, alpha in (("p50", 0.5), ("p95", 1.0)):
            axes.plot(sizes, [_time(point, name, part) for point in curve], style, alpha=alpha, label=f"{name}, {part}")
    axes.set(xscale="log", xlabel="memories in the database", ylabel="milliseconds", ylim=(0, None))
    axes.legend(frameon=False)
    axes.set_title("The SQL of a recall in a space of 5,000")
    _save(figure, path)


def _draw_large(points: Sequence[Mapping[str, Any]], path: Path) -> None:
    figure, (times, recalls) = plt.subplots(1, 2, figsize=(11, 4.5))
    sizes = [point["size"] for point in points]
    for way in ("exact", *(f"hnsw {ef_search} {_BEST_SCAN}" for ef_search in EF_SEARCH)):
        times.plot(sizes, [point["ways"][way]["p50"] for point in points], "o-", label=way)
        recalls.plot(sizes, [point["ways"][way]["recall@50"] for point in points], "o-", label=way)
    times.set(xscale="log", yscale="log", xlabel="memories in the space", ylabel="milliseconds, p50")
    recalls.set(xscale="log", xlabel="memories in the space", ylabel="recall@50")
    recalls.axhline(0.95, color="grey", linewidth=0.8)
    times.legend(frameon=False)
    _save(figure, path)


def _save(figure: Any, path: Path) -> None:  # noqa: ANN401 - matplotlib's own types differ from version to version
    figure.tight_layout()
    figure.savefig(path, dpi=130)
    plt.close(figure)
