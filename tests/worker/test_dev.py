"""`recollect dev` and `recollect worker` as people start them: real processes, over HTTP, ended with nothing left."""

import re
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import psutil  # type: ignore[import-untyped]

from command_line import CommandLine
from making import id_of, make_memory, wait_until
from postgres import open_folder
from provider_server import serve
from recollect.stores.postgres.embedded import free_port
from working import Shop

CONTENT = "Deploys run on Tuesdays; Ana approves them."


@contextmanager
def _dev(home: Path, port: int) -> Iterator["tuple[subprocess.Popen[bytes], list[str]]"]:
    """Start it all; give the process, and its lines up to where it says that it can be reached."""
    process = CommandLine(home).start(
        "dev", "--port", str(port), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True
    )
    try:
        assert process.stdout is not None
        lines = []
        for line in iter(process.stdout.readline, b""):
            lines.append(line.decode())
            if "Ctrl-C" in lines[-1]:
                break
        assert process.poll() is None, "".join(lines)
        children = psutil.Process(process.pid).children(recursive=True)
        yield process, lines
        assert [child for child in children if child.is_running()] == []
    finally:
        # After a failure: what is left would hold the pipe open.
        if process.poll() is None:
            for child in psutil.Process(process.pid).children(recursive=True):
                child.kill()
        process.kill()
        process.communicate()


def _ask(client: httpx2.Client, method: str, path: str, **parts: Any) -> Any:  # noqa: ANN401 - whatever JSON it is
    answer = client.request(method, path, **parts)
    assert answer.is_success, answer.text
    return answer.json()


def test_dev_is_a_whole_server() -> None:
    """One command stores, embeds and recalls over HTTP; Ctrl-C ends all its processes, and the next start goes on."""
    port = free_port()
    with open_folder() as folder, serve() as provider:
        home = folder / "home"
        home.mkdir(mode=0o755)
        with _dev(home, port) as (process, lines):
            (key,) = re.findall(r"rk_\w+", "".join(lines))
            assert f"http://127.0.0.1:{port}" in "".join(lines)
            with httpx2.Client(
                base_url=f"http://127.0.0.1:{port}", headers={"authorization": f"Bearer {key}"}
            ) as client:
                assert _ask(client, "GET", "/healthz") == {"status": "ok"}
                model = {"model": f"openai:m@{provider.address}/openai/v1"}
                _ask(client, "POST", "/v1/vector-sets", json=model)
                _ask(client, "PUT", "/v1/vector-sets/active", json=model)
                _ask(client, "POST", "/v1/memories", json={"content": CONTENT})
                wait_until(lambda: _ask(client, "GET", "/v1/vector-sets")["vector_sets"][0]["vectors"] == 1)
                assert CONTENT in _ask(client, "POST", "/v1/recall", json={"query": "deploys"})["results"][0]["content"]
            process.send_signal(signal.SIGINT)
            assert process.wait(60) == 0
        with _dev(home, port) as (process, lines):
            assert not re.findall(r"rk_\w+", "".join(lines)), "the key is shown once"
            with httpx2.Client(
                base_url=f"http://127.0.0.1:{port}", headers={"authorization": f"Bearer {key}"}
            ) as client:
                assert len(_ask(client, "POST", "/v1/recall", json={"query": "deploys"})["results"]) == 1
            # Whichever of them dies takes the others along.
            worker = next(each for each in psutil.Process(process.pid).children() if "worker" in each.cmdline())
            worker.kill()
            assert process.wait(60) == 1
            assert process.stdout is not None
            assert "The worker has ended" in process.stdout.read().decode()


def test_a_taken_port_is_told_at_once(tmp_path: Path) -> None:
    """Where the port is somebody else's, nothing is started and another one is asked for."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        ended = CommandLine(tmp_path / "home").process("dev", "--port", str(taken.getsockname()[1]))
    assert ended.returncode == 2
    assert b"--port" in ended.stderr
    assert not (tmp_path / "home").exists()


def test_the_worker_command_works(shop: Shop, tmp_path: Path) -> None:
    """`recollect worker` embeds what waits with the model that its name opens, and ends well when it is told to."""
    with serve() as provider:
        model = f"openai:m@{provider.address}/openai/v1"
        shop.store.vectors.begin(model)
        shop.store.vectors.switch(model)
        shop.store.vectors.drop("toy")
        shop.store.memories.add([make_memory(1)])
        cli = CommandLine(tmp_path)
        cli.settings["RECOLLECT_WORKER_DATABASE_URL"] = shop.url
        cli.settings["RECOLLECT_DATABASE_URL"] = "postgresql://nobody@127.0.0.1:1/nowhere"
        process = cli.start("worker", "--concurrency", "1", "--log-format", "json", stderr=subprocess.PIPE)
        try:
            wait_until(lambda: shop.vectors(model).keys() == {id_of(1)})
            process.send_signal(signal.SIGTERM)
            _, errors = process.communicate(timeout=60)
        finally:
            process.kill()
    assert process.returncode == 0
    assert b"Deploys" not in errors
