"""Two runs over the same questions: by how much one is better than the other, and how sure that is."""

from collections.abc import Mapping
from dataclasses import dataclass

from recollect.bench.errors import BenchError
from recollect.bench.figures import by_set, summarise_groups
from recollect.bench.results import QueryResult
from recollect.bench.runs import Run
from recollect.bench.significance import Summary


@dataclass(frozen=True, slots=True)
class Comparison:
    a: Run
    b: Run
    sets: tuple[str, ...]
    """Those that both have."""
    of_a: Mapping[str, Summary]
    of_b: Mapping[str, Summary]
    differences: Mapping[str, Summary]
    """By measure: A less B, query by query."""
    queries: Mapping[str, int]

    @property
    def missing(self) -> tuple[str, ...]:
        """Sets that B has and A has not."""
        return tuple(sorted(set(self.b.data) - set(self.a.data)))


def compare(a: Run, b: Run) -> Comparison:
    for what in ("split", "limit"):
        if a.manifest["conditions"][what] != b.manifest["conditions"][what]:
            raise BenchError(f"{a.name} and {b.name} are of another {what}: they answer different questions.")
    sets = tuple(sorted(a.data.keys() & b.data.keys()))
    if not sets:
        raise BenchError(f"{a.name} and {b.name} have no set in common.")
    changed = [name for name in sets if a.data[name] != b.data[name]]
    if changed:
        raise BenchError(
            f"{a.name} and {b.name} were measured on different data of {', '.join(changed)}: run one anew."
        )
    rows_a, rows_b = by_set(a.rows), by_set(b.rows)
    differences = {name: _differences(name, rows_a[name], rows_b[name]) for name in sets}
    return Comparison(
        a,
        b,
        sets,
        summarise_groups({name: rows_a[name] for name in sets}),
        summarise_groups({name: rows_b[name] for name in sets}),
        summarise_groups(differences),
        {name: len(rows_a[name]) for name in sets},
    )


def _differences(name: str, of_a: list[QueryResult], of_b: list[QueryResult]) -> list[QueryResult]:
    others = {row.query: row for row in of_b}
    if {row.query for row in of_a} != others.keys():
        raise BenchError(f"The runs answered different questions of {name}: run one of them anew.")
    return [_less(row, others[row.query]) for row in of_a]


def _less(row: QueryResult, other: QueryResult) -> QueryResult:
    metrics = {name: value - other.metrics[name] for name, value in row.metrics.items() if name in other.metrics}
    return QueryResult(row.set, row.query, row.stratum, metrics, row.top, row.milliseconds - other.milliseconds)
