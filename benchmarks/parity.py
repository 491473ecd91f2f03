"""Whether the server ranks as the laptop does.

    python benchmarks/parity.py --database postgresql://postgres@localhost/postgres
    python benchmarks/parity.py --database postgresql://postgres@localhost/postgres --through-api

The first keeps the same memories of realmem and locomo in SQLite and in Postgres, with vectors of a real model, and
asks both the same questions: the ten that each leg finds and the ten that recall serves should be the same ten in the
same order. Whatever is not is listed, with both scores.

The second asks all questions of locomo and scifact (test split) over HTTP, of `recollect serve` over Postgres, and
measures the answers with the harness, beside the laptop's and those of the recipe that the project started from.

The database is one to make others in; they are dropped again. The exit code is 1 if a bound is missed.
"""

import argparse
import hashlib
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from recollect.bench.arm_store import as_arm
from recollect.bench.arms import HARNESS, find_arm
from recollect.bench.campaign import Campaign, open_embedder, run_campaign
from recollect.bench.compare import Comparison, compare
from recollect.bench.datasets import Dataset, find_folder
from recollect.bench.load import Plan, fill
from recollect.bench.metrics import MEASURES, NDCG, RECALL_10
from recollect.bench.models import portable
from recollect.bench.names import Names
from recollect.bench.runs import Run
from recollect.bench.scratch import scratch_database
from recollect.bench.sources import Document, Question, Source
from recollect.bench.tables import MEAN, mark
from recollect.bench.verdict import say
from recollect.core.concepts import Relation
from recollect.core.ports import Embedder, EmbedQuery, Store
from recollect.core.query import Query, Scope
from recollect.service.gate import Gate
from recollect.service.recall import recall
from recollect.stores.postgres.database import Database
from recollect.stores.postgres.migrate import upgrade
from recollect.stores.postgres.store import PostgresStore
from recollect.stores.sqlite.store import SqliteStore

KEPT = ("realmem", "locomo")
ASKED = ("locomo", "scifact")
ARMS = ("default", "server", "seeds-postgres", "ts-rank")
TOP = 10
LEGS = ("lexical", "dense", "exact")
RECALL = "recall"
LEAST_SAME_WORDS = 0.99
LEAST_OVERLAP = 0.98
LARGEST_DIFFERENCE = 0.005
ROUNDING = 1.5e-6
"""Scores are rounded to the sixth digit: sums that were added in another order may fall to either side."""
PATIENT_SECONDS = 60.0


