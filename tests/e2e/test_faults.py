"""Server, worker and Postgres die under load, or Postgres stays away: nothing that was acknowledged is lost.

`RECOLLECT_FAULT_KILLS` says how many kills there are, `RECOLLECT_FAULT_SECONDS` how long Postgres stays away; 30 of
each take some minutes. `RECOLLECT_FAULT_SEED` draws others. The figures are shown by `pytest -rP`.
"""

import os
import random
import statistics
import threading
import time
from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fault_checks import check_memories, check_requests, check_vectors, left_to_do
from fault_clients import Load, run_load
from faults import Estate, Outages, Victim, draw_strikes, open_estate, tell
from making import id_of, wait_until
from recollect.stores.postgres.database import WAIT_SECONDS

KILLS = int(os.environ.get("RECOLLECT_FAULT_KILLS", "6"))
SECONDS = float(os.environ.get("RECOLLECT_FAULT_SECONDS", "3"))
SEED = int(os.environ.get("RECOLLECT_FAULT_SEED", "7"))
SPACES = ("ash", "birch", "cedar", "dogwood")


def test_kills_under_load_lose_and_double_nothing(tmp_path: Path) -> None:
    """Whatever is killed while people write and read, what was acknowledged stands, once, and is embedded as it is."""
    chance = random.Random(SEED)
    downtime: dict[str, list[float]] = {}
    with open_estate(tmp_path) as estate:
        with estate.client() as client:
            for space in SPACES:
                client.ok("POST", "/v1/spaces", 201, json={"id": space})
            # What somebody asks for by its name is to come first: the vectors of this model say nothing.
            client.ok("PATCH", "/v1/settings", json={"weight.dense": 0.1, "context": 0})
        estate.use_model()
        outages = Outages()
        began = time.monotonic()
        with run_load(estate, SPACES, readers=2, seed=SEED) as load:
            for victims in draw_strikes(KILLS, chance):
                _await_writes(load, chance.randrange(10, 40))
                downtime.setdefault(" and ".join(sorted(victims)), []).append(_strike(estate, outages, victims, chance))
            # What comes after the last of them is without fault again.
            _await_writes(load, 40)
        loaded = time.monotonic() - began
        wait_until(lambda: left_to_do(estate) == 0, 120)
        drained = time.monotonic() - began - loaded
        check_requests(load.tally, outages)
        check_memories(estate, load.known)
        check_vectors(estate)
        assert [estate.server.end(), estate.worker.end()] == [0, 0]
    _report(load, estate, downtime, loaded, drained)


@dataclass(frozen=True, slots=True)
class Told:
    """An answer to a request that was made while the database was away."""

    path: str
    status: int
    seconds: float
    headers: Mapping[str, str]
    body: dict[str, Any]


def test_a_database_that_stays_away(tmp_path: Path) -> None:
    """Meanwhile requests get 503 with a reason, soon; when it is back all goes on, and nothing was restarted."""
    with open_estate(tmp_path) as estate, estate.client() as client:
        estate.use_model()
        kept = [client.keep("Deploys run on Tuesdays.")]
        wait_until(lambda: left_to_do(estate) == 0)
        new = {"id": id_of(1), "content": "Deploys run on Fridays."}
        asks: tuple[tuple[str, str, dict[str, Any] | None], ...] = (
            ("POST", "/v1/recall", {"query": "deploys"}),
            ("POST", "/v1/memories", new),
            ("PATCH", "/v1/settings", {"limit": 3}),
            ("GET", "/readyz", None),
            ("GET", "/healthz", None),
        )
        over = threading.Event()
        with ThreadPoolExecutor(len(asks)) as pool:
            estate.postgres.kill()
            asking = [pool.submit(_ask_until, estate, over, *each) for each in asks]
            over.wait(SECONDS)
            over.set()
            told = [each for asked in asking for each in asked.result()]
        estate.postgres.start_again()
        began = time.monotonic()
        estate.await_answer("POST", "/v1/recall", json={"query": "deploys"})
        back = time.monotonic() - began
        kept.append(client.ok("POST", "/v1/memories", 201, json=new)["id"])
        assert {found["id"] for found in client.recall("deploys")} == set(kept)
        wait_until(lambda: left_to_do(estate) == 0)
        embedded = time.monotonic() - began
        check_vectors(estate)
        assert (estate.server.starts, estate.worker.starts) == (1, 1)
    _check_told(told)
    slowest = {path: max(each.seconds for each in told if each.path == path) for _, path, _ in asks}
    tell(f"away for {SECONDS:g} s: {len(told)} answers, the slowest {slowest}")
    tell(f"recalled again {back:.1f} s after it was back, embedded again after {embedded:.1f} s")


