"""How well words alone find what was stored, through the product's own recall, beside SQLite's FTS5.

    python benchmarks/lexical_quality.py

Arms: `recollect` is Recollect.recall; `fts5, our terms` is FTS5's own BM25 over the terms of our analysis;
`fts5, AND then OR` is FTS5 with its default tokenizer, all words required, any word if that finds nothing.
Each scope of a set is a space of its own (for FTS5: a table of its own). Figures are of the test split.
"""

import math
import re
import sqlite3
import sys
import tempfile
import uuid
from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import recollect
from datasets import Document, Question, read_documents, read_questions
from recollect.core.analysis import analyse, analyse_query
from recollect.core.memory import Memory

SETS = ("locomo", "scifact")
DEPTH = 10
BATCH = 500
_BEGINNING = datetime(2026, 1, 1, tzinfo=UTC)
_NAMES = uuid.UUID("6ba7b812-9dad-11d1-80b4-00c04fd430c8")

Search = Callable[[Question], list[str]]


def through_recollect(documents: list[Document], folder: Path) -> Search:
    memory = recollect.open(folder / "quality.db")
    memory.set("length-limit", "1000000")
    names = {str(uuid.uuid5(_NAMES, document.id)): document.id for document in documents}
    memories = [
        Memory(identity, document.scope, document.text, _BEGINNING, _BEGINNING)
        for identity, document in zip(names, documents, strict=True)
    ]
    for start in range(0, len(memories), BATCH):
        memory.store.memories.add(memories[start : start + BATCH])

    def search(question: Question) -> list[str]:
        answer = replace(memory, space=question.scope).recall(question.text, limit=DEPTH)
        return [names[result.memory.id] for result in answer.results]

    return search


def through_fts5(documents: list[Document], split: Callable[[str], str], match: Callable[[str], list[str]]) -> Search:
    connection = sqlite3.connect(":memory:")
    tables: dict[str, str] = {}
    ids: dict[str, list[str]] = defaultdict(list)
    for document in documents:
        if document.scope not in tables:
            tables[document.scope] = f"t{len(tables)}"
            connection.execute(f"CREATE VIRTUAL TABLE {tables[document.scope]} USING fts5(content)")
        ids[document.scope].append(document.id)
        connection.execute(f"INSERT INTO {tables[document.scope]} (content) VALUES (?)", (split(document.text),))

    def search(question: Question) -> list[str]:
        table = tables[question.scope]
        for expression in match(question.text):
            rows = connection.execute(
                f"SELECT rowid FROM {table} WHERE {table} MATCH ? ORDER BY rank, rowid LIMIT ?", (expression, DEPTH)
            ).fetchall()
            if rows:
                return [ids[question.scope][row - 1] for (row,) in rows]
        return []

    return search


def recall_at_10(found: list[str], relevant: dict[str, int]) -> float:
    return len(set(found) & relevant.keys()) / len(relevant)


def ndcg_at_10(found: list[str], relevant: dict[str, int]) -> float:
    gain = sum(relevant.get(document, 0) / math.log2(rank + 1) for rank, document in enumerate(found, 1))
    best = sorted(relevant.values(), reverse=True)[:DEPTH]
    return gain / sum(grade / math.log2(rank + 1) for rank, grade in enumerate(best, 1))


def quote(words: list[str], joiner: str) -> str:
    return joiner.join(f'"{word}"' for word in words)


def arms(documents: list[Document], folder: Path) -> dict[str, Search]:
    def by_words(text: str) -> list[str]:
        words = re.findall(r"\w+", text)
        return [quote(words, " AND "), quote(words, " OR ")]

    # FTS5 splits terms again, so each goes in as one word of letters: its UTF-8 in hexadecimal.
    def hexed(text: str) -> str:
        return " ".join(f"x{term.encode().hex()}" for term in analyse(text))

    def by_terms(text: str) -> list[str]:
        return [quote([f"x{term.encode().hex()}" for term in analyse_query(text).terms], " OR ") or '""']

    return {
        "recollect": through_recollect(documents, folder),
        "fts5, our terms": through_fts5(documents, hexed, by_terms),
        "fts5, AND then OR": through_fts5(documents, str, by_words),
    }


def main(split: str = "test") -> None:
    print(f"{'set':<10}{'arm':<20}{'queries':>8}{'recall@10':>11}{'nDCG@10':>9}")
    for name in SETS:
        documents, questions = list(read_documents(name)), read_questions(name, split)
        with tempfile.TemporaryDirectory() as folder:
            for arm, search in arms(documents, Path(folder)).items():
                found = [(search(question), question.relevant) for question in questions]
                recalled = sum(recall_at_10(*pair) for pair in found) / len(found)
                ndcg = sum(ndcg_at_10(*pair) for pair in found) / len(found)
                print(f"{name:<10}{arm:<20}{len(found):>8}{recalled:>11.4f}{ndcg:>9.4f}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:2])
