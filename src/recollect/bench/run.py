"""Asks every question of a set through the product's own recall, as an arm would have it."""

import hashlib
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from recollect.bench.arm_store import as_arm
from recollect.bench.arms import Arm, values_of
from recollect.bench.cache import CachedEmbedder
from recollect.bench.errors import LegMissing
from recollect.bench.fts5 import Fts5Leg
from recollect.bench.load import Loaded, Plan, Progress, load, store_path
from recollect.bench.metrics import LIMIT, measure
from recollect.bench.results import QueryResult, SetResult
from recollect.bench.sources import Part, Question
from recollect.core.ports import Leg, Reranker, Store
from recollect.core.query import Query, Scope
from recollect.core.settings import Settings, Value
from recollect.service.recall import Recall, recall

SEED: Final = 20260101
_SAMPLE: Final = 50
"""Queries that are embedded live, to know how long that takes."""
_PATIENT_SECONDS: Final = 60.0


@dataclass(frozen=True, slots=True)
class _Asked:
    question: Question
    found: tuple[str, ...]
    milliseconds: float
    missing: tuple[str, ...]


@dataclass
class Desk:
    """One source's questions with all that arms ask of them: stores and legs, opened when first needed."""

    part: Part
    folder: Path
    embedder: CachedEmbedder | None = None
    reranker: Reranker | None = None
    progress: Progress = lambda *_: None
    strict: bool = True
    """Whether a leg that fails ends the run: figures without it would pass for those of the whole."""
    wrap: Callable[[Leg], Leg] = lambda leg: leg
    """What to put around each leg."""
    _loaded: dict[Path, Loaded] = field(default_factory=dict)
    _legs: dict[tuple[Path, str], tuple[Leg, ...]] = field(default_factory=dict)
    _fts5: list[Fts5Leg] = field(default_factory=list)
    _embedding: dict[str, float] = field(default_factory=dict)

    def run(self, arm: Arm) -> SetResult:
        source = self.part.source
        values = values_of(arm, has_model=self.embedder is not None)
        path, loaded = self._load(arm)
        seed = SEED if arm.importance == "random" else None
        store = as_arm(loaded.store, values, legs=self._legs_of(arm, path, loaded), seed=seed)
        asks_meaning = bool(Settings(values).number("weight.dense"))
        if asks_meaning:
            self._embed_queries()
        asked = self._ask(store, values, arm)
        rankings = {each.question.id: loaded.names.documents(each.found) for each in asked}
        metrics = measure(self.part.questions, rankings)
        rows = tuple(
            QueryResult(
                source.name,
                each.question.id,
                each.question.stratum,
                metrics[each.question.id],
                rankings[each.question.id],
                each.milliseconds,
            )
            for each in asked
        )
        failures = Counter(what for each in asked for what in each.missing)
        return SetResult(
            source.name,
            source.fingerprint(),
            loaded.memories,
            loaded.octets,
            rows,
            self._embedding if asks_meaning else {},
            dict(failures),
        )

    def close(self) -> None:
        for leg in self._fts5:
            leg.close()
        for loaded in self._loaded.values():
            loaded.close()

    def _ask(self, store: Store, values: Mapping[str, Value], arm: Arm) -> list[_Asked]:
        asked = []
        what = f"{self.part.source.name} · {arm.name}"
        for number, question in enumerate(self.part.questions, 1):
            query = Query(question.text, Scope((question.space,), before=question.before), limit=LIMIT)
            began = time.perf_counter()
            answer = recall(store, query, self.reranker)
            milliseconds = (time.perf_counter() - began) * 1000
            missing = _left_out(answer, values)
            if missing and self.strict:
                raise LegMissing(
                    f"{what}: {'; '.join(missing)} (query {question.id}). Figures without it would pass for those of "
                    "the whole, so the run ends here; what was finished is kept."
                )
            # Of the answer only what is measured: thousands of traces would fill the memory.
            found = tuple(result.memory.id for result in answer.results)
            asked.append(_Asked(question, found, milliseconds, tuple(missing)))
            self.progress(what, number, len(self.part.questions))
        return asked

    def _load(self, arm: Arm) -> tuple[Path, Loaded]:
        plan = Plan(self.part.source.corpus, self.folder, self.embedder, alone=arm.vectors == "alone")
        path = store_path(plan)
        if path not in self._loaded:
            self._loaded[path] = load(plan, self.progress)
        return path, self._loaded[path]

    def _legs_of(self, arm: Arm, path: Path, loaded: Loaded) -> tuple[Leg, ...]:
        key = (path, arm.words)
        if key not in self._legs:
            legs: Sequence[Leg] = loaded.store.legs
            if arm.words == "fts5":
                fts5 = Fts5Leg(loaded.store, path.with_suffix(".fts5"))
                self._fts5.append(fts5)
                legs = [fts5 if leg.name == fts5.name else leg for leg in legs]
            self._legs[key] = tuple(map(self.wrap, legs))
        return self._legs[key]

    def _embed_queries(self) -> None:
        """Have every query's vector at hand, and know how long some of them take."""
        if self.embedder is None or self._embedding:
            return
        what = f"{self.part.source.name} · query vectors"
        for number, question in enumerate(self.part.questions, 1):
            self.embedder.embed_query(question.text, _PATIENT_SECONDS)
            self.progress(what, number, len(self.part.questions))
        for question in sorted(self.part.questions, key=lambda each: _digest(each.id))[:_SAMPLE]:
            began = time.perf_counter()
            self.embedder.embed_live(question.text, _PATIENT_SECONDS)
            self._embedding[question.id] = (time.perf_counter() - began) * 1000


def _left_out(answer: Recall, values: Mapping[str, Value]) -> list[str]:
    """Say what should have taken part in an answer and did not. A recall under measurement has nothing to add."""
    wanted = {leg for leg, weight in Settings(values).by_leg("weight").items() if weight}
    absent = wanted - {each.leg for each in answer.trace.answers}
    return [*(f"{leg} was not asked" for leg in sorted(absent)), *answer.notices]


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
