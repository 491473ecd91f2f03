"""The public evaluation sets in one format: documents, queries and what is relevant to them."""

import gzip
import hashlib
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

DATASETS = Path(os.environ.get("RECOLLECT_DATASETS") or Path(__file__).resolve().parents[2] / "shared" / "datasets")
"""By default the folder `shared` beside the checkout."""


@dataclass(frozen=True)
class Document:
    id: str
    text: str
    scope: str


@dataclass(frozen=True)
class Question:
    id: str
    text: str
    scope: str
    relevant: dict[str, int]

    @property
    def split(self) -> str:
        return "tune" if int(hashlib.sha256(self.id.encode()).hexdigest()[0], 16) < 5 else "test"


def read_documents(name: str) -> Iterator[Document]:
    """Give a set's documents, title and text joined; one without scopes is a single pool named after the set."""
    for record in _lines(name, "corpus.jsonl.gz"):
        title = record.get("title")
        text = f"{title}\n{record['text']}" if title else record["text"]
        yield Document(record["id"], text, record.get("scope", name))


def read_questions(name: str, split: str = "test") -> list[Question]:
    relevant: dict[str, dict[str, int]] = {}
    for line in (DATASETS / name / "qrels.tsv").read_text(encoding="utf-8").splitlines():
        question, document, grade = line.split("\t")
        relevant.setdefault(question, {})[document] = int(grade)
    questions = [
        Question(record["id"], record["text"], record.get("scope", name), relevant[record["id"]])
        for record in _lines(name, "queries.jsonl.gz")
    ]
    return [question for question in questions if split in {question.split, "all"}]


def _lines(name: str, file: str) -> Iterator[dict[str, Any]]:
    with gzip.open(DATASETS / name / file, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)