@dataclass(frozen=True)
class Mixed:
    """The first conversations of several sets, as many as make so many memories, each set giving alike."""

    folder: Path
    size: int
    name: str = "parity"

    @property
    def corpus(self) -> Source:
        return self

    def fingerprint(self) -> str:
        return f"{self.size}"

    def documents(self) -> Iterator[Document]:
        for each in KEPT:
            yield from islice(Dataset(self.folder / each).documents(), self.size // len(KEPT))

    def triples(self) -> Iterator[tuple[str, Relation]]:
        return iter(())

    def questions(self) -> Sequence[Question]:
        spaces = {each.space for each in self.documents()}
        return [
            question
            for each in KEPT
            for question in Dataset(self.folder / each).questions()
            if question.space in spaces
        ]


Found = list[tuple[str, float]]
"""Ids with their scores, best first."""


@dataclass(frozen=True)
class Pair:
    """What both stores found for one question."""

    question: Question
    laptop: Found
    server: Found

    @property
    def same(self) -> bool:
        return [each for each, _ in self.laptop] == [each for each, _ in self.server]

    @property
    def overlap(self) -> float:
        """Which part of the longer list the other has too; two empty lists are the same."""
        one, other = (dict(found).keys() for found in (self.laptop, self.server))
        longer = max(len(one), len(other))
        return len(one & other) / longer if longer else 1.0

    @property
    def apart(self) -> float:
        """By how much the two scores of one memory differ at most; a memory that only one found has no second."""
        other = dict(self.server)
        return max((abs(score - other[each]) for each, score in self.laptop if each in other), default=0.0)

    @property
    def by_rounding(self) -> bool:
        """Whether only memories changed places that score alike, but for a rounding."""
        places = zip(self.laptop, self.server, strict=False)
        moved = [(one, other) for one, other in places if one[0] != other[0]]
        return (
            len(self.laptop) == len(self.server)
            and self.apart <= ROUNDING
            and all(abs(one[1] - other[1]) <= ROUNDING for one, other in moved)
        )


def choose(questions: Sequence[Question], count: int) -> list[Question]:
    """Draw so many by their ids, the same every time."""
    return sorted(questions, key=lambda each: hashlib.sha256(each.id.encode()).hexdigest())[:count]


def ask_leg(store: Store, name: str) -> Callable[[Query], Found]:
    leg = next(each for each in store.legs if each.name == name)
    return lambda query: [(hit.ref.id, hit.score) for hit in leg.search(query, TOP, PATIENT_SECONDS)]


def ask_recall(store: Store) -> Callable[[Query], Found]:
    def ask(query: Query) -> Found:
        answer = recall(as_arm(store, HARNESS), query)
        assert not answer.notices, answer.notices
        return [(each.memory.id, each.score) for each in answer.results]

    return ask


def ask_both(laptop: Store, server: Store, questions: Sequence[Question]) -> dict[str, list[Pair]]:
    found: dict[str, list[Pair]] = {}
    for what in (*LEGS, RECALL):
        asks = [ask_recall(each) if what == RECALL else ask_leg(each, what) for each in (laptop, server)]
        found[what] = [
            Pair(question, *(ask(Query(question.text, scope_of(question), limit=TOP)) for ask in asks))
            for question in questions
        ]
    return found


def scope_of(question: Question) -> Scope:
    return Scope((question.space,), before=question.before)


def ask_stores(
    source: Source, questions: Sequence[Question], embedder: Embedder, database: str
) -> dict[str, list[Pair]]:
    """Keep the source in a store of either kind, and ask both."""
    gate = Gate(embedder)
    embed: EmbedQuery = lambda _model, text, seconds: gate.embed_query(text, seconds)  # noqa: E731
    with tempfile.TemporaryDirectory() as folder, scratch_database(database) as url:
        upgrade(url)
        with (
            closing(SqliteStore(str(Path(folder) / "parity.db"), embed_query=embed)) as laptop,
            closing(PostgresStore(Database.open(url), embed_query=embed)) as server,
        ):
            for each in (laptop, server):
                with closing(Names(Path(":memory:"))) as names:
                    fill(each, Plan(source, Path(folder), embedder), names)
            memories = [sum(count.memories for count in each.count()) for each in (laptop, server)]
            print(
                f"{memories[0]:,} memories in SQLite, {memories[1]:,} in Postgres, {len(questions)} questions in "
                f"{len({question.space for question in questions})} spaces, best {TOP}, {portable(embedder.model)}"
            )
            return ask_both(laptop, server, questions)


def compare_stores(options: argparse.Namespace) -> bool:
    source = Mixed(find_folder(options.datasets), options.memories)
    with open_embedder(options.model, Path(options.work)) as embedder:
        assert embedder is not None
        return show_stores(ask_stores(source, choose(source.questions(), options.queries), embedder, options.database))


def show_stores(found: dict[str, list[Pair]]) -> bool:
    print(f"{'':<8} {'same ten, same order':>22} {'overlap, mean':>14} {'least':>6} {'scores apart':>13}")
    for what, pairs in found.items():
        same = sum(pair.same for pair in pairs)
        overlaps = [pair.overlap for pair in pairs]
        apart = max(pair.apart for pair in pairs)
        print(
            f"{what:<8} {f'{same} of {len(pairs)} ({same / len(pairs):.1%})':>22} "
            f"{sum(overlaps) / len(overlaps):>14.4f} {min(overlaps):>6.2f} {apart:>13.1e}"
        )
    for what, pairs in found.items():
        for pair in pairs:
            if not pair.same:
                show_difference(what, pair)
    words, served = found["lexical"], found[RECALL]
    unexplained = [pair for pair in words if not (pair.same or pair.by_rounding)]
    return (
        sum(pair.same for pair in words) >= LEAST_SAME_WORDS * len(words)
        and not unexplained
        and sum(pair.overlap for pair in served) >= LEAST_OVERLAP * len(served)
    )


def show_difference(what: str, pair: Pair) -> None:
    why = "scores alike but for the last digit" if pair.by_rounding else "other scores"
    print(f"\n{what}, {pair.question.id} ({pair.question.text!r:.80}): {why}")
    for place, (one, other) in enumerate(zip(pair.laptop, pair.server, strict=False), 1):
        if one[0] != other[0]:
            print(f"  {place:>2}  laptop {one[0][:8]} {one[1]:.6f}   server {other[0][:8]} {other[1]:.6f}")
    if len(pair.laptop) != len(pair.server):
        print(f"  laptop found {len(pair.laptop)}, server {len(pair.server)}")


def compare_quality(options: argparse.Namespace) -> bool:
    """Ask the questions of whole sets in four ways: of the laptop, of the server, and by the common recipe."""
    campaign = Campaign(
        find_folder(options.datasets),
        Path(options.work),
        tuple(options.sets),
        tuple(map(find_arm, ARMS)),
        model=options.model,
        name=options.name,
        fresh=True,
        postgres=options.database,
    )
    return show_runs(*run_campaign(campaign))


def show_runs(laptop: Run, server: Run, *recipes: Run) -> bool:
    print(f"The server beside the laptop, test split; no mean may differ by more than {LARGEST_DIFFERENCE}")
    alike = compare(server, laptop)
    show_quality(alike, "laptop")
    tops = {(row.set, row.query): row.top for row in laptop.rows}
    for name in alike.sets:
        same = [row.top == tops[name, row.query] for row in server.rows if row.set == name]
        print(f"{name}: the same ten in the same order for {sum(same):,} of {len(same):,} questions")
    passed = all(
        abs(interval.mean) <= LARGEST_DIFFERENCE
        for summary in alike.differences.values()
        for (interval,) in summary.sets.values()
    )
    for run in recipes:
        print(f"\nThe server beside {run.arm}: {run.manifest['about']}; ▲ is clear of zero")
        better = compare(server, run)
        show_quality(better, run.arm)
        passed &= all(
            interval.above_zero
            for measure in (RECALL_10, NDCG)
            for (interval,) in better.differences[measure].sets.values()
        )
    return passed


def show_quality(comparison: Comparison, other: str) -> None:
    print(f"{'set':<14} {'measure':<12} {'queries':>7} {'server':>7} {other:>15} {'difference':>28}")
    for measure in MEASURES:
        if measure not in comparison.differences:
            continue
        of_a, of_b, less = (each[measure] for each in (comparison.of_a, comparison.of_b, comparison.differences))
        for name in (*less.sets, *([MEAN] if len(less.sets) > 1 else [])):
            a, b, gap = (each.mean[0] if name == MEAN else each.sets[name][0] for each in (of_a, of_b, less))
            queries = sum(measure in row.metrics and name in {row.set, MEAN} for row in comparison.a.rows)
            print(f"{name:<14} {measure:<12} {queries:>7,} {a.mean:>7.4f} {b.mean:>15.4f} {say(gap):>28}{mark(gap)}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--database", required=True, help="a Postgres to make databases in")
    parser.add_argument("--datasets", help="the folder of the sets; ../shared/datasets")
    parser.add_argument("--model", default="../shared/models/all-MiniLM-L6-v2", help="what to embed with")
    parser.add_argument("--work", default="build/bench", help="where vectors and runs are kept")
    parser.add_argument("--memories", type=int, default=5000)
    parser.add_argument("--queries", type=int, default=500)
    parser.add_argument("--through-api", action="store_true", help="measure quality over HTTP instead")
    parser.add_argument("--set", dest="sets", action="append", help="with --through-api: a set; locomo and scifact")
    parser.add_argument("--name", default="parity", help="with --through-api: what to call the runs")
    options = parser.parse_args()
    options.sets = options.sets or list(ASKED)
    passed = compare_quality(options) if options.through_api else compare_stores(options)
    print("\nWithin bounds." if passed else "\nOut of bounds.")
    return int(not passed)


if __name__ == "__main__":
    sys.exit(main())
