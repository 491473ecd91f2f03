"""A real PgBouncer in transaction mode: the address of a database goes in, the same database behind it comes out."""

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

from postgres import open_folder
from recollect.stores.postgres.embedded import free_port

SECONDS: Final = 20.0


@contextmanager
def bounced(url: str, *, pool_size: int = 2) -> Iterator[str]:
    """Give the address of a database behind PgBouncer, where any number of clients share that many connections.

    Fewer connections than clients is the point: what one leaves on a connection, the next one finds.
    """
    program = _find()
    server = urlsplit(url)
    with open_folder() as folder:
        port = free_port()
        settings = folder / "pgbouncer.ini"
        settings.write_text(_settings(url, port, pool_size))
        log = folder / "pgbouncer.log"
        # Like Postgres it refuses root, but it knows by itself how to become somebody else.
        user = ["--user", "nobody"] if os.geteuid() == 0 else []
        with log.open("wb") as output:
            process = subprocess.Popen([program, *user, settings], stdout=output, stderr=output, cwd=folder)
        try:
            _await_port(process, port, log)
            yield f"postgresql://{server.username or 'postgres'}@127.0.0.1:{port}{server.path}"
        finally:
            process.terminate()
            process.wait(SECONDS)


def _find() -> str:
    # Debian puts it where only root's PATH looks.
    program = shutil.which("pgbouncer", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")
    if program is None:
        raise RuntimeError("This test needs a real pgbouncer. Install it with: apt-get install pgbouncer")
    return program


def _settings(url: str, port: int, pool_size: int) -> str:
    server = urlsplit(url)
    parts = {
        "host": server.hostname,
        "port": server.port or 5432,
        "user": unquote(server.username or "postgres"),
        "password": unquote(server.password or ""),
        "dbname": unquote(server.path.removeprefix("/")),
    }
    target = " ".join(f"{name}={_quote(str(value))}" for name, value in parts.items() if value)
    return f"""
[databases]
* = {target}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = {pool_size}
max_client_conn = 200
"""


def _quote(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def _await_port(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    """Wait until it listens. A connection is the only sign it gives, and trying one costs nothing."""
    until = time.monotonic() + SECONDS
    while True:
        with socket.socket() as tried:
            if tried.connect_ex(("127.0.0.1", port)) == 0:
                return
        if process.poll() is not None or time.monotonic() > until:
            raise RuntimeError(f"pgbouncer did not start: {log.read_text()}")
