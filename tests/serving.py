"""A server with people in it, as the examples of the documentation have it, and clients that act for them."""

import hashlib
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

import httpx2
import uvicorn
from fastapi.testclient import TestClient

from fakes import ToyEmbedder
from making import wait_until
from recollect.api import examples
from recollect.api.app import create_app
from recollect.api.connection import PatientProtocol
from recollect.api.limits import Limits
from recollect.config import read_config
from recollect.core.access import ApiKey, Caller, KeyScope
from recollect.service.access import issue_key
from recollect.service.gate import Gates
from recollect.service.server import Server
from recollect.stores.postgres.audit import PostgresLog
from recollect.stores.postgres.store import PostgresStore
from recollect.wiring import open_server

FREE = Limits(requests_per_second=0, recalls_at_once=0)
"""No limits but those of size: a test of something else is not to run into them."""

_UNREACHED = Server(None, None, None, None, None, None)  # type: ignore[arg-type] # nothing is asked of it
DOCUMENT: dict[str, Any] = create_app(_UNREACHED).openapi()
"""The OpenAPI document."""


def open_test_server(url: str) -> Server:
    return open_server(replace(read_config({}), database=url))


@dataclass
class World:
    """A server, and the tokens of those who are there."""

    server: Server
    tokens: dict[str, str] = field(default_factory=dict)

    def add_person(self, person: str, *, admin: bool = False, scope: KeyScope = "admin") -> None:
        self.server.open_directory(None).make_person(person, admin=admin)
        self.add_key(person, scope)

    def add_key(self, person: str, scope: KeyScope, name: str = "", **more: Any) -> str:  # noqa: ANN401
        directory = self.server.open_directory(None)
        _, token = issue_key(directory, self.server.clock, None, name="test", scope=scope, person=person, **more)
        self.tokens[name or person] = token
        return token

    def flush_log(self) -> None:
        """Have everything that was read stand in the log."""
        assert isinstance(self.server.log, PostgresLog)
        self.server.log.flush()

    def headers(self, name: str) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.tokens[name]}"}


def populate(world: World) -> None:
    """Have everybody and everything there that the examples speak of."""
    world.add_person(examples.ADA, admin=True)
    world.add_person(examples.BEN)
    directory = world.server.open_directory(None)
    for space in (examples.CREW, examples.OLD_TEAM):
        directory.make_space(space, examples.ADA)
    directory.set_member(examples.CREW, examples.BEN, "writer")
    now = datetime.now(UTC)
    key = ApiKey(examples.KEY, examples.ADA, "laptop", "write", None, now, None, None, None)
    directory.add_key(key, hashlib.sha256(b"nobody knows").digest())


def populate_memories(client: "Client") -> None:
    """Keep what the examples speak of, and say how it hangs together."""
    shared = {"space": examples.CREW, "project": examples.PROJECT, "category": "decisions"}
    for identity, content, more in (
        (examples.TUESDAYS, examples.CONTENT, {"session": examples.SESSION, "place": 4, "importance": 0.8}),
        (examples.FRIDAYS, "Deploys run on Fridays; anybody may.", {}),
        (examples.PLAN, "The release plan.\nDeploy, watch, tell the team.", {}),
        (examples.FORGOTTEN, "Deploys are frozen in August.", {}),
    ):
        client.ok("POST", "/v1/memories", 201, json={"id": identity, "content": content, **shared, **more})
    for kind, target in (("supersedes", examples.FRIDAYS), ("part-of", examples.PLAN)):
        link = {"space": examples.CREW, "source": examples.TUESDAYS, "kind": kind, "target": target}
        client.ok("POST", "/v1/links", json=link)
    client.ok("DELETE", f"/v1/memories/{examples.FORGOTTEN}", params={"space": examples.CREW})


