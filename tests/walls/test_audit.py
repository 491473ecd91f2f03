"""The log of who did what, on a real Postgres: writes in their own transaction, reads a moment later."""

import logging
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from psycopg import Connection

from making import at, forget_memory, id_of, make_link, make_memory, ref_of, wait_until
from recollect.core.access import AuditEntry, Caller
from recollect.core.errors import NotFound, StoreAway, StoreError
from recollect.core.hits import Ref
from recollect.stores.postgres.audit import PostgresLog, note_write
from recollect.stores.postgres.database import Database
from recollect.stores.postgres.store import PostgresStore
from world import World, now

HOUR = 3600.0
"""Longer than any test: nothing is written but by asking."""


def deeds(world: World, space: str) -> list[tuple[str, str, tuple[str, ...]]]:
    return [(each.person, each.deed, each.memories) for each in world.operator.audit(space, 100)]


class Unreachable(Database):
    """A database that can be away."""

    away = False
    broken = False

    @contextmanager
    def write(self) -> Iterator[Connection[Any]]:
        if self.away:
            raise StoreAway("It is away.")
        if self.broken:
            raise ValueError("It makes no sense.")
        with super().write() as connection:
            yield connection


@contextmanager
def opened(world: World, **given: Any) -> Iterator[tuple[PostgresLog, Unreachable]]:  # noqa: ANN401
    database = Unreachable(world.database.pool)
    log = PostgresLog(database, now, **{"pause_seconds": HOUR, **given})
    with closing(log):
        yield log, database


def test_every_write_notes_itself(world: World) -> None:
    """Remembering, forgetting, linking and purging are in the log of their space, with who and by which key."""
    caller = world.caller("ana")
    store = PostgresStore(world.as_(caller))
    memories = [make_memory(number, space="team") for number in (1, 2)]
    store.memories.add(memories)
    store.memories.change(forget_memory(memories[0], 5))
    link = replace(make_link(1, "see-also", 2), space="team")
    store.links.add(link)
    store.links.end(link, at(9))
    store.memories.purge(ref_of(2, "team"))
    noted = deeds(world, "team")
    assert {person for person, _, _ in noted} == {"ana"}
    assert {entry.key for entry in world.operator.audit("team", 100)} == {caller.key}
    found = {(deed, id_of(number)) for _, deed, ids in noted for number in (1, 2) if id_of(number) in ids}
    assert found == {
        ("remembered", id_of(1)),
        ("remembered", id_of(2)),
        ("forgotten", id_of(1)),
        ("linked", id_of(1)),
        ("linked", id_of(2)),
        ("unlinked", id_of(1)),
        ("unlinked", id_of(2)),
        ("purged", id_of(2)),
    }
    assert deeds(world, "ana") == []


def test_a_write_that_fails_notes_nothing(world: World) -> None:
    """The entry is part of the transaction: it goes with it."""
    view = world.as_(world.caller("ana"))
    number = world.number("team")
    with suppress(NotFound), view.write() as connection:
        note_write(connection, number, "remembered", [id_of(1)])
        raise NotFound
    assert deeds(world, "team") == []


def test_the_operator_is_not_noted(world: World) -> None:
    """Who acts without a key, on the database itself, leaves no entry."""
    PostgresStore(world.database).memories.add([make_memory(1, space="team")])
    world.operator.set_member("team", "eve", "reader")
    assert deeds(world, "team") == []


def test_changes_of_a_space_are_noted(world: World) -> None:
    """Who makes a space, and who lets whom in or takes them out, is in its log."""
    ana = world.directory(world.caller("ana"))
    ana.make_space("den", "ana")
    ana.set_member("den", "eve", "writer")
    ana.remove_member("den", "eve")
    assert deeds(world, "den") == [
        ("ana", "removed eve", ()),
        ("ana", "made eve writer", ()),
        ("ana", "made the space", ()),
    ]


def test_reads_are_noted_by_space_when_they_are_flushed(world: World) -> None:
    """What was read is written together later, an entry a space; a read that found nothing leaves none."""
    bob = world.caller("bob", "read")
    with opened(world) as (log, _):
        log.note(bob, "recall", [ref_of(1, "bob"), ref_of(2, "team"), ref_of(3, "bob")])
        log.note(bob, "recall", [])
        assert deeds(world, "bob") == []
        log.flush()
        assert deeds(world, "bob") == [("bob", "recall", (id_of(1), id_of(3)))]
        assert deeds(world, "team") == [("bob", "recall", (id_of(2),))]
        log.flush()
        assert len(deeds(world, "bob")) == 1


def test_reads_are_noted_soon_and_at_the_end(world: World) -> None:
    """Nobody has to ask: a thread writes them in a moment, and closing writes the rest."""
    bob, others = world.caller("bob"), set(threading.enumerate())
    with opened(world, pause_seconds=0.01) as (log, _):
        log.note(bob, "read", [ref_of(1, "bob")])
        wait_until(lambda: len(deeds(world, "bob")) == 1)
    with opened(world) as (log, _):
        log.note(bob, "read", [ref_of(2, "bob")])
    assert len(deeds(world, "bob")) == 2
    assert not [thread for thread in set(threading.enumerate()) - others if thread.name == "audit"]


