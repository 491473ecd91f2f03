"""What a prompt would be given: whether it holds what answers it, and how often it is rightly nothing.

Three kinds of prompts are put to each set through the product's own choice (`service/inject.py`): its questions, its
questions without an answer, and prompts that have nothing to do with it, taken from the queries of other sets. Each is
asked as a hook has it by itself, by words, and as it has it beside a running `recollect mcp`, by meaning too.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

import numpy as np

from recollect.bench.arm_store import as_arm
from recollect.bench.arms import HARNESS
from recollect.bench.campaign import open_embedder, open_source
from recollect.bench.datasets import Dataset, read_lines
from recollect.bench.errors import BenchError
from recollect.bench.load import Loaded, Plan, Progress, load
from recollect.bench.significance import Interval, summarise
from recollect.bench.sources import Split, split_of
from recollect.core.ports import Leg, Store
from recollect.core.query import Scope
from recollect.core.relevance import stand
from recollect.service.inject import HURRIED, read_prompt, weigh_results
from recollect.service.recall import recall
from recollect.stores.sqlite.dense import DenseLeg
from recollect.stores.sqlite.ordinary import AboveOrdinary

SETS: Final = ("locomo", "beam_100k")
FOREIGN: Final = ("banking77", "scifact")
UNRELATED: Final = 500
"""Prompts about something else, half of each foreign set."""
MEMORIES: Final = 5
TOKENS: Final = 1000
FLOORS: Final = tuple(number / 20 for number in range(61))
"""From giving whatever is found to three times as sure as the product is."""

Kind = Literal["answerable", "unanswerable", "unrelated"]
Way = Literal["words", "words and meaning"]


@dataclass(frozen=True, slots=True)
class Prompt:
    id: str
    text: str
    space: str
    kind: Kind
    before: int | None = None
    relevant: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Trial:
    """What one prompt brought: the best documents, how much speaks for each, and how long they are."""

    set: str
    way: Way
    prompt: Prompt
    found: tuple[str, ...]
    weights: tuple[float, ...]
    tokens: int

    def given(self, floor: float) -> tuple[str, ...]:
        standing = stand(self.weights, floor)
        return tuple(each for each, stands in zip(self.found, standing, strict=True) if stands)

    def recall(self, floor: float) -> float:
        return len(self.prompt.relevant.intersection(self.given(floor))) / len(self.prompt.relevant)


@dataclass(frozen=True, slots=True)
class Outcome:
    """How injection does on one set at one floor."""

    plain: Interval
    """Recall inside the best five, whatever speaks for them."""
    lost: Interval
    """How much of it the floor costs."""
    given: float
    """Memories given with a question, on average."""
    silent: Mapping[str, Interval]
    """How often nothing is given, by the kind of prompt and the set it comes from."""


def run_trials(
    datasets: Path, folder: Path, model: str, split: Split, progress: Progress = lambda *_: None
) -> list[Trial]:
    with open_embedder(model, folder) as embedder:
        trials: list[Trial] = []
        for name in SETS:
            source = Dataset(datasets / name)
            with closing(load(Plan(open_source(datasets, name), folder, embedder), progress)) as loaded:
                prompts = list(read_prompts(source, datasets, split))
                for way, store in _ways(loaded).items():
                    for number, prompt in enumerate(prompts, 1):
                        trials.append(_try(name, way, store, loaded, prompt))
                        progress(f"{name} · {way}", number, len(prompts))
        return trials


def read_prompts(source: Dataset, datasets: Path, split: Split) -> Iterator[Prompt]:
    questions = [each for each in source.questions() if split in {each.split, "all"}]
    if not questions:
        raise BenchError(f"{source.name} has no questions in the split {split}.")
    for each in questions:
        yield Prompt(each.id, each.text, each.space, "answerable", each.before, frozenset(each.relevant))
    for record in read_lines(source.folder / "unanswerable.jsonl.gz"):
        if split in {split_of(record["id"]), "all"}:
            yield Prompt(record["id"], record["text"], record["scope"], "unanswerable")
    spaces = sorted({each.space for each in questions})
    for number, (identity, text) in enumerate(_foreign(datasets, split)):
        yield Prompt(identity, text, spaces[number % len(spaces)], "unrelated")


def judge(trials: Sequence[Trial], name: str, way: Way, floor: float) -> Outcome:
    mine = [trial for trial in trials if (trial.set, trial.way) == (name, way)]
    asked = [trial for trial in mine if trial.prompt.kind == "answerable"]
    plain = np.array([[trial.recall(0.0)] for trial in asked])
    lost = np.array([[trial.recall(floor) - trial.recall(0.0)] for trial in asked])
    kinds: dict[str, list[Trial]] = {}
    for trial in mine:
        if trial.prompt.kind != "answerable":
            kinds.setdefault(trial.prompt.kind, []).append(trial)
        if trial.prompt.kind == "unrelated":
            kinds.setdefault(trial.prompt.id.partition("/")[0], []).append(trial)
    silent = {kind: np.array([[float(not each.given(floor))] for each in those]) for kind, those in kinds.items()}
    summary = summarise({"plain": plain, "lost": lost, **silent}).sets
    return Outcome(
        summary["plain"][0],
        summary["lost"][0],
        sum(len(trial.given(floor)) for trial in asked) / len(asked),
        {kind: summary[kind][0] for kind in silent},
    )


def _ways(loaded: Loaded) -> dict[Way, Store]:
    legs: list[Leg] = [AboveOrdinary(leg) if isinstance(leg, DenseLeg) else leg for leg in loaded.store.legs]
    return {
        "words": as_arm(loaded.store, {**HARNESS, **HURRIED, "weight.dense": 0.0}),
        "words and meaning": as_arm(loaded.store, {**HARNESS, **HURRIED}, legs=legs),
    }


def _try(name: str, way: Way, store: Store, loaded: Loaded, prompt: Prompt) -> Trial:
    scope = Scope((prompt.space,), before=prompt.before)
    query = read_prompt(prompt.text, scope, memories=MEMORIES, tokens=TOKENS, held=frozenset())
    if query is None:
        return Trial(name, way, prompt, (), (), 0)
    answer = recall(store, query)
    found = loaded.names.documents(tuple(result.memory.id for result in answer.results))
    return Trial(name, way, prompt, tuple(found), tuple(weigh_results(store, answer)), answer.tokens)


def _foreign(datasets: Path, split: Split) -> Iterator[tuple[str, str]]:
    """Give as many prompts of each foreign set, drawn by their ids alone."""
    for name in FOREIGN:
        ids = {f"{name}/{record['id']}": record["text"] for record in read_lines(datasets / name / "queries.jsonl.gz")}
        drawn = sorted(
            (each for each in ids if split in {split_of(each), "all"}),
            key=lambda each: hashlib.sha256(each.encode()).hexdigest(),
        )
        for each in drawn[: UNRELATED // len(FOREIGN)]:
            yield each, ids[each]
