"""Rows of results -> figures: every mean with its interval, by set, by kind of question, over all sets."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from recollect.bench.metrics import TOGETHER
from recollect.bench.results import QueryResult, SetResult
from recollect.bench.significance import Interval, Summary, Table, summarise

DIGITS: Final = 4
_P50, _P95 = 50, 95

Rows = Sequence[QueryResult]


def by_set(rows: Iterable[QueryResult]) -> dict[str, list[QueryResult]]:
    return _group(rows, lambda row: row.set)


def summarise_rows(rows: Rows) -> dict[str, Summary]:
    """Give for each measure its intervals, over the sets whose questions have it."""
    return summarise_groups(by_set(rows))


def summarise_groups(groups: Mapping[str, Rows]) -> dict[str, Summary]:
    found: dict[str, Summary] = {}
    for measures in TOGETHER:
        # All columns of a table are resampled at once.
        summary = summarise(_tables(groups, measures))
        for column, name in enumerate(measures if summary.mean else ()):
            sets = {each: (intervals[column],) for each, intervals in summary.sets.items()}
            found[name] = Summary(sets, (summary.mean[column],))
    return found


def figures(rows: Rows, failures: Mapping[str, Mapping[str, int]]) -> dict[str, Any]:
    """Give what a run measured, independent of the machine."""
    sets = by_set(rows)
    summaries = summarise_rows(rows)
    strata = _group(rows, lambda row: f"{row.set} · {row.stratum}")
    kinds = summarise_groups(strata)
    return {
        "mean": {name: _plain(summary.mean[0]) for name, summary in summaries.items()},
        "sets": {
            each: {
                "queries": len(sets[each]),
                **{name: _plain(summary.sets[each][0]) for name, summary in summaries.items() if each in summary.sets},
                **({"left out": dict(failures[each])} if failures.get(each) else {}),
            }
            for each in sets
        },
        "strata": {
            each: {
                "queries": len(strata[each]),
                **{name: _plain(kind.sets[each][0]) for name, kind in kinds.items() if each in kind.sets},
            }
            for each in sorted(strata)
        },
    }


def timings(results: Iterable[SetResult]) -> dict[str, dict[str, float]]:
    """Give how fast a set was answered and how much room it takes, here."""
    return {each.name: _timing(each) for each in results}


def _timing(result: SetResult) -> dict[str, float]:
    recalls = {row.query: row.milliseconds for row in result.rows}
    found = {
        "p50 ms": _percentile(recalls.values(), _P50),
        "p95 ms": _percentile(recalls.values(), _P95),
        "bytes a memory": round(result.octets / max(1, result.memories)),
    }
    if result.embedding:
        whole = [recalls[query] + embedding for query, embedding in result.embedding.items()]
        found |= {
            "p50 ms with query embedding": _percentile(whole, _P50),
            "p95 ms with query embedding": _percentile(whole, _P95),
        }
    return found


def _percentile(values: Iterable[float], percent: int) -> float:
    return round(float(np.percentile(list(values), percent)), 2)


def _tables(groups: Mapping[str, Rows], measures: Sequence[str]) -> dict[str, Table]:
    found = {
        name: np.array([[row.metrics[each] for each in measures] for row in rows if measures[0] in row.metrics])
        for name, rows in groups.items()
    }
    return {name: table for name, table in found.items() if len(table)}


def _plain(interval: Interval) -> list[float]:
    return [round(value, DIGITS) for value in (interval.mean, interval.low, interval.high)]


def _group(rows: Iterable[QueryResult], key: Callable[[QueryResult], str]) -> dict[str, list[QueryResult]]:
    groups: dict[str, list[QueryResult]] = {}
    for row in rows:
        groups.setdefault(key(row), []).append(row)
    return groups