class Client:
    """Somebody's way to a server: requests with their key on them, answers as data."""

    def __init__(self, http: httpx2.Client, headers: Mapping[str, str]) -> None:
        self.http = http
        self.headers = dict(headers)

    def ask(self, method: str, path: str, **more: Any) -> httpx2.Response:  # noqa: ANN401 - as httpx takes it
        headers = {**self.headers, **more.pop("headers", {})}
        return self.http.request(method, path, headers=headers, **more)

    def ok(self, method: str, path: str, status: int = 200, **more: Any) -> Any:  # noqa: ANN401 - JSON
        answer = self.ask(method, path, **more)
        assert answer.status_code == status, (answer.status_code, answer.text)
        return answer.json() if answer.content else None

    def refused(self, method: str, path: str, status: int, **more: Any) -> dict[str, Any]:  # noqa: ANN401
        """Give the problem that a request is answered with."""
        answer = self.ask(method, path, **more)
        assert answer.status_code == status, (answer.status_code, answer.text)
        assert answer.headers["content-type"] == "application/problem+json"
        problem: dict[str, Any] = answer.json()
        assert problem["status"] == status
        assert problem["type"].startswith("urn:recollect:")
        assert problem["title"]
        return problem

    def keep(self, content: str, **more: Any) -> str:  # noqa: ANN401 - JSON
        kept: dict[str, Any] = self.ok("POST", "/v1/memories", 201, json={"content": content, **more})
        return str(kept["id"])

    def recall(self, query: str, **more: Any) -> list[dict[str, Any]]:  # noqa: ANN401 - JSON
        found: list[dict[str, Any]] = self.ok("POST", "/v1/recall", json={"query": query, **more})["results"]
        return found


@contextmanager
def in_process(server: Server, limits: Limits = FREE) -> Iterator[TestClient]:
    with TestClient(create_app(server, limits), raise_server_exceptions=True) as http:
        yield http


@contextmanager
def over_network(server: Server, limits: Limits = FREE, **config: Any) -> Iterator[str]:  # noqa: ANN401 - uvicorn's
    """Serve on a port of this machine, in a thread; give the address."""
    settings = uvicorn.Config(
        create_app(server, limits), host="127.0.0.1", port=0, log_config=None, http=PatientProtocol, **config
    )
    running = uvicorn.Server(settings)
    thread = threading.Thread(target=running.run, name="test server")
    thread.start()
    try:
        wait_until(lambda: running.started)
        port = running.servers[0].sockets[0].getsockname()[1]
        yield f"http://127.0.0.1:{port}"
    finally:
        running.should_exit = True
        thread.join()


@contextmanager
def open_embedded(server: Server, limits: Limits = FREE) -> Iterator[TestClient]:
    """Serve in this process, with a toy for whatever embedding model is named."""
    with in_process(with_toys(server), limits) as http:
        yield http


def with_toys(server: Server) -> Server:
    """Give a server that opens a toy for whatever embedding model is named."""
    gates = Gates(ToyEmbedder)

    def open_store(caller: Caller | None) -> PostgresStore:
        store = server.open_store(caller)
        assert isinstance(store, PostgresStore)
        return PostgresStore(store._database, embed_query=gates.embed_query, recall_query=gates.recall_query)  # noqa: SLF001

    return replace(server, gates=gates, open_store=open_store)


class ServerProcess:
    """`recollect serve` as an operator runs it, on a port that it found free."""

    def __init__(self, url: str, *options: str) -> None:
        environment = {**os.environ, "RECOLLECT_DATABASE_URL": url}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "recollect", "serve", "--port", "0", "--log-format", "text", *options],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.said: list[str] = []
        self._thread = threading.Thread(target=self._listen, name="stderr")
        self._thread.start()

    def _listen(self) -> None:
        assert self.process.stderr is not None
        self.said.extend(self.process.stderr)

    @property
    def output(self) -> str:
        return "".join(list(self.said))

    @property
    def address(self) -> str:
        """Wait until it serves, and give where."""
        pattern = re.compile(r"http://127\.0\.0\.1:\d+")
        wait_until(lambda: self.process.poll() is not None or pattern.search(self.output) is not None)
        found = pattern.search(self.output)
        assert found, self.output
        return found[0]

    def end(self, number: int = signal.SIGTERM) -> int:
        if self.process.poll() is None:
            self.process.send_signal(number)
        return self.wait()

    def wait(self) -> int:
        code = self.process.wait(60)
        self._thread.join()
        assert self.process.stderr is not None
        self.process.stderr.close()
        return code


@contextmanager
def serve_process(url: str, *options: str) -> Iterator[ServerProcess]:
    running = ServerProcess(url, *options)
    try:
        yield running
    finally:
        running.process.kill()
        running.wait()
