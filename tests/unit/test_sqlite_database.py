"""The SQLite file: transactions, time limits, and its errors in our words."""

import os
import sqlite3
import stat
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from making import StandingClock, make_memory, open_recollect
from recollect.core.errors import LegTimeout, StoreBusy, StoreError
from recollect.stores.sqlite.database import Database, time_limit
from recollect.stores.sqlite.store import SqliteStore


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    opened = Database(str(tmp_path / "plain.db"))
    with opened.write() as connection:
        connection.execute("CREATE TABLE t (n INTEGER PRIMARY KEY)")
    yield opened
    opened.close()


def _count(database: Database) -> int:
    with database.read() as connection:
        return int(connection.execute("SELECT COUNT(*) FROM t").fetchone()[0])


def _write(database: Database, *statements: str, afterwards: Callable[[], object] = lambda: None) -> None:
    with database.write() as connection:
        for statement in statements:
            connection.execute(statement)
        afterwards()


def test_a_write_is_all_or_nothing(database: Database) -> None:
    """What raises inside a write leaves nothing of it."""
    with pytest.raises(ZeroDivisionError):
        _write(database, "INSERT INTO t VALUES (1)", afterwards=lambda: 1 / 0)
    assert _count(database) == 0


def test_a_reading_sees_one_state(database: Database) -> None:
    """What is written while a reading goes on shows in the next reading, not in this one."""
    with database.read() as connection:
        before = connection.execute("SELECT COUNT(*) FROM t").fetchone()
        with database.write() as writing:
            writing.execute("INSERT INTO t VALUES (1)")
        assert connection.execute("SELECT COUNT(*) FROM t").fetchone() == before
    assert _count(database) == 1


def test_an_acknowledged_write_is_synced(database: Database) -> None:
    """The journal is a WAL, every commit waits for the disk, and references are enforced."""
    with database.read() as connection:
        values = [connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("journal_mode", "synchronous")]
        assert values == ["wal", 2]
        assert connection.execute("PRAGMA foreign_keys").fetchone()[0] == 1


def test_a_held_store_is_busy(database: Database) -> None:
    """When another process holds the file for too long, the message says so and what to look for."""
    other = sqlite3.connect(database.path, isolation_level=None)
    impatient = Database(database.path, patience=0.05)
    try:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreBusy, match=r"Another process has held .* Try again"), impatient.write():
            pass
    finally:
        other.close()
        impatient.close()


def test_a_full_disk_is_told(database: Database) -> None:
    """A write that finds no room says that the disk is full, and nothing of it stays."""
    many = (
        "INSERT INTO t WITH RECURSIVE n (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n LIMIT 99999) SELECT i FROM n"
    )
    with pytest.raises(StoreError, match=r"disk that holds .* is full: free some room"):
        _write(database, "PRAGMA max_page_count = 3", many)
    assert _count(database) == 0


def test_a_read_only_store_is_told(database: Database) -> None:
    """A write to what may not be written says which file to make writable."""
    with pytest.raises(StoreError, match="read-only: make it and its folder writable"):
        _write(database, "PRAGMA query_only = ON", "INSERT INTO t VALUES (1)")


def test_any_other_trouble_is_told_in_sqlites_words(database: Database) -> None:
    """An error nobody foresaw comes with SQLite's message and a place to go."""
    with pytest.raises(StoreError, match=r"answered: no such table: nowhere.*recollect doctor"):
        _write(database, "SELECT * FROM nowhere")


@pytest.mark.parametrize("path", ["file/memory.db", "folder"])
def test_a_place_where_no_file_can_be_is_told(tmp_path: Path, path: str) -> None:
    """A path through a file, or of a folder, is refused with the variable to set."""
    (tmp_path / "file").write_text("x")
    (tmp_path / "folder").mkdir()
    with pytest.raises(StoreError, match=r"cannot be opened at .* Set RECOLLECT_HOME"):
        Database(str(tmp_path / path))


