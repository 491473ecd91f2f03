"""An upgrade of a Postgres store that is in use: beside readers and writers, beside another one, and broken off.

The upgrade is to a schema after the newest that there is, so that the program of today can use the one before.
"""

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Final

import pytest
from alembic.config import Config
from sqlalchemy import Connection

from making import change_memory, make_memory, make_query, wait_until
from recollect.core.errors import StoreError
from recollect.core.query import Scope
from recollect.service.recall import recall
from recollect.stores.postgres import migrate
from recollect.stores.postgres.database import Database
from recollect.stores.postgres.migrate import check, current, newest, upgrade
from recollect.stores.postgres.store import PostgresStore
from watching import ask, held

LONG: Final = 20.0
"""Seconds that nobody should have to wait for an upgrade, even on a machine that has much to do."""
VALID = "SELECT indisvalid, count(*) FROM pg_index WHERE indexrelid::regclass::text ~ 'memories_later' GROUP BY 1"
ALL_VALID = [(True, 17)]
"""The parent's index and one for each partition."""
BUILDING = (
    "SELECT pid FROM pg_stat_activity WHERE query LIKE 'CREATE INDEX CONCURRENTLY%' AND datname = current_database()"
)


LATER: Final = """
from recollect.stores.postgres.migrations.run import create_index_concurrently, run

revision = "later"
down_revision = "{newest}"


def upgrade() -> None:
    create_index_concurrently("memories_later", "memories", "(space, category)")


def downgrade() -> None:
    run("DROP INDEX memories_later")
"""


@pytest.fixture
def today(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Add a migration that makes an index; give the revision before it."""
    ours, before = migrate._config, newest()  # noqa: SLF001
    (tmp_path / "later.py").write_text(LATER.format(newest=before))

    def config(connection: Connection | None = None) -> Config:
        made = ours(connection)
        versions = Path(made.get_main_option("script_location") or "") / "versions"
        made.set_main_option("path_separator", "newline")
        made.set_main_option("version_locations", f"{versions}\n{tmp_path}")
        return made

    monkeypatch.setattr(migrate, "_config", config)
    assert newest() == "later"
    return before


@pytest.fixture
def url(fresh_database: str, today: str) -> str:
    """Give a database at the schema before the newest, with some memories in several partitions."""
    upgrade(fresh_database, today)
    store = PostgresStore(Database.open(fresh_database, size=1))
    for space in range(8):
        store.memories.add([make_memory(number, space=f"space {space}") for number in range(1, 6)])
    store.close()
    return fresh_database


class Users:
    """Threads that use a store without a pause, and remember how long each thing took."""

    def __init__(self, url: str) -> None:
        # A statement that waits too long fails here.
        self.store = PostgresStore(Database.open(url, size=4, seconds=LONG))
        self.took: dict[str, list[float]] = {}
        self._numbers = count(1000)
        self._stop = threading.Event()

    def write(self) -> None:
        memory = make_memory(next(self._numbers), space="space 0")
        self.store.memories.add([memory])
        self.store.memories.change(change_memory(memory, 10_000, content="Deploys run on Mondays."))

    def read(self) -> None:
        assert recall(self.store, make_query("deploys", "space 0", "space 1")).results
        assert self.store.memories.resolve(["space 1"], "0003")

    def carry_on(self, name: str, deed: Callable[[], None]) -> None:
        while not self._stop.is_set():
            began = time.monotonic()
            deed()
            self.took.setdefault(name, []).append(time.monotonic() - began)

    def await_more(self, times: int = 3) -> None:
        """Wait until everybody has done something so many times more."""
        before = {name: len(self.took.get(name, ())) for name in ("write", "read")}
        wait_until(lambda: all(len(self.took.get(name, ())) >= so_far + times for name, so_far in before.items()))

    def stop(self) -> None:
        self._stop.set()


@contextmanager
def _in_use(url: str) -> Iterator[Users]:
    """Have a store used during the block; whatever fails or takes long there fails the test."""
    users = Users(url)
    deeds = {"write": users.write, "read": users.read}
    with ThreadPoolExecutor(2 * len(deeds)) as threads:
        using = [threads.submit(users.carry_on, name, deed) for name, deed in deeds.items() for _ in range(2)]
        try:
            yield users
        finally:
            users.stop()
    for each in using:
        each.result()
    users.store.close()
    assert max(max(took) for took in users.took.values()) < LONG


@pytest.fixture
def start() -> Iterator[Callable[..., Future[None]]]:
    with ThreadPoolExecutor(3) as threads:
        yield threads.submit


def test_an_upgrade_holds_nobody_up(url: str) -> None:
    """While the index is built, everybody goes on writing and recalling; afterwards it is whole."""
    with _in_use(url) as users:
        users.await_more()
        upgrade(url)
        users.await_more()
        assert users.store.examine(lambda _done, _total: None) == []
    check(url)
    assert ask(url, VALID) == ALL_VALID


@pytest.mark.parametrize(
    "held_by",
    [
        "SELECT FROM memories",
        "LOCK TABLE memories_p3 IN ROW EXCLUSIVE MODE",
        "LOCK TABLE memories IN ROW EXCLUSIVE MODE",
    ],
)
def test_an_upgrade_that_has_to_wait_lets_others_by(url: str, start: Callable[..., Future[None]], held_by: str) -> None:
    """Behind a long read or a long import the upgrade waits, alone, and is finished once that is over."""
    with _in_use(url) as users:
        with held(url, held_by):
            upgrading = start(upgrade, url)
            users.await_more(10)
            assert not upgrading.done()
        upgrading.result()
        users.await_more()
    assert ask(url, VALID) == ALL_VALID


def test_an_upgrade_that_was_broken_off_is_completed(url: str, today: str, start: Callable[..., Future[None]]) -> None:
    """A half-built index that a killed upgrade left behind is built anew by the next one, and nothing is lost."""
    with held(url, "LOCK TABLE memories_p3 IN ROW EXCLUSIVE MODE"):
        upgrading = start(upgrade, url)
        wait_until(lambda: (False, 2) in ask(url, VALID) and ask(url, BUILDING) != [])
        ask(url, f"SELECT pg_terminate_backend(pid) FROM ({BUILDING}) AS building")
        assert isinstance(upgrading.exception(), StoreError)
    assert current(url) == today
    with pytest.raises(StoreError, match="recollect db upgrade"):
        check(url)
    upgrade(url)
    check(url)
    assert ask(url, VALID) == ALL_VALID
    store = PostgresStore(Database.open(url, size=1))
    assert len(store.memories.page(Scope(("space 7",)), 9)) == 5
    store.close()


def test_of_two_upgrades_at_once_one_waits(fresh_database: str, today: str, start: Callable[..., Future[None]]) -> None:
    """Both end well, from nothing and over each step."""
    for target in ("0001", today, "head"):
        for each in [start(upgrade, fresh_database, target) for _ in range(3)]:
            each.result()
    assert current(fresh_database) == newest()
    assert ask(fresh_database, VALID) == ALL_VALID


def test_an_upgrade_of_what_is_new_does_nothing(database_url: str) -> None:
    """Running it again is safe, and changes nothing."""
    before = ask(database_url, "SELECT max(xmin::text::bigint) FROM pg_class")
    upgrade(database_url)
    assert ask(database_url, "SELECT max(xmin::text::bigint) FROM pg_class") == before
