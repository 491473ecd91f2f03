"""The server as its users run it: a process each for `serve`, `worker` and the embedding model, and a client."""

import http.client
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit, urlunsplit

import psutil  # type: ignore[import-untyped]
import psycopg

from pg_load import connect
from recollect.service.access import issue_key
from recollect.stores.postgres.database import Database
from recollect.stores.postgres.directory import PostgresDirectory
from recollect.stores.postgres.embedded import free_port

HOST: Final = "127.0.0.1"
_START_SECONDS: Final = 60.0
_STOP_SECONDS: Final = 60.0
_LOOK_SECONDS: Final = 0.05


@dataclass(frozen=True, slots=True)
class Running:
    port: int
    processes: Mapping[str, subprocess.Popen[bytes]]


class Client:
    """One connection that is kept alive, as agents keep theirs."""

    def __init__(self, port: int, token: str) -> None:
        self._connection = http.client.HTTPConnection(HOST, port, timeout=60)
        self._headers = {"authorization": f"Bearer {token}", "content-type": "application/json"}

    def post(self, path: str, body: Mapping[str, Any]) -> Any:  # noqa: ANN401 - whatever is answered
        self._connection.request("POST", path, json.dumps(body), self._headers)
        return json.loads(self._answer())

    def get(self, path: str) -> bytes:
        self._connection.request("GET", path, headers=self._headers)
        return self._answer()

    def _answer(self) -> bytes:
        response = self._connection.getresponse()
        answer = response.read()
        if response.status >= http.HTTPStatus.BAD_REQUEST:
            raise RuntimeError(f"{response.status}: {answer.decode(errors='replace')}")
        return answer

    def close(self) -> None:
        self._connection.close()


def find_backends(connection: psycopg.Connection[Any], name: str = "") -> list[psutil.Process]:
    """Give the processes of Postgres that serve others, or those of one name; none if it is on another machine."""
    rows = connection.execute(
        "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() "
        "AND %(name)s::text IN ('', application_name)",
        {"name": name},
    ).fetchall()
    return [psutil.Process(pid) for (pid,) in rows if psutil.pid_exists(pid)]


def busy_seconds(processes: Sequence[psutil.Process]) -> float:
    """Give the time that processes have had a core, which tells more than a clock where they have to share it."""
    return float(sum(sum(process.cpu_times()[:2]) for process in processes if process.is_running()))


@contextmanager
def open_database(server_url: str, name: str) -> Iterator[str]:
    """Make an empty database, give its address, and drop it in the end."""
    with closing(connect(server_url)) as connection:
        connection.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)'.encode())
        connection.execute(f'CREATE DATABASE "{name}"'.encode())
    try:
        yield urlunsplit(urlsplit(server_url)._replace(path=f"/{name}"))
    finally:
        with closing(connect(server_url)) as connection:
            connection.execute(f'DROP DATABASE "{name}" WITH (FORCE)'.encode())


@contextmanager
def open_postgres(url: str | None, settings: Mapping[str, str]) -> Iterator[str]:
    """Give the address of the server that is named, or of one that is there for the time being."""
    if url:
        yield url
        return
    from recollect.stores.postgres.embedded import start

    with tempfile.TemporaryDirectory(prefix="recollect-bench-") as folder:
        os.chmod(folder, 0o755)  # noqa: S103 - as root, Postgres runs as somebody else
        with start(Path(folder) / "postgres", settings=settings) as server:
            yield server.url


@contextmanager
def embedding_model(dimension: int, vectors: Path | None = None) -> Iterator[str]:
    """Run the embedding model that takes no time; give its name."""
    port = free_port()
    script = Path(__file__).parent / "embedding_server.py"
    command = [sys.executable, str(script), str(port), str(dimension), *([str(vectors)] if vectors else [])]
    with _process(command, {}) as process:
        _await(port, process)
        yield f"openai:benchmark@http://{HOST}:{port}/v1"


@contextmanager
def run_server(url: str, *, worker: bool = False, arguments: Sequence[str] = ()) -> Iterator[Running]:
    port = free_port()
    with ExitStack() as stack:
        home = stack.enter_context(tempfile.TemporaryDirectory(prefix="recollect-home-"))
        environment = {"RECOLLECT_DATABASE_URL": url, "RECOLLECT_HOME": home}
        # The benchmark asks with few keys, and for all it can.
        serve = ["serve", "--port", str(port), "--rate", "0", "--recalls", "0", "--log-level", "warning", *arguments]
        commands = {"server": serve} | ({"worker": ["worker", "--log-level", "warning"]} if worker else {})
        processes = {
            name: stack.enter_context(_process([sys.executable, "-m", "recollect", *command], environment))
            for name, command in commands.items()
        }
        _await(port, processes["server"])
        yield Running(port, processes)


def make_key(url: str, person: str) -> str:
    """Make a key for somebody who is there; give the token."""
    with closing(Database.open(url, size=1)) as database:
        now = datetime.now(UTC)
        directory = PostgresDirectory(database, lambda: now)
        return issue_key(directory, lambda: now, None, person=person, name="benchmark", scope="write")[1]


@contextmanager
def _process(command: Sequence[str], environment: Mapping[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("RECOLLECT_")}
    process = subprocess.Popen(command, env={**inherited, **environment}, stdin=subprocess.DEVNULL)
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _await(port: int, process: subprocess.Popen[bytes]) -> None:
    """Wait until somebody listens."""
    until = time.monotonic() + _START_SECONDS
    while time.monotonic() < until:
        if process.poll() is not None:
            raise RuntimeError(f"{process.args!r} ended before it listened")
        with closing(socket.socket()) as tried:
            if tried.connect_ex((HOST, port)) == 0:
                return
        time.sleep(_LOOK_SECONDS)
    raise RuntimeError(f"{process.args!r} does not listen after {_START_SECONDS:g} s")