def test_many_reads_are_written_in_batches(world: World) -> None:
    """However many wait, all are written, each once."""
    bob = world.caller("bob")
    with opened(world) as (log, _):
        for number in range(2500):
            log.note(bob, "read", [ref_of(number, "bob")])
    entries = world.operator.audit("bob", 10_000)
    assert sorted(each.memories[0] for each in entries) == [id_of(number) for number in range(2500)]


def test_reads_wait_while_the_database_is_away(world: World, caplog: pytest.LogCaptureFixture) -> None:
    """What cannot be written now is written when it can; only what there is no room for is lost, and said to be."""
    bob = world.caller("bob")
    with opened(world, most=2) as (log, database):
        database.away = True
        log.note(bob, "read", [ref_of(1, "bob")])
        with pytest.raises(StoreError):
            log.flush()
        for number in (2, 3, 4):
            log.note(bob, "read", [ref_of(number, "bob")])
        database.away = False
        log.flush()
    assert {each.memories[0] for each in world.operator.audit("bob", 9)} == {id_of(1), id_of(2)}
    assert [record.getMessage() for record in caplog.records] == [
        "2 entries of the audit log are lost: the database was away for too long"
    ]


def test_the_log_goes_on_after_trouble(world: World, caplog: pytest.LogCaptureFixture) -> None:
    """The thread outlives a database that is away or that refuses a batch, and says so once each time it tries."""
    bob = world.caller("bob")
    caplog.set_level(logging.WARNING)
    with opened(world, pause_seconds=0.01) as (log, database):
        database.away = True
        log.note(bob, "read", [ref_of(1, "bob")])
        wait_until(lambda: "the audit log waits: It is away." in caplog.text)
        database.away = False
        wait_until(lambda: len(deeds(world, "bob")) == 1)
        database.broken = True
        log.note(bob, "read", [ref_of(2, "bob")])
        wait_until(lambda: "a batch of the audit log was refused" in caplog.text)
        database.broken = False
        log.note(bob, "read", [ref_of(3, "bob")])
        wait_until(lambda: len(deeds(world, "bob")) == 2)


def test_closing_while_the_database_is_away(world: World, caplog: pytest.LogCaptureFixture) -> None:
    """A server that ends then says how many entries it takes along."""
    with opened(world) as (log, database):
        log.note(world.caller("bob"), "read", [ref_of(1, "bob")])
        database.away = True
    assert "1 entries of the audit log could not be written" in caplog.text


def test_a_space_that_is_gone_takes_no_entries(world: World) -> None:
    """Reads of a space that was removed before they were written are not noted, and hold up no others."""
    ana = world.caller("ana")
    with opened(world) as (log, _):
        log.note(ana, "read", [Ref("team", id_of(1)), Ref("ana", id_of(2))])
        world.operator.remove_space("team")
    assert deeds(world, "ana") == [("ana", "read", (id_of(2),))]


def test_a_space_made_anew_is_not_told_of_the_one_before(world: World) -> None:
    """What was read in a space that was removed is not in the log of a later one that somebody gave its name."""
    caller = world.caller("bob")
    with opened(world) as (log, _):
        log.note(caller, "read", [ref_of(1, "team")])
        world.operator.remove_space("team")
        world.operator.make_space("team", "eve")
        log.flush()
        assert deeds(world, "team") == []
        log.note(world.caller("eve"), "read", [ref_of(2, "team")])
        log.flush()
        assert [person for person, _, _ in deeds(world, "team")] == ["eve"]


def test_the_log_is_read_by_admins_page_by_page(world: World) -> None:
    """Newest first, no more than asked for but whole moments; for whoever administers the space."""
    ana, begin = world.caller("ana"), now()

    def after(seconds: float) -> datetime:
        return begin + timedelta(seconds=seconds)

    def note(caller: Caller, moment: datetime, *numbers: int) -> None:
        log = PostgresLog(world.database, lambda: moment, pause_seconds=HOUR)
        for number in numbers:
            log.note(caller, "read", [ref_of(number, "team")])
        log.close()

    note(world.caller("bob"), after(1), 1)
    note(ana, after(2), 2, 3)
    note(ana, after(3), 4)
    directory = world.directory(ana)
    newest = directory.audit("team", 2)
    assert [each.at for each in newest] == [after(3), after(2), after(2)]
    assert newest[0] == AuditEntry(after(3), ana.key, "ana", "read", (id_of(4),))
    assert [each.person for each in directory.audit("team", 2, newest[-1].at)] == ["bob"]
    assert world.directory(world.caller("bob")).audit("team", 9) == []
    with pytest.raises(NotFound):
        world.directory(world.caller("eve")).audit("team", 9)
