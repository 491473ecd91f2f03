"""Clients of a server that dies under them: they write and read, try again, and remember what was acknowledged."""

import random
import threading
import time
import uuid
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Final

import httpx2

from faults import Estate
from recollect.core.hits import Ref
from serving import Client

TURNS: Final = 8
"""In a session."""
AGAIN_SECONDS: Final = 0.2
GIVES_UP: Final = 0.03
"""How often a client that got no answer never asks again, so that nobody knows what became of it."""
SENSITIVE: Final = 0.1
WORDS: Final = ("harbour", "lantern", "timetable", "winter", "ferry", "market", "bridge", "kettle")


@dataclass(frozen=True, slots=True)
class State:
    content: str
    is_gone: bool = False


@dataclass
class Known:
    """What a client knows of one of its memories."""

    ref: Ref
    name: str
    """A word that it alone has, in all of its states."""
    session: str
    place: int
    sensitive: bool
    acknowledged: list[State] = field(default_factory=list)
    """The states that it has been in, oldest first."""
    unknown: State | None = None
    """What it was asked to become without an answer; nothing was asked after that."""
    is_leaving: bool = False
    """Whether it is being forgotten."""

    @property
    def is_live(self) -> bool:
        return bool(self.acknowledged) and not self.is_leaving and self.unknown is None


@dataclass(frozen=True, slots=True)
class Failure:
    what: str
    began: float
    ended: float


@dataclass
class Tally:
    """What came of all requests."""

    answers: Counter[int] = field(default_factory=Counter)
    """By status."""
    failures: list[Failure] = field(default_factory=list)
    """Those that got no answer, or one of 500 and more."""
    wrong: list[str] = field(default_factory=list)
    """Whatever should never have been seen."""
    lock: threading.Lock = field(default_factory=threading.Lock)

    def count(self, status: int) -> None:
        with self.lock:
            self.answers[status] += 1

    def fail(self, failure: Failure) -> None:
        with self.lock:
            self.failures.append(failure)


class Caller:
    """A client's way to the server, which counts what comes of each request."""

    def __init__(self, client: Client, tally: Tally) -> None:
        self._client = client
        self._tally = tally

    def ask(self, method: str, path: str, **more: Any) -> httpx2.Response | None:  # noqa: ANN401 - as httpx takes it
        """Give the answer; none if there was none, or one that asks to try again."""
        began = time.monotonic()
        try:
            answer = self._client.ask(method, path, **more)
        except httpx2.TransportError as error:
            self._tally.fail(Failure(type(error).__name__, began, time.monotonic()))
            return None
        self._tally.count(answer.status_code)
        if answer.status_code >= 500:
            self._tally.fail(Failure(f"{answer.status_code} {answer.json()['type']}", began, time.monotonic()))
            if answer.status_code != 503 or "retry-after" not in answer.headers:
                self._tally.wrong.append(f"{method} {path}: {answer.status_code} {answer.text}")
            return None
        return answer


