"""Server and worker are told to stop in the middle of their work: who was waiting is answered, and nothing is lost."""

import re
import signal
import socket
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from pathlib import Path
from urllib.parse import urlsplit

import httpx2

from faults import supervise
from making import id_of, make_memory, use_model, wait_until
from provider_server import serve as serve_model
from recollect.service.embed import BATCH
from recollect.stores.postgres.database import Database
from recollect.stores.postgres.store import PostgresStore
from serving import ServerProcess, serve_process
from watching import ask, await_waiting, held

TOKEN = re.compile(r"rk_[a-z2-7]{12}_[a-z2-7]{52}")


def test_a_server_that_is_stopped_finishes_what_it_was_asked(cloned_database: str) -> None:
    """After SIGTERM those whose writes still wait for the database are answered, and what they were told is true."""
    with serve_process(cloned_database) as process, ExitStack() as stack:
        parts = urlsplit(process.address)
        bodies = [{"id": id_of(number), "content": f"Memory {number}."} for number in range(1, 5)]
        http = stack.enter_context(_connect(process))
        pool = stack.enter_context(ThreadPoolExecutor(len(bodies)))
        with held(cloned_database, "SELECT FROM spaces FOR UPDATE"):
            asked = [pool.submit(http.post, "/v1/memories", json=body) for body in bodies]
            await_waiting(cloned_database, len(bodies))
            process.process.send_signal(signal.SIGTERM)
            wait_until(lambda: not _listens(parts.hostname or "", parts.port or 0))
        assert [each.result().status_code for each in asked] == [201] * len(bodies)
        assert process.wait() == 0
    kept = ask(cloned_database, "SELECT id::text FROM memories ORDER BY id")
    assert [identity for (identity,) in kept] == [body["id"] for body in bodies]


def test_a_server_that_is_stopped_does_not_wait_for_ever(cloned_database: str) -> None:
    """Whoever is not answered when the time for stopping is over is told to ask again, and not that it failed."""
    with serve_process(cloned_database, "--stop-seconds", "1") as process, ExitStack() as stack:
        http = stack.enter_context(_connect(process))
        pool = stack.enter_context(ThreadPoolExecutor(1))
        with held(cloned_database, "SELECT FROM spaces FOR UPDATE"):
            asked = pool.submit(http.post, "/v1/memories", json={"content": "Deploys run on Tuesdays."})
            await_waiting(cloned_database, 1)
            process.process.send_signal(signal.SIGTERM)
            answer = asked.result()
        assert (answer.status_code, answer.json()["type"]) == (503, "urn:recollect:not-ready")
        assert "stopping" in answer.json()["detail"]
        assert answer.headers["retry-after"] == "1"
        assert process.wait() == 0
        assert "Traceback" not in process.output


def _connect(process: ServerProcess) -> httpx2.Client:
    """Give a client with the first key, which the server prints before it listens."""
    address = process.address
    (token,) = TOKEN.findall(process.output)
    return httpx2.Client(base_url=address, timeout=60, headers={"Authorization": f"Bearer {token}"})


def _listens(host: str, port: int) -> bool:
    with socket.socket() as tried:
        return tried.connect_ex((host, port)) == 0


def test_a_worker_that_is_stopped_gives_back_its_job(cloned_database: str, tmp_path: Path) -> None:
    """After SIGTERM it keeps what it embedded and gives back the rest, for the next one; no text is sent twice."""
    count = BATCH + 10
    environment = {"RECOLLECT_DATABASE_URL": cloned_database, "RECOLLECT_HOME": str(tmp_path)}
    with serve_model() as provider, closing(Database.open(cloned_database)) as database, ExitStack() as stack:
        store = PostgresStore(database)
        use_model(store, f"openai:m@{provider.address}/openai/v1")
        store.memories.add([make_memory(number) for number in range(1, count + 1)])
        with held(cloned_database, "SELECT FROM outbox FOR UPDATE"):
            first = supervise(stack, tmp_path / "first.log", environment, "worker")
            await_waiting(cloned_database, 1)
            first.terminate()
            wait_until(lambda: "stopping" in first.said)
        assert first.wait() == 0
        assert ask(cloned_database, "SELECT count(*) FROM outbox") == [(count - BATCH,)]
        assert ask(cloned_database, "SELECT status::text FROM procrastinate_jobs") == [("todo",)]
        assert ask(cloned_database, "SELECT count(*) FROM procrastinate_workers") == [(0,)]
        second = supervise(stack, tmp_path / "second.log", environment, "worker")
        wait_until(lambda: ask(cloned_database, "SELECT count(*) FROM procrastinate_jobs") == [(0,)])
        assert second.end() == 0
        assert store.vectors.sets()[0].vectors == sum(len(asked["input"]) for asked in provider.asked) == count
