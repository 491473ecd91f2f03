"""Runs on disk, a folder each: what an arm answered to every question, under which conditions, and how fast.

| file             | holds                                                                              |
|------------------|------------------------------------------------------------------------------------|
| manifest.json    | the conditions: settings, model, data, code, versions, when                        |
| queries.jsonl.gz | a line a query: set, id, stratum, measures, the ten documents found, milliseconds  |
| figures.json     | means with their intervals; the same on every machine                              |
| timings.json     | latency and size; of the machine it ran on                                         |

Each set is kept as it is finished, so that a run that was killed goes on with those that are missing.
"""

import gzip
import hashlib
import json
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from recollect.bench.arms import Arm, resolve, values_of
from recollect.bench.errors import BenchError
from recollect.bench.figures import figures, timings
from recollect.bench.metrics import LIMIT
from recollect.bench.provenance import checkout, code_digest, machine, versions
from recollect.bench.results import QueryResult, SetResult
from recollect.bench.run import SEED
from recollect.bench.sources import Split
from recollect.core.settings import Settings

_MANIFEST: Final = "manifest.json"
_QUERIES: Final = "queries.jsonl.gz"
_FIGURES: Final = "figures.json"
_TIMINGS: Final = "timings.json"
_PARTS: Final = "parts"
_FORMAT: Final = 1
_DIGEST: Final = 8


@dataclass(frozen=True, slots=True)
class Run:
    """A finished run, read back."""

    path: Path
    manifest: Mapping[str, Any]
    rows: tuple[QueryResult, ...]

    @property
    def name(self) -> str:
        return self.path.name

    @property
    def arm(self) -> str:
        name: str = self.manifest["conditions"]["arm"]
        return name

    @property
    def data(self) -> dict[str, str]:
        """The fingerprint of each set's data."""
        return {name: described["data"] for name, described in self.manifest["sets"].items()}

    def timings(self) -> dict[str, Any]:
        path = self.path / _TIMINGS
        return _read(path) if path.is_file() else {}


def conditions(arm: Arm, split: Split, model: str | None) -> dict[str, Any]:
    """Give all that decides an arm's figures besides the data."""
    values = values_of(arm, has_model=model is not None)
    return {
        "arm": arm.name,
        "words": arm.words,
        "vectors": arm.vectors,
        "importance": arm.importance,
        "through": arm.through,
        "settings": resolve(values),
        "split": split,
        # One that does not search by meaning is the same with any model.
        "model": model if Settings(values).number("weight.dense") else None,
        "limit": LIMIT,
        "seed": SEED,
        "code": code_digest(),
    }


class Folder:
    """A run being made. One of the same name under the same conditions goes on; under others it is not touched."""

    def __init__(self, path: Path, made_under: Mapping[str, Any], about: str, *, fresh: bool = False) -> None:
        self.path = path
        if fresh and (path / _MANIFEST).is_file():
            shutil.rmtree(path)
        (path / _PARTS).mkdir(parents=True, exist_ok=True)
        if (path / _MANIFEST).is_file():
            self.manifest = _read(path / _MANIFEST)
            if self.manifest["conditions"] != made_under:
                changed = [name for name, value in made_under.items() if self.manifest["conditions"].get(name) != value]
                raise BenchError(
                    f"The run {path.name} was made under other conditions ({', '.join(changed)}): give this one "
                    "another --name, or replace that one with --fresh."
                )
        else:
            self.manifest = {
                "format": _FORMAT,
                "conditions": dict(made_under),
                "about": about,
                "sets": {},
                "versions": versions(),
                "checkout": checkout(),
                "started": _now(),
                "finished": None,
            }
            _write(path / _MANIFEST, self.manifest)

    def has(self, name: str, data: str) -> bool:
        """Whether a set is there already, of this very data."""
        part = self.path / _PARTS / f"{name}.json"
        return part.is_file() and _read(part)["data"] == data

    def keep(self, result: SetResult) -> None:
        rows = self.path / _PARTS / f"{result.name}.jsonl.gz"
        _write_rows(rows, result.rows)
        _write(self.path / _PARTS / f"{result.name}.json", result.to_json())

    def finish(self, *, workers: int) -> Run:
        """Put the sets that are there together."""
        results = list(self._results())
        rows = tuple(row for result in results for row in result.rows)
        _write_rows(self.path / _QUERIES, rows)
        _write(self.path / _FIGURES, figures(rows, {each.name: each.failures for each in results}))
        _write(self.path / _TIMINGS, {"machine": {**machine(), "workers": workers}, "sets": timings(results)})
        self.manifest["sets"] = {
            each.name: {"data": each.data, "memories": each.memories, "queries": len(each.rows)} for each in results
        }
        self.manifest["finished"] = _now()
        _write(self.path / _MANIFEST, self.manifest)
        return read_run(self.path)

    def _results(self) -> Iterator[SetResult]:
        for described in sorted((self.path / _PARTS).glob("*.json")):
            rows = tuple(_read_rows(described.with_suffix(".jsonl.gz")))
            yield SetResult.from_json(_read(described), rows)