class Writer:
    """Stores, edits and forgets memories of one space, which nobody else writes to."""

    def __init__(self, caller: Caller, tally: Tally, space: str, seed: int) -> None:
        self.known: list[Known] = []
        self.retries = 0
        self.done_before = 0
        """How often a later try found that an earlier one, which got no answer, had been carried out."""
        self._caller = caller
        self._tally = tally
        self._space = space
        self._chance = random.Random(seed)
        self._numbers = count()
        self._pause = threading.Event()

    def run(self, stopping: threading.Event) -> None:
        while not stopping.is_set():
            live = [known for known in self.known[-100:] if known.is_live]
            deed = self._chance.random()
            if deed < 0.6 or not live:
                self._store()
            elif deed < 0.9:
                self._edit(self._chance.choice(live))
            else:
                self._forget(self._chance.choice(live))

    def _store(self) -> None:
        number = next(self._numbers)
        name = f"{self._space}{number}"
        session, place = divmod(number, TURNS)
        ref = Ref(self._space, str(uuid.UUID(int=self._chance.getrandbits(128), version=4)))
        known = Known(ref, name, f"{self._space} {session}", place, self._chance.random() < SENSITIVE)
        self.known.append(known)
        state = self._next(known)
        body = {
            "id": ref.id,
            "space": self._space,
            "content": state.content,
            "session": known.session,
            "place": place,
            "sensitive": known.sensitive,
        }
        self._see_through(known, state, "POST", "/v1/memories", json=body)

    def _edit(self, known: Known) -> None:
        state = self._next(known)
        body = {"content": state.content, "version": len(known.acknowledged)}
        self._see_through(known, state, "PATCH", f"/v1/memories/{known.ref.id}", json=body, params=self._params)

    def _forget(self, known: Known) -> None:
        known.is_leaving = True
        state = State(known.acknowledged[-1].content, is_gone=True)
        self._see_through(known, state, "DELETE", f"/v1/memories/{known.ref.id}", params=self._params)

    @property
    def _params(self) -> dict[str, str]:
        return {"space": self._space}

    def _next(self, known: Known) -> State:
        words = " ".join(self._chance.choices(WORDS, k=6))
        secret = "secret-" if known.sensitive else ""
        return State(f"Note {known.name} v{len(known.acknowledged) + 1}: {secret}{words}.")

    def _see_through(self, known: Known, state: State, method: str, path: str, **more: Any) -> None:  # noqa: ANN401
        """Ask, and ask the same again, until there is an answer or patience is over."""
        tries = 0
        while True:
            answer = self._caller.ask(method, path, **more)
            tries += 1
            if answer is not None and self._is_done(known, state, answer, tries):
                known.acknowledged.append(state)
                return
            if self._chance.random() < GIVES_UP:
                known.unknown = state
                return
            self.retries += 1
            self._pause.wait(AGAIN_SECONDS)

    def _is_done(self, known: Known, state: State, answer: httpx2.Response, tries: int) -> bool:
        """Read an answer; one that refuses what was tried before may mean that it was done then."""
        if answer.status_code in {200, 201}:
            # To store anew answers 201, and what is there already 200.
            self.done_before += len(known.acknowledged) == 0 and answer.status_code == 200
            return True
        if tries > 1 and answer.status_code in {404, 409}:
            now = self._caller.ask("GET", f"/v1/memories/{known.ref.id}", params={**self._params, "reveal": "true"})
            if now is None:
                return False
            shown = now.json()
            is_so = State(shown.get("content", ""), bool(shown.get("deleted_at"))) == state
            if is_so and shown["version"] == len(known.acknowledged) + 1:
                self.done_before += 1
                return True
        self._tally.wrong.append(f"{known} was to become {state}: {answer.status_code} {answer.text}")
        known.unknown = state
        return True


class Reader:
    """Recalls what writers were told is kept, and expects to find it."""

    def __init__(self, caller: Caller, tally: Tally, writers: Sequence[Writer], seed: int) -> None:
        self._caller = caller
        self._tally = tally
        self._writers = writers
        self._chance = random.Random(seed)

    def run(self, stopping: threading.Event) -> None:
        while not stopping.is_set():
            writer = self._chance.choice(self._writers)
            live = [known for known in writer.known[-200:] if known.is_live]
            if not live:
                stopping.wait(AGAIN_SECONDS)
                continue
            known = self._chance.choice(live)
            answer = self._caller.ask("POST", "/v1/recall", json={"query": known.name, "spaces": [known.ref.space]})
            if answer is None:
                stopping.wait(AGAIN_SECONDS)
            elif answer.status_code != 200:
                self._tally.wrong.append(f"recall: {answer.status_code} {answer.text}")
            elif known.ref.id not in {result["id"] for result in answer.json()["results"]} and known.is_live:
                self._tally.wrong.append(f"{known} was not recalled: {answer.text}")


@dataclass
class Load:
    writers: list[Writer]
    tally: Tally

    @property
    def known(self) -> list[Known]:
        return [known for writer in self.writers for known in writer.known]

    @property
    def acknowledged(self) -> int:
        return sum(len(known.acknowledged) for known in self.known)


@contextmanager
def run_load(estate: Estate, spaces: Sequence[str], readers: int, seed: int) -> Iterator[Load]:
    """Have a writer in each space, and readers, at work until the end of the block; all finish what they began."""
    tally = Tally()
    stopping = threading.Event()
    with ExitStack() as stack:
        callers = [Caller(stack.enter_context(estate.client()), tally) for _ in range(len(spaces) + readers)]
        writers = [Writer(callers.pop(), tally, space, seed + number) for number, space in enumerate(spaces)]
        reading = [Reader(caller, tally, writers, number) for number, caller in enumerate(callers)]
        threads = [threading.Thread(target=_work, args=(each, stopping, tally)) for each in (*writers, *reading)]
        for thread in threads:
            thread.start()
        try:
            yield Load(writers, tally)
        finally:
            stopping.set()
            for thread in threads:
                thread.join()


def _work(client: Writer | Reader, stopping: threading.Event, tally: Tally) -> None:
    try:
        client.run(stopping)
    except Exception as error:  # noqa: BLE001 - the test tells it
        tally.wrong.append(f"a client failed: {error!r}")
