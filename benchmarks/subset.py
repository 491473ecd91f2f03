"""Cuts evaluation sets down to what CI can embed in a few minutes: some scopes of one, the whole of a small one.

python benchmarks/subset.py ../shared/datasets build/datasets
"""

import gzip
import json
import shutil
import sys
from pathlib import Path
from typing import Any

SCOPES = {"realmem": ("Kenta_Tanaka", "Kim_Ji_young", "Lin_Wanyu")}
"""Three of RealMem's ten people: 1,369 memories, 447 questions."""
WHOLE = ("precisionmembench",)
FILES = ("corpus.jsonl.gz", "queries.jsonl.gz")


def main(source: Path, target: Path) -> None:
    for name, scopes in SCOPES.items():
        cut(source / name, target / name, frozenset(scopes))
    for name in WHOLE:
        (target / name).mkdir(parents=True, exist_ok=True)
        for file in (source / name).iterdir():
            shutil.copyfile(file, target / name / file.name)


def cut(source: Path, target: Path, scopes: frozenset[str]) -> None:
    target.mkdir(parents=True, exist_ok=True)
    kept = {file: [record for record in read(source / file) if record["scope"] in scopes] for file in FILES}
    for file, records in kept.items():
        # Without the time of writing, the same records are the same file.
        lines = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
        (target / file).write_bytes(gzip.compress(lines.encode(), mtime=0))
    asked = {record["id"] for record in kept["queries.jsonl.gz"]}
    judged = (source / "qrels.tsv").read_text(encoding="utf-8").splitlines(keepends=True)
    relevant = "".join(line for line in judged if line.split("\t")[0] in asked)
    (target / "qrels.tsv").write_text(relevant, encoding="utf-8")


def read(path: Path) -> list[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:3]))