def test_an_old_sqlite_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A Python with a SQLite too old for our statements says so, before any file is made."""
    monkeypatch.setattr(sqlite3, "sqlite_version_info", (3, 34, 1))
    with pytest.raises(StoreError, match=r"needs 3\.35\.0 or newer"):
        Database(str(tmp_path / "new.db"))
    assert not (tmp_path / "new.db").exists()


def test_the_file_is_its_owners_alone(tmp_path: Path) -> None:
    """File, journal and folder can be read by nobody else, whatever the umask is."""
    before = os.umask(0)
    try:
        path = tmp_path / "folder" / "memory.db"
        store = SqliteStore(str(path))
        store.memories.add([make_memory()])
        made = sorted(path.parent.iterdir())
        modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in made}
        store.close()
    finally:
        os.umask(before)
    assert modes == {"memory.db": 0o600, "memory.db-shm": 0o600, "memory.db-wal": 0o600}
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_work_past_its_time_is_stopped(database: Database) -> None:
    """A statement that runs on is interrupted with `LegTimeout`, and the connection is good for the next."""
    endless = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT MAX(i) FROM n"
    with pytest.raises(LegTimeout, match="longer than 20 ms"), database.read() as connection:  # noqa: SIM117
        with time_limit(connection, 0.02):
            connection.execute(endless).fetchone()
    with database.read() as connection:
        assert connection.execute("SELECT COUNT(*) FROM (VALUES (1), (2))").fetchone() == (2,)


def test_other_errors_inside_a_time_limit_stay_what_they_are(database: Database) -> None:
    """A time limit turns only an interruption into a `LegTimeout`."""
    with pytest.raises(StoreError, match="no such table"), database.read() as connection:  # noqa: SIM117
        with time_limit(connection, 60):
            connection.execute("SELECT * FROM nowhere")


def test_closing_lets_a_reading_finish_and_leaves_nothing_behind(database: Database, tmp_path: Path) -> None:
    """What is being read when the store is closed is read to its end; then nothing holds the file's journal."""
    with database.read() as connection:
        database.close()
        assert connection.execute("SELECT COUNT(*) FROM t").fetchone() == (0,)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["plain.db"]


class _Contended(sqlite3.Connection):
    """Finds the file locked the first two times that it asks for a journal, as beside another that makes one."""

    refusals = 2

    def execute(self, sql: str, *parameters: Any) -> sqlite3.Cursor:  # noqa: ANN401
        if "journal_mode" in sql and _Contended.refusals:
            _Contended.refusals -= 1
            raise sqlite3.OperationalError("database is locked")
        return super().execute(sql, *parameters)


def test_a_journal_that_another_process_is_making_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SQLite refuses to change the journal of a file in use at once: opening tries again until it is free."""
    monkeypatch.setattr(sqlite3, "connect", partial(sqlite3.connect, factory=_Contended))
    monkeypatch.setattr(_Contended, "refusals", 2)
    store = SqliteStore(str(tmp_path / "memory.db"))
    assert _Contended.refusals == 0
    store.memories.add([make_memory()])
    store.close()


def test_the_size_is_that_of_file_and_journal(tmp_path: Path) -> None:
    """What a store takes on disk includes the journal that is not yet written back."""
    path = tmp_path / "memory.db"
    with open_recollect(path, StandingClock()) as memory:
        memory.remember("something")
        on_disk = sum(os.path.getsize(f"{path}{ending}") for ending in ("", "-wal"))
        assert memory.store.size() == on_disk > 0


def test_a_store_is_a_file() -> None:
    """A store in memory would be another one for every connection, so it is refused."""
    with pytest.raises(StoreError, match="in a file"):
        SqliteStore(":memory:")


def test_settings_of_a_newer_version_do_not_stop_a_recall(tmp_path: Path) -> None:
    """A value or a name that this version does not know counts as not set."""
    path = tmp_path / "memory.db"
    with open_recollect(path, StandingClock()) as memory:
        memory.remember("kiwi")
        memory.store.settings.set("fusion", "borda")
        memory.store.settings.set("weight.telepathy", 1)
        assert memory.settings().choice("fusion") == "convex"
        assert len(memory.recall("kiwi").results) == 1