def run_name(made_under: Mapping[str, Any]) -> str:
    """Name a run after its arm and its conditions: asked for again, it is the same run."""
    digest = hashlib.sha256(json.dumps(made_under, sort_keys=True).encode()).hexdigest()[:_DIGEST]
    return f"{made_under['arm']}-{made_under['split']}-{digest}"


def describe(run: Run) -> dict[str, Any]:
    """Give a run as JSON has it: its name and folder, its conditions, its figures, its timings."""
    return {
        "name": run.name,
        "folder": str(run.path),
        "manifest": run.manifest,
        "figures": _read(run.path / _FIGURES),
        "timings": run.timings(),
    }


def read_run(path: Path) -> Run:
    manifest, queries = path / _MANIFEST, path / _QUERIES
    if not (manifest.is_file() and queries.is_file()):
        raise BenchError(f"{path} is not a finished run: `recollect bench run` makes one.")
    return Run(path, _read(manifest), tuple(_read_rows(queries)))


def list_runs(folder: Path) -> list[Path]:
    """Give the finished runs of a folder, those that were finished last first."""
    found = [path for path in folder.glob(f"*/{_MANIFEST}") if (path.parent / _QUERIES).is_file()]
    return [path.parent for path in sorted(found, key=lambda path: _read(path)["finished"] or "", reverse=True)]


def find_run(folder: Path, name: str) -> Run:
    """Find a run by its folder, its name, or its arm; of several of an arm the one that was finished last."""
    for path in (Path(name), folder / name):
        if (path / _MANIFEST).is_file():
            return read_run(path)
    for path in list_runs(folder):
        if _read(path / _MANIFEST)["conditions"]["arm"] == name:
            return read_run(path)
    known = ", ".join(path.name for path in list_runs(folder)[:10]) or "none yet"
    raise BenchError(f"There is no run {name!r}. There are: {known}.")


def _write_rows(path: Path, rows: Sequence[QueryResult]) -> None:
    lines = "".join(json.dumps(row.to_json(), ensure_ascii=False) + "\n" for row in rows)
    # Without the time of writing, the same results are the same file.
    _replace(path, gzip.compress(lines.encode(), mtime=0))


def _read_rows(path: Path) -> Iterable[QueryResult]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [QueryResult.from_json(json.loads(line)) for line in lines]


def _write(path: Path, content: Mapping[str, Any]) -> None:
    _replace(path, (json.dumps(content, indent=1, ensure_ascii=False) + "\n").encode())


def _replace(path: Path, octets: bytes) -> None:
    """Write a file whole or not at all, so that a kill leaves nothing half."""
    beside = path.with_name(f"{path.name}.new")
    beside.write_bytes(octets)
    beside.replace(path)


def _read(path: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return content


def _now() -> str:
    return f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"