def _ask_until(
    estate: Estate, over: threading.Event, method: str, path: str, body: dict[str, Any] | None
) -> list[Told]:
    told: list[Told] = []
    with estate.client() as client:
        while not told or not over.wait(0.05):
            began = time.monotonic()
            answer = client.ask(method, path, json=body)
            seconds = time.monotonic() - began
            told.append(Told(path, answer.status_code, seconds, dict(answer.headers), answer.json()))
    return told


def _check_told(told: Sequence[Told]) -> None:
    for each in told:
        if each.path == "/healthz":
            assert (each.status, each.seconds < WAIT_SECONDS) == (200, True), each
            continue
        assert each.status == 503, each
        assert each.headers["content-type"] == "application/problem+json"
        assert each.body["type"] in {"urn:recollect:store-away", "urn:recollect:not-ready"}
        assert "database cannot be reached" in each.body["detail"]
        assert int(each.headers["retry-after"]) >= 1
        # Once for a connection, and as long again for one that is found dead.
        assert each.seconds < 3 * WAIT_SECONDS, each


def _await_writes(load: Load, count: int) -> None:
    enough = load.acknowledged + count
    wait_until(lambda: load.acknowledged >= enough, 120)


def _strike(estate: Estate, outages: Outages, victims: Collection[Victim], chance: random.Random) -> float:
    """Kill, and wait until all works again; give how long that took."""
    sent = len(estate.provider.asked)
    began = time.monotonic()
    if set(victims) == {"worker"}:
        # Who stores and recalls is not to notice.
        estate.strike(victims, chance)
    else:
        with outages.span():
            estate.strike(victims, chance)
            estate.await_answer("POST", "/v1/recall", json={"query": "harbour"})
    if "worker" in victims:
        wait_until(lambda: _embeds(estate, sent), 60)
    return time.monotonic() - began


def _embeds(estate: Estate, since: int) -> bool:
    """Whether the model was asked for the vector of a memory."""
    return any(_is_memory(text) for asked in estate.provider.asked[since:] for text in asked["input"])


def _is_memory(text: str) -> bool:
    """Tell what a writer wrote from what a reader asks."""
    return text.startswith("Note ")


def _report(load: Load, estate: Estate, downtime: dict[str, list[float]], loaded: float, drained: float) -> None:
    known = load.known
    sent = [text for asked in estate.provider.asked for text in asked["input"] if _is_memory(text)]
    texts = sum("\n" not in text for text in sent)
    tell(f"{KILLS} kills in {loaded:.0f} s; the rest was embedded in {drained:.1f} s")
    tell(
        f"memories {len(known)}, acknowledged states {load.acknowledged}, left without an answer "
        f"{sum(each.unknown is not None for each in known)}, texts sent to the model {texts}"
    )
    tell(
        f"answers {dict(load.tally.answers)}, failures {len(load.tally.failures)}, "
        f"retries {sum(writer.retries for writer in load.writers)}, of which found it done "
        f"{sum(writer.done_before for writer in load.writers)}"
    )
    for kind, seconds in downtime.items():
        tell(f"{kind}: {len(seconds)} times, median {statistics.median(seconds):.1f} s, longest {max(seconds):.1f} s")
