"""A store as a hook has it: read as it stands or refused, never made, changed or brought up to date."""

import os
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pytest

from fakes import TellingLeg
from making import make_memory, make_query, ref_of
from recollect.core.errors import StoreError
from recollect.service.recall import recall
from recollect.stores.sqlite.glance import Glance
from recollect.stores.sqlite.store import SqliteStore

if TYPE_CHECKING:
    from recollect.core.ports import Store

PATIENCE = 0.05


@pytest.fixture
def path(tmp_path: Path) -> str:
    """Give the path of a store with two memories and a setting of its owner's."""
    path = str(tmp_path / "memory.db")
    with closing(SqliteStore(path)) as store:
        store.memories.add([make_memory(1, "The deploys run on Tuesdays."), make_memory(2, "Tea is at five.")])
        store.settings.set("limit", 3)
        store.settings.set("depth", 70)
    return path


@pytest.fixture
def glance(path: str) -> Iterator[Glance]:
    with closing(Glance(path, {"depth": 30}, patience=PATIENCE)) as opened:
        yield opened


def test_a_file_that_is_not_there_is_refused_and_not_made(tmp_path: Path) -> None:
    """A hook in a home without a store leaves that home as it is."""
    missing = tmp_path / "home" / "memory.db"
    with pytest.raises(StoreError, match="There is no store"):
        Glance(str(missing), {}, patience=PATIENCE)
    with pytest.raises(StoreError, match="There is no store"):
        Glance(str(tmp_path), {}, patience=PATIENCE)
    assert list(tmp_path.iterdir()) == []


def _older(connection: sqlite3.Connection) -> None:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    connection.execute(f"PRAGMA user_version = {version - 1}")


def _newer(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA user_version = 99")


def _other_words(connection: sqlite3.Connection) -> None:
    connection.execute("UPDATE about SET value = '0 klingon' WHERE name = 'analysis'")


def _empty(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA user_version = 0")


@pytest.mark.parametrize("change", [_older, _newer, _other_words, _empty])
def test_a_store_of_another_version_is_left_as_it_is(path: str, change: Callable[[sqlite3.Connection], None]) -> None:
    """Neither the schema nor the index is brought up to date before a prompt: the file is refused, and not touched."""
    with closing(sqlite3.connect(path)) as connection, connection:
        change(connection)
    before = Path(path).read_bytes()
    with pytest.raises(StoreError, match="another version of Recollect: `recollect stats`"):
        Glance(path, {}, patience=PATIENCE)
    assert Path(path).read_bytes() == before


def test_a_glance_leaves_no_trace(path: str, glance: Glance) -> None:
    """Not a byte of the file is changed by a recall, and nothing lies beside it afterwards."""
    before = Path(path).read_bytes()
    assert recall(cast("Store", glance), make_query("deploys")).results
    glance.close()
    assert os.listdir(os.path.dirname(path)) == ["memory.db"]
    assert Path(path).read_bytes() == before


def test_its_own_settings_lie_over_the_stores(glance: Glance) -> None:
    """What a hook has of its own wins, the rest is as its owner has set it, or as it is by default."""
    settings = glance.settings.read("personal")
    assert (settings.whole("depth"), settings.whole("limit"), settings.whole("prompt.memories")) == (30, 3, 5)


def test_the_time_of_the_legs_is_what_is_left(glance: Glance) -> None:
    """It is in whole milliseconds, and never none: that would be no limit at all."""
    for seconds, milliseconds in ((0.0875, 87), (0.0001, 1)):
        glance.leave_out_after(seconds)
        assert glance.settings.read().number("leg-timeout-ms") == milliseconds


def test_it_finds_what_the_store_finds(path: str, glance: Glance) -> None:
    """By words, and without saying that there is no meaning."""
    with closing(SqliteStore(path)) as store:
        wanted = [found.memory for found in recall(store, make_query("when do deploys run")).results]
    answer = recall(cast("Store", glance), make_query("when do deploys run"))
    assert [found.memory for found in answer.results] == wanted
    assert [each.leg for each in answer.trace.answers] == ["lexical", "exact"]
    assert answer.notices == ()


def test_legs_are_asked_in_turn_and_the_resident_last(glance: Glance) -> None:
    """No thread is started: each leg answers in the one that asks, a further one after the others."""
    order: list[tuple[str, threading.Thread]] = []
    besides = TellingLeg(
        "dense", {ref_of(2): 0.9}, afterwards=lambda: order.append(("dense", threading.current_thread()))
    )
    glance.ask_besides(None)
    assert len(glance.legs) == 2
    glance.ask_besides(besides)
    answer = recall(cast("Store", glance), make_query("deploys"))
    assert [each.leg for each in answer.trace.answers] == ["lexical", "exact", "dense"]
    assert order == [("dense", threading.current_thread())]
    assert {found.memory.id for found in answer.results} == {ref_of(1).id, ref_of(2).id}
