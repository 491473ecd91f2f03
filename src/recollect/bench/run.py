"""Asks every question of a set through the product's own recall, as an arm would have it."""

import hashlib
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from recollect.bench.arm_store import as_arm
from recollect.bench.arms import Arm, values_of
from recollect.bench.cache import CachedEmbedder
from recollect.bench.errors import BenchError, LegMissing
from recollect.bench.fts5 import Fts5Leg
from recollect.bench.graph import GraphLeg
from recollect.bench.load import Loaded, Plan, Progress, load, store_path
from recollect.bench.metrics import ENTERED, LIMIT, measure
from recollect.bench.respondent import Answer, Respondent
from recollect.bench.results import QueryResult, SetResult
from recollect.bench.sources import Part, Question
from recollect.core.ports import Leg, Reranker
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
    entered: int | None

    @property
    def ours(self) -> dict[str, float]:
        """Give what is known of the answer besides its ranking."""
        return {} if self.entered is None else {ENTERED: float(self.entered)}


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
    postgres: str | None = None
    """Where arms that need a Postgres make their databases."""
    _loaded: dict[Path, Loaded] = field(default_factory=dict)
    _legs: dict[tuple[Path, str], tuple[Leg, ...]] = field(default_factory=dict)
    _opened: ExitStack = field(default_factory=ExitStack)
    """All that has to be closed."""
    _embedding: dict[str, float] = field(default_factory=dict)

    def run(self, arm: Arm) -> SetResult:
        source = self.part.source
        values = values_of(arm, has_model=self.embedder is not None)
        with ExitStack() as stack:
            if arm.through == "server":
                respondent = stack.enter_context(self._serve(arm, values))
            else:
                respondent = self._open(arm, values)
            # A server embeds the questions itself.
            asks_meaning = arm.through == "library" and bool(Settings(values).number("weight.dense"))
            if asks_meaning:
                self._embed_queries()
            asked = self._ask(respondent, arm)
            rankings = {each.question.id: respondent.names.documents(each.found) for each in asked}
        metrics = measure(self.part.questions, rankings)
        rows = tuple(
            QueryResult(
                source.name,
                each.question.id,
                each.question.stratum,
                {**metrics[each.question.id], **each.ours},
                rankings[each.question.id],
                each.milliseconds,
            )
            for each in asked
        )
        failures = Counter(what for each in asked for what in each.missing)
        return SetResult(
            source.name,
            source.fingerprint(),
            respondent.memories,
            respondent.octets,
            rows,
            self._embedding if asks_meaning else {},
            dict(failures),
        )

    def close(self) -> None:
        self._opened.close()

    def _ask(self, respondent: Respondent, arm: Arm) -> list[_Asked]:
        asked = []
        what = f"{self.part.source.name} · {arm.name}"
        for number, question in enumerate(self.part.questions, 1):
            began = time.perf_counter()
            found, missing, entered = respondent.ask(question)
            milliseconds = (time.perf_counter() - began) * 1000
            if missing and self.strict:
                raise LegMissing(
                    f"{what}: {'; '.join(missing)} (query {question.id}). Figures without it would pass for those of "
                    "the whole, so the run ends here; what was finished is kept."
                )
            asked.append(_Asked(question, found, milliseconds, missing, entered))
            self.progress(what, number, len(self.part.questions))
        return asked

    def _open(self, arm: Arm, values: Mapping[str, Value]) -> Respondent:
        """Give the product in this process, as an arm would have it."""
        path, loaded = self._load(arm)
        seed = SEED if arm.importance == "random" else None
        store = as_arm(loaded.store, values, legs=self._legs_of(arm, path, loaded), seed=seed)

        def ask(question: Question) -> Answer:
            query = Query(question.text, Scope((question.space,), before=question.before), limit=LIMIT)
            answer = recall(store, query, self.reranker)
            # Of the answer only what is measured: thousands of traces would fill the memory.
            found = tuple(result.memory.id for result in answer.results)
            return Answer(found, _left_out(answer, values), _entered(answer, found))

        return Respondent(ask, loaded.names, loaded.memories, loaded.octets)

    def _serve(self, arm: Arm, values: Mapping[str, Value]) -> AbstractContextManager[Respondent]:
        """Give the product as a server has it."""
        with _needs_server():
            from recollect.bench.served import serve
        return serve(self._plan(arm), values, self._postgres(), self.progress)

    def _plan(self, arm: Arm) -> Plan:
        return Plan(
            self.part.source.corpus,
            self.folder,
            self.embedder,
            alone=arm.vectors == "alone",
            triples=arm.concepts == "triples",
        )

    def _load(self, arm: Arm) -> tuple[Path, Loaded]:
        plan = self._plan(arm)
        path = store_path(plan)
        if path not in self._loaded:
            self._loaded[path] = self._opened.enter_context(closing(load(plan, self.progress)))
        return path, self._loaded[path]

    def _legs_of(self, arm: Arm, path: Path, loaded: Loaded) -> tuple[Leg, ...]:
        key = (path, f"{arm.words}, {arm.graph}")
        if key not in self._legs:
            words = self._words_of(arm, path, loaded)
            legs = [leg if words is None or leg.name != words.name else words for leg in loaded.store.legs]
            if arm.graph != "stage":
                legs.append(GraphLeg(loaded.store, tuple(legs), base=arm.graph == "leg with the base"))
            self._legs[key] = tuple(map(self.wrap, legs))
        return self._legs[key]

    def _words_of(self, arm: Arm, path: Path, loaded: Loaded) -> Leg | None:
        """Give the words leg that an arm has instead of the product's."""
        if arm.words == "fts5":
            return self._opened.enter_context(closing(Fts5Leg(loaded.store, path.with_suffix(".fts5"))))
        if arm.words == "ts_rank":
            with _needs_server():
                from recollect.bench.scratch import scratch_database
                from recollect.bench.tsrank import TsRankLeg
            url = self._opened.enter_context(scratch_database(self._postgres()))
            return self._opened.enter_context(closing(TsRankLeg(loaded.store, url)))
        return None

    def _postgres(self) -> str:
        if self.postgres is None:
            raise BenchError(
                "This arm needs a Postgres to make databases in: measure it by `bench run --database URL`."
            )
        return self.postgres

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


@contextmanager
def _needs_server() -> Iterator[None]:
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("recollect"):
            raise
        raise BenchError(f"This arm needs {error.name}: pip install 'recollect[server]' brings it.") from error


def _entered(answer: Recall, found: Sequence[str]) -> int:
    """Count what stands in an answer and in no leg's."""
    fused = next(stage.ranking for stage in answer.trace.stages if stage.name == "fusion")
    return len(set(found) - {item.ref.id for item in fused})


def _left_out(answer: Recall, values: Mapping[str, Value]) -> tuple[str, ...]:
    """Say what should have taken part in an answer and did not. A recall under measurement has nothing to add."""
    wanted = {leg for leg, weight in Settings(values).by_leg("weight").items() if weight}
    absent = wanted - {each.leg for each in answer.trace.answers}
    return (*(f"{leg} was not asked" for leg in sorted(absent)), *answer.notices)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
