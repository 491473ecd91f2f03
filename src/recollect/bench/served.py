"""The product as a server has it: a source in a Postgres, `recollect serve` over it, and questions asked over HTTP.

The server is a process of its own. It has been told nothing of the harness but the arm's settings, and embeds every
question itself.
"""

import hashlib
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Final

import httpx2

from recollect import wiring
from recollect.bench.errors import BenchError
from recollect.bench.load import Plan, Progress, fill
from recollect.bench.metrics import LIMIT
from recollect.bench.names import Names
from recollect.bench.respondent import Answer, Respondent
from recollect.bench.scratch import scratch_database
from recollect.bench.sources import Document, Question, Source
from recollect.config import read_config
from recollect.core.concepts import Relation
from recollect.core.settings import CONSTANTS, SETTINGS, Value
from recollect.service.access import issue_key
from recollect.stores.postgres.database import Database
from recollect.stores.postgres.migrate import upgrade
from recollect.stores.postgres.store import PostgresStore

_PERSON: Final = "harness"
_OK: Final = 200
_UNLIMITED: Final = ("--rate", "0", "--recalls", "0")
_START_SECONDS: Final = 120.0
_LOOK_SECONDS: Final = 0.1
_STOP_SECONDS: Final = 30.0
_ANSWER_SECONDS: Final = 660.0
"""Longer than any leg may take."""
_SAID: Final = 2000
"""Characters of what a server said last that are worth repeating."""


@contextmanager
def serve(
    plan: Plan, values: Mapping[str, Value], postgres: str, progress: Progress = lambda *_: None
) -> Iterator[Respondent]:
    """Load a source into a database of its own and serve it, as long as it is asked."""
    if fixed := [name for name in values if name in CONSTANTS]:
        raise BenchError(f"A server does not let one set {', '.join(fixed)}: vary that in another arm.")
    with ExitStack() as stack:
        url = stack.enter_context(scratch_database(postgres))
        names = stack.enter_context(closing(Names(Path(":memory:"))))
        corpus = _Renamed(plan.corpus)
        upgrade(url)
        token = _make_reader(url, sorted({each.space for each in corpus.documents()}))
        memories, octets = _load(replace(plan, corpus=corpus), values, url, names, progress)
        address = stack.enter_context(start_server(url))
        headers = {"Authorization": f"Bearer {token}"}
        client = stack.enter_context(_client(address, headers=headers, timeout=_ANSWER_SECONDS))
        yield Respondent(partial(ask, client), names, memories, octets)


def ask(client: httpx2.Client, question: Question) -> Answer:
    """Ask as a reader of one space does."""
    body = {"query": question.text, "spaces": [_space(question.space)], "limit": LIMIT, "before": question.before}
    reply = client.post("/v1/recall", json=body)
    if reply.status_code != _OK:
        raise BenchError(f"The server answered {question.id} with {reply.status_code}: {reply.text:.500}")
    answer: dict[str, Any] = reply.json()
    return Answer(tuple(each["id"] for each in answer["results"]), tuple(answer["notices"]))


@dataclass(frozen=True, slots=True)
class _Renamed:
    """A source under names that spaces of a server may have."""

    inside: Source

    @property
    def name(self) -> str:
        return self.inside.name

    @property
    def corpus(self) -> Source:
        return self

    def fingerprint(self) -> str:
        return self.inside.fingerprint()

    def documents(self) -> Iterator[Document]:
        return (replace(each, space=_space(each.space)) for each in self.inside.documents())

    def triples(self) -> Iterator[tuple[str, Relation]]:
        return self.inside.triples()

    def questions(self) -> Sequence[Question]:
        return [replace(each, space=_space(each.space)) for each in self.inside.questions()]


def _space(name: str) -> str:
    return f"set-{hashlib.sha256(name.encode()).hexdigest()[:16]}"


def _load(plan: Plan, values: Mapping[str, Value], url: str, names: Names, progress: Progress) -> tuple[int, int]:
    with closing(PostgresStore(Database.open(url, size=2))) as store:
        fill(store, plan, names, progress)
        for name in SETTINGS:
            if name in values:
                store.settings.set(name, values[name])
        return sum(count.memories for count in store.count()), store.size()


def _make_reader(url: str, spaces: Sequence[str]) -> str:
    """Make the spaces and somebody who may see them all, and give the token of a key that only reads."""
    config = replace(read_config(), database=url)
    with wiring.open_directory(config) as directory:
        directory.make_person(_PERSON)
        for space in spaces:
            directory.make_space(space, _PERSON)
        _, token = issue_key(directory, lambda: datetime.now(UTC), None, person=_PERSON, name="questions", scope="read")
    return token


@contextmanager
def start_server(url: str) -> Iterator[str]:
    """Start a server, give its address once it is ready, and stop it."""
    port = _free_port()
    address = f"http://127.0.0.1:{port}"
    options = ("--host", "127.0.0.1", "--port", str(port), "--log-level", "warning", *_UNLIMITED)
    command = [sys.executable, "-m", "recollect", "serve", *options]
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(  # noqa: S603 - the product itself
            command,
            env={**os.environ, "RECOLLECT_DATABASE_URL": url},
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=subprocess.STDOUT,
        )
        try:
            if not _becomes_ready(process, address):
                said.seek(max(0, said.tell() - _SAID))
                raise BenchError(f"`recollect serve` did not get ready: {said.read().decode(errors='replace').strip()}")
            yield address
        finally:
            process.terminate()
            try:
                process.wait(_STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _becomes_ready(process: subprocess.Popen[bytes], address: str) -> bool:
    end = time.monotonic() + _START_SECONDS
    with _client(address, headers={}, timeout=_STOP_SECONDS) as client:
        while process.poll() is None and time.monotonic() < end:
            try:
                if client.get("/readyz").status_code == _OK:
                    return True
            except httpx2.TransportError:
                pass
            time.sleep(_LOOK_SECONDS)
    return False


def _client(address: str, *, headers: Mapping[str, str], timeout: float) -> httpx2.Client:
    # It is on this machine, so no proxy stands between.
    return httpx2.Client(base_url=address, headers=dict(headers), timeout=timeout, trust_env=False)


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port
