"""A process that recalls in two threads until its input ends, and checks that no answer mixes two models.

It says a model's name whenever the answers are by another one than before, "wrong" as soon as one is, and at the
end, as JSON, how many answers each model gave and what was wrong.
"""

import json
import sys
import threading
from collections import Counter
from dataclasses import dataclass, field

from fakes import BandedEmbedder
from making import make_query
from recollect.core.vectors import Vector
from recollect.service.gate import Gates
from recollect.service.recall import Recall, recall
from recollect.stores.sqlite.store import SqliteStore


class SlowEmbedder(BandedEmbedder):
    """Takes its time for a query, so that models are switched between its embedding and the search."""

    def embed_query(self, text: str, seconds: float) -> Vector:
        for number in range(200):
            self.vector(f"{text} {number}")
        return super().embed_query(text, seconds)


def make_models(queries: dict[str, str]) -> dict[str, BandedEmbedder]:
    """Give two models of one dimension: the cosines of one are all above 0.9, those of the other below -0.9."""
    return {
        "high": SlowEmbedder("high", axis=0, band=1, queries=queries),
        "low": SlowEmbedder("low", axis=1, band=-1, queries=queries),
    }


@dataclass
class Recaller:
    path: str
    queries: dict[str, str] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)
    answers: Counter[str] = field(default_factory=Counter)
    over: threading.Event = field(default_factory=threading.Event)
    lock: threading.Lock = field(default_factory=threading.Lock)
    last: str = ""

    def __post_init__(self) -> None:
        self.models = make_models(self.queries)
        self.store = SqliteStore(self.path, embed_query=Gates(self.models.__getitem__).embed_query)

    def run(self, thread: int) -> None:
        number = 0
        while not self.over.is_set() and not self.wrong:
            number += 1
            text = f"question {number} of thread {thread}"
            try:
                self.check(recall(self.store, make_query(text)))
            except Exception as error:  # noqa: BLE001 - whatever it is, no recall may fail
                self.wrong.append(f"{text} failed: {error!r}")
        if self.wrong:
            say("wrong")

    def check(self, answer: Recall) -> None:
        (dense,) = (leg for leg in answer.trace.answers if leg.leg == "dense")
        if dense.failure is not None or any("left out" in notice for notice in answer.notices):
            self.wrong.append(f"{answer.query.text}: {answer.notices}")
            return
        model = self.queries.pop(answer.query.text)
        scores = [self.models[model].band * hit.score for hit in dense.hits]
        if not scores or min(scores) <= 0.9:
            self.wrong.append(f"{answer.query.text}, embedded by {model}: {scores}")
        with self.lock:
            self.answers[model] += 1
            if model != self.last:
                self.last = model
                say(model)


def say(what: str) -> None:
    sys.stdout.write(f"{what}\n")
    sys.stdout.flush()


def main(path: str) -> None:
    recaller = Recaller(path)
    threads = [threading.Thread(target=recaller.run, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    sys.stdin.read()
    recaller.over.set()
    for thread in threads:
        thread.join()
    recaller.store.close()
    say(json.dumps({"answers": recaller.answers, "wrong": recaller.wrong}))


if __name__ == "__main__":
    main(sys.argv[1])
