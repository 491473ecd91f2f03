"""`dev`: a whole server for trying out, from one command: Postgres, the API and a worker, ended together."""

import contextlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from recollect.cli.errors import PROBLEM
from recollect.config import read_config
from recollect.core.errors import BadSetting

if TYPE_CHECKING:
    from recollect.stores.postgres.embedded import EmbeddedPostgres

_HOST: Final = "127.0.0.1"
_STOP_SECONDS: Final = 40.0
"""A little longer than the server gives to requests that run."""
_LOOK_SECONDS: Final = 0.1

Children = Mapping[str, "subprocess.Popen[bytes]"]


def dev(
    port: Annotated[int, typer.Option("--port", min=1, max=65535, help="The port of the server.")] = 8000,
) -> None:
    """Start a server for trying out, with a Postgres and a worker of its own; Ctrl-C ends all of it.

    What is stored stays in the folder `postgres` of RECOLLECT_HOME. Only this machine can reach it.
    """
    from recollect.wiring import database_address

    config = read_config()
    folder = Path(config.postgres)
    _check_port(port)
    # Says what to install if the server's packages are missing; the address itself is not known yet.
    database_address(read_config({"RECOLLECT_DATABASE_URL": "embedded"}))
    from recollect.stores.postgres.embedded import start
    from recollect.stores.postgres.migrate import upgrade

    with _told_to_stop() as stopping, start(folder) as postgres:
        upgrade(postgres.url)
        with _children(postgres.url, port) as children:
            ended = _await_answer(children, postgres, port, stopping)
            if not ended and not stopping.is_set():
                _say(f"Recollect is at http://{_HOST}:{port}: its API under /v1 (documentation: /docs), MCP at /mcp.")
                _say(f"Its Postgres is {postgres.url}, kept in {folder}. Ctrl-C ends all of it.")
                ended = _await_end(children, postgres, stopping)
    if ended:
        _say(f"{ended} has ended, and so has all the rest.")
        raise typer.Exit(PROBLEM)


@contextlib.contextmanager
def _told_to_stop() -> Iterator[threading.Event]:
    """Give an event that is set by Ctrl-C, by SIGTERM, and when the terminal is closed."""
    stopping = threading.Event()
    signals = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = [signal.signal(each, lambda *_: stopping.set()) for each in signals]
    try:
        yield stopping
    finally:
        for each, handler in zip(signals, before, strict=True):
            signal.signal(each, handler)


@contextlib.contextmanager
def _children(url: str, port: int) -> Iterator[Children]:
    """Start server and worker; they are gone at the end."""
    environment = {name: value for name, value in os.environ.items() if name != "RECOLLECT_WORKER_DATABASE_URL"}
    environment["RECOLLECT_DATABASE_URL"] = url
    commands = {
        "The server": ["serve", "--host", _HOST, "--port", str(port), "--log-level", "warning"],
        "The worker": ["worker", "--log-level", "warning"],
    }
    children: dict[str, subprocess.Popen[bytes]] = {}
    try:
        for name, command in commands.items():
            children[name] = subprocess.Popen(  # noqa: S603 - ourselves
                [sys.executable, "-m", "recollect", *command],
                env=environment,
                stdin=subprocess.DEVNULL,
                # So that Ctrl-C in a terminal reaches us alone, who end them in order.
                start_new_session=True,
            )
        yield children
    finally:
        _end(children)


def _end(children: Children) -> None:
    for child in children.values():
        child.terminate()
    for child in children.values():
        try:
            child.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()


def _await_answer(children: Children, postgres: "EmbeddedPostgres", port: int, stopping: threading.Event) -> str:
    """Wait until the server listens; give the name of what ended before that."""
    import socket

    while not (ended := _ended(children, postgres)):
        with contextlib.suppress(OSError), socket.create_connection((_HOST, port), timeout=1):
            return ""
        if stopping.wait(_LOOK_SECONDS):
            return ""
    return ended


def _await_end(children: Children, postgres: "EmbeddedPostgres", stopping: threading.Event) -> str:
    while not (ended := _ended(children, postgres)):
        if stopping.wait(_LOOK_SECONDS):
            return ""
    return ended


def _ended(children: Children, postgres: "EmbeddedPostgres") -> str:
    """Give the name of what is no longer running."""
    if not postgres.running:
        return f"Postgres (its log is {postgres.log})"
    return next((name for name, child in children.items() if child.poll() is not None), "")


def _check_port(port: int) -> None:
    import socket

    with socket.socket() as tried:
        tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            tried.bind((_HOST, port))
        except OSError as error:
            raise BadSetting(f"Port {port} cannot be had ({error.strerror}). Give another one with --port.") from None


def _say(line: str) -> None:
    from recollect.cli.paper import Paper

    Paper().write(line)
    sys.stdout.flush()
