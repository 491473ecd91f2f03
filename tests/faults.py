"""The server as its operator runs it, each part a process that is started again when it dies; and ways to kill them."""

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

import httpx2
import psycopg

from making import wait_until
from postgres import SETTINGS, open_folder
from provider_server import Provider
from provider_server import serve as serve_model
from recollect.stores.postgres.embedded import EmbeddedPostgres, free_port, start
from recollect.stores.postgres.migrate import upgrade
from serving import Client, World, open_test_server

Victim = Literal["server", "worker", "postgres", "backend"]
PERSON: Final = "ada"
RESTART_SECONDS: Final = 0.2
"""A service manager waits a little, too, before it starts anew what has just ended."""


class Supervised:
    """A process of ours that is started again whenever it ends, until it is told to."""

    def __init__(self, log: Path, environment: Mapping[str, str], *arguments: str) -> None:
        self.log = log
        self.starts = 0
        self._arguments = arguments
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("RECOLLECT_")}
        self._environment = {**inherited, **environment}
        self._stopping = threading.Event()
        self._process = self._launch()
        self._thread = threading.Thread(target=self._watch, name=f"supervisor of {arguments[0]}")
        self._thread.start()

    @property
    def said(self) -> str:
        return self.log.read_text()

    def kill(self) -> None:
        self._process.kill()

    def terminate(self) -> None:
        """Ask it to end, for good."""
        self._stopping.set()
        self._process.send_signal(signal.SIGTERM)

    def wait(self) -> int:
        """Wait for the end of one that was asked to."""
        self._thread.join(60)
        assert not self._thread.is_alive(), f"{self._arguments[0]} does not end"
        return self._process.wait()

    def end(self) -> int:
        self.terminate()
        return self.wait()

    def _launch(self) -> subprocess.Popen[bytes]:
        self.starts += 1
        with self.log.open("ab") as log:
            return subprocess.Popen(
                [sys.executable, "-m", "recollect", *self._arguments],
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )

    def _watch(self) -> None:
        while self._process.wait() is not None and not self._stopping.wait(RESTART_SECONDS):
            self._process = self._launch()
            # It may have been told to end just now, when there was nobody to hear.
            if self._stopping.is_set():
                self._process.send_signal(signal.SIGTERM)


@dataclass
class Estate:
    """A durable Postgres, an embedding model, a server and a worker, and somebody who may do everything."""

    postgres: EmbeddedPostgres
    provider: Provider
    address: str
    token: str
    server: Supervised
    worker: Supervised

    @property
    def model(self) -> str:
        return f"openai:m@{self.provider.address}/openai/v1"

    @contextmanager
    def client(self) -> Iterator[Client]:
        # Loading certificates takes longer than most requests, and nobody looks at them here.
        with httpx2.Client(base_url=self.address, timeout=60, verify=False) as http:
            yield Client(http, {"Authorization": f"Bearer {self.token}"})

    def await_answer(self, method: str, path: str, **more: Any) -> None:  # noqa: ANN401 - as httpx takes it
        """Wait until a request is answered with 200."""
        with self.client() as client:
            wait_until(lambda: _succeeds(client, method, path, **more), 120)

    def use_model(self) -> None:
        """Have everything embedded from now on, and found by it."""
        with self.client() as client:
            client.ok("POST", "/v1/vector-sets", json={"model": self.model})
            client.ok("PUT", "/v1/vector-sets/active", json={"model": self.model})

    def strike(self, victims: Collection[Victim], chance: random.Random) -> None:
        """Kill some parts with SIGKILL at once; Postgres, if it died as a whole, is started again."""
        if "backend" in victims:
            self._kill_backend(chance)
        if "postgres" in victims:
            self.postgres.kill()
        if "server" in victims:
            self.server.kill()
        if "worker" in victims:
            self.worker.kill()
        self.postgres.start_again()

    def _kill_backend(self, chance: random.Random) -> None:
        """Kill one process of Postgres, as a system out of memory does: it ends all of them and recovers by itself."""
        with psycopg.connect(self.postgres.url, autocommit=True) as connection:
            pids = connection.execute(
                "SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() "
                "ORDER BY pid"
            ).fetchall()
        os.kill(chance.choice(pids)[0], signal.SIGKILL)


@dataclass
class Outages:
    """When requests may fail: from a kill on until the server has answered again."""

    spans: list[list[float]] = field(default_factory=list)

    @contextmanager
    def span(self) -> Iterator[None]:
        self.spans.append([time.monotonic(), float("inf")])
        try:
            yield
        finally:
            self.spans[-1][1] = time.monotonic()

    def excuse(self, began: float, ended: float) -> bool:
        """Say whether a request of this time met one of them."""
        return any(first <= ended and began <= last for first, last in self.spans)


@contextmanager
def open_estate(folder: Path, settings: Mapping[str, str] = SETTINGS) -> Iterator[Estate]:
    """Start everything, with a key for somebody who may do everything; logs go to the folder."""
    with ExitStack() as stack:
        home = stack.enter_context(open_folder())
        postgres = stack.enter_context(start(home, durable=True, settings=settings))
        upgrade(postgres.url)
        token = _make_admin(postgres.url)
        provider = stack.enter_context(serve_model())
        environment = {"RECOLLECT_DATABASE_URL": postgres.url, "RECOLLECT_HOME": str(folder)}
        port = free_port()
        # Clients here ask for all they can.
        serve = ("serve", "--port", str(port), "--rate", "0", "--recalls", "0")
        server = supervise(stack, folder / "server.log", environment, *serve)
        worker = supervise(stack, folder / "worker.log", environment, "worker")
        estate = Estate(postgres, provider, f"http://127.0.0.1:{port}", token, server, worker)
        estate.await_answer("GET", "/readyz")
        yield estate


def supervise(stack: ExitStack, log: Path, environment: Mapping[str, str], *arguments: str) -> Supervised:
    """Run a command of ours until the stack is unwound."""
    process = Supervised(log, environment, *arguments, "--log-format", "text")
    stack.callback(_finish, process)
    return process


def draw_strikes(kills: int, chance: random.Random) -> list[tuple[Victim, ...]]:
    """Give whom to kill, all about as often and in any order, now and then two at once."""
    kinds: Sequence[Victim] = ("server", "worker", "postgres")
    drawn: list[Victim] = [kinds[number % len(kinds)] for number in range(kills)]
    # Postgres dies in two ways, in turn.
    for number in range(drawn.count("postgres") // 2):
        drawn[6 * number + 5] = "backend"
    chance.shuffle(drawn)
    strikes: list[tuple[Victim, ...]] = []
    for victim in drawn:
        together = strikes and len(strikes[-1]) == 1 and strikes[-1][0] != victim and chance.random() < 0.3
        strikes[-1:] = [(*strikes[-1], victim)] if together else [*strikes[-1:], (victim,)]
    return strikes


def tell(line: str) -> None:
    sys.stdout.write(f"{line}\n")


def _succeeds(client: Client, method: str, path: str, **more: Any) -> bool:  # noqa: ANN401 - as httpx takes it
    try:
        return client.ask(method, path, **more).status_code == 200
    except httpx2.TransportError:
        # A process that is starting needs the processor more than who waits for it.
        threading.Event().wait(RESTART_SECONDS)
        return False


def _make_admin(url: str) -> str:
    server = open_test_server(url)
    try:
        world = World(server)
        world.add_person(PERSON, admin=True)
        return world.tokens[PERSON]
    finally:
        server.close()


def _finish(process: Supervised) -> None:
    """Leave nothing running, however the test ended."""
    process.terminate()
    process.kill()
    process.wait()
