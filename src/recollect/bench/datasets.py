"""Reads a set in the common format (a folder with `corpus.jsonl.gz`, `queries.jsonl.gz`, `qrels.tsv`).

Documents with a scope are kept in a space of that name. Where each question has a haystack of its own, every distinct
haystack is a space, since the statistics of words are per space.
"""

import gzip
import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from recollect.bench.errors import BenchError
from recollect.bench.sources import Document, Question
from recollect.bench.strata import stratum_of
from recollect.core.concepts import Relation

SETS: Final = (
    "locomo",
    "realmem",
    "beam_100k",
    "fiqa_gold",
    "scifact",
    "banking77",
    "precisionmembench",
    "factconsolidation",
    "musique_train100",
    "musique_dev200",
    "2wiki1000",
    "hotpotqa_dev200",
)
"""What is measured unless told otherwise."""
UNSEEN: Final = frozenset({"longmemeval_s", "beam_500k"})
"""Never tuned on, so that there is something left that no choice has seen."""

_BESIDE: Final = Path("..") / "shared" / "datasets"
_FILES: Final = ("corpus.jsonl.gz", "queries.jsonl.gz", "qrels.tsv", "haystacks.jsonl.gz")
_DIGEST: Final = 16
_BLOCK: Final = 1 << 20


def find_folder(given: str | None) -> Path:
    """Find where the sets are: where one was told, else beside the checkout."""
    folder = Path(given) if given else _BESIDE
    if not folder.is_dir():
        raise BenchError(
            f"There are no evaluation sets at {folder}. Name their folder with --datasets or RECOLLECT_DATASETS; "
            "each set in it is a folder with corpus.jsonl.gz, queries.jsonl.gz and qrels.tsv."
        )
    return folder


@dataclass(frozen=True)
class Dataset:
    folder: Path

    def __post_init__(self) -> None:
        missing = [file for file in _FILES[:3] if not (self.folder / file).is_file()]
        if missing:
            raise BenchError(f"{self.folder} is not an evaluation set: it has no {' and no '.join(missing)}.")

    @property
    def name(self) -> str:
        return self.folder.name

    @property
    def corpus(self) -> "Dataset":
        return self

    def fingerprint(self) -> str:
        digest = hashlib.sha256()
        for file in _FILES:
            path = self.folder / file
            if path.is_file():
                digest.update(f"{file}\0{path.stat().st_size}\0".encode())
                with path.open("rb") as octets:
                    while block := octets.read(_BLOCK):
                        digest.update(block)
        return digest.hexdigest()[:_DIGEST]

    def documents(self) -> Iterator[Document]:
        spaces = self._spaces_of_documents
        for index, record in enumerate(read_lines(self.folder / "corpus.jsonl.gz")):
            document = _document(record, record.get("scope", self.name), index)
            if spaces is None:
                yield document
            else:
                for space, time in spaces.get(document.id, ()):
                    yield replace(document, space=space, time=time or document.time)

    def questions(self) -> Sequence[Question]:
        relevant = self._relevant()
        spaces = self._haystacks
        found = []
        for record in read_lines(self.folder / "queries.jsonl.gz"):
            identity = record["id"]
            if identity not in relevant:
                raise BenchError(f"{self.name}: nothing is relevant to the query {identity}; qrels.tsv must name it.")
            space = record.get("scope", self.name) if spaces is None else spaces[identity][0]
            found.append(
                Question(
                    identity,
                    record["text"],
                    space,
                    stratum_of(self.name, record.get("stratum")),
                    relevant[identity],
                    stale=frozenset(record.get("stale_ids", ())),
                    before=record.get("visible_before_seq"),
                    hops=record.get("hops", 1),
                    time=_time(record.get("time")),
                )
            )
        return found

    def triples(self) -> Iterator[tuple[str, Relation]]:
        path = self.folder / "triples.jsonl.gz"
        if path.is_file():
            for record in read_lines(path):
                yield record["doc_id"], Relation(record["subject"], record["relation"], record["object"])

    def _relevant(self) -> dict[str, dict[str, int]]:
        relevant: dict[str, dict[str, int]] = {}
        for line in (self.folder / "qrels.tsv").read_text(encoding="utf-8").splitlines():
            question, document, grade = line.split("\t")
            relevant.setdefault(question, {})[document] = int(grade)
        return relevant

    @cached_property
    def _haystacks(self) -> dict[str, tuple[str, dict[str, datetime | None]]] | None:
        """Give for each question its space, and what is in it with its time there; `None` if all search the same."""
        path = self.folder / "haystacks.jsonl.gz"
        if not path.is_file():
            return None
        haystacks = {}
        asked = self._relevant()
        for record in read_lines(path):
            if record["query_id"] not in asked:
                continue
            ids, times = record["doc_ids"], record.get("doc_times") or [None] * len(record["doc_ids"])
            name = hashlib.sha256(json.dumps([ids, times]).encode()).hexdigest()[:_DIGEST]
            contents = {each: _time(time) for each, time in zip(ids, times, strict=True)}
            haystacks[record["query_id"]] = (f"haystack-{name}", contents)
        return haystacks

    @cached_property
    def _spaces_of_documents(self) -> dict[str, list[tuple[str, datetime | None]]] | None:
        if self._haystacks is None:
            return None
        spaces: dict[str, list[tuple[str, datetime | None]]] = {}
        for space, contents in dict(self._haystacks.values()).items():
            for document, time in contents.items():
                spaces.setdefault(document, []).append((space, time))
        return spaces


def _document(record: dict[str, Any], space: str, index: int) -> Document:
    title = record.get("title")
    return Document(
        record["id"],
        f"{title}\n{record['text']}" if title else record["text"],
        space,
        index,
        session=record.get("session"),
        seq=record.get("seq"),
        time=_time(record.get("time")),
        superseded_by=record.get("superseded_by"),
    )


def _time(text: str | None) -> datetime | None:
    """Read a date or a time; one without a zone is taken as UTC, and one in UTC has that very zone object."""
    if text is None:
        return None
    moment = datetime.fromisoformat(text)
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)


def read_lines(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)
