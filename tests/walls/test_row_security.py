"""The database's own walls, asked with statements that name no caller at all: table by table, on a real Postgres."""

import secrets
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from typing import Any, Final
from urllib.parse import urlsplit, urlunsplit

import psycopg
import pytest
from psycopg import Connection, errors, sql

from postgres import made_database
from recollect.core.access import Caller
from recollect.core.errors import NotAllowed
from recollect.stores.postgres.database import Database
from recollect.stores.postgres.migrate import downgrade, upgrade
from recollect.stores.postgres.settings import PostgresSettings
from world import World

ID: Final = "'01900000-0000-7000-8000-000000000001'"
# A row of every table that belongs to spaces, for the space that is put in.
_STATE: Final = f"{ID}, NULL, '', NULL, NULL, 'facts', 1, 1, 0.5, false"
ROWS: Final = {
    "memories": f"(SPACE, 1, {_STATE}, 1, 'remembered', 1, 1, 1, '[]', '[]', 'text')",
    "revisions": f"(SPACE, 1, {_STATE}, 1, 'remembered', 1, '[]', '[]', 'text', 2)",
    "postings": "(SPACE, 1, 1, NULL, 1, 1, 'term')",
    "links": "(SPACE, 1, 'see-also', 2, 1, NULL, 1)",
    "outbox": "(SPACE, 1, 1, 1)",
    "vectors_1": "(SPACE, 1, '[1, 0]')",
    "concepts": "(SPACE, 1, 'Anna')",
    "concept_names": "(SPACE, 1, false, 'anna')",
    "memory_concepts": "(SPACE, 1, 1, 1, 'name')",
    "concept_edges": "(SPACE, 1, 1, 2, 1, NULL, 1, 'knows')",
    "edge_evidence": "(SPACE, 1, 1, 1, NULL)",
    "extracted": "(SPACE, 1, 1, '\\x00', '{}')",
    "unread": "(SPACE, 1, 1, 1)",
}
COLUMNS: Final = {
    "memories": "key", "revisions": "memory", "links": "source", "concepts": "key", "concept_names": "concept",
    "concept_edges": "key", "extracted": "extractor",
}  # fmt: skip
"""What identifies a row within its space, where that is not `memory`."""
MINE, OURS, THEIRS = "bob", "team", "eve"
"""Bob's own space, the one that he reads, and one that he is not in."""
WALLED: Final = pytest.mark.parametrize("table", ROWS)


@pytest.fixture(scope="module")
def filled(postgres_url: str, template_database: str) -> Iterator[World]:
    """Give a server with a row in every table of every space; tests take back what they do to it."""
    clone = made_database(postgres_url, f"TEMPLATE {template_database}")
    with clone as url, closing(Database.open(url, size=2)) as database:
        world = World(database)
        world.populate()
        fill(world, "ana", MINE, OURS, THEIRS)
        yield world


def fill(world: World, *spaces: str) -> None:
    numbers = [world.number(space) for space in spaces]
    with world.database.write() as connection:
        connection.execute("INSERT INTO vector_sets (model) VALUES ('toy')")
        connection.execute("SELECT recollect_make_vectors(1, 2)")
        for table in ROWS:
            for number in numbers:
                insert(connection, table, number)


class _UndoneError(Exception):
    pass


@contextmanager
def undone(view: Database) -> Iterator[Connection[Any]]:
    """Write, and take it back."""
    with suppress(_UndoneError), view.write() as connection:
        yield connection
        raise _UndoneError


def become_operator(connection: Connection[Any]) -> None:
    """See all, in a transaction that somebody else began."""
    connection.execute("SET LOCAL ROLE recollect_system")


def insert(connection: Connection[Any], table: str, space: int) -> None:
    connection.execute(f"INSERT INTO {table} VALUES {ROWS[table].replace('SPACE', str(space))}".encode())


def seen(connection: Connection[Any], table: str, column: str = "space") -> list[int]:
    return [row[0] for row in connection.execute(f"SELECT {column} FROM {table} ORDER BY {column}".encode())]


def counted(connection: Connection[Any], table: str) -> int:
    row = connection.execute(f"SELECT count(*) FROM {table}".encode()).fetchone()
    assert row is not None
    return int(row[0])


def changed(connection: Connection[Any], statement: str, *values: object) -> int:
    return connection.execute(statement.encode(), values).rowcount


@contextmanager
def refused() -> Iterator[None]:
    """Expect the database to refuse, whether for want of a privilege or of a row that the policies let through."""
    with pytest.raises(NotAllowed):
        yield


@WALLED
def test_rows_of_other_spaces_are_not_to_be_read(filled: World, table: str) -> None:
    """A statement without any condition reads and counts what is in the caller's spaces, and no more."""
    bob = filled.as_(filled.caller("bob"))
    with bob.read() as connection:
        assert seen(connection, table) == sorted([filled.number(MINE), filled.number(OURS)])
        assert counted(connection, table) == 2
        query = f"SELECT count(*) FROM {table} WHERE space = %s"
        assert connection.execute(query.encode(), (filled.number(THEIRS),)).fetchone() == (0,)


@WALLED
def test_rows_are_not_added_where_one_may_not_write(filled: World, table: str) -> None:
    """Neither into a space that one only reads nor into one that one is not in, though into one's own."""
    bob = filled.as_(filled.caller("bob"))
    mine, ours, theirs = (filled.number(space) for space in (MINE, OURS, THEIRS))
    for space in (ours, theirs):
        with refused(), bob.write() as connection:
            insert(connection, table, space)
    with undone(bob) as connection:
        assert changed(connection, f"DELETE FROM {table}") == 1
        insert(connection, table, mine)
        assert seen(connection, table) == sorted([mine, ours])


@WALLED
def test_rows_are_not_changed_where_one_may_not_write(filled: World, table: str) -> None:
    """An update of everything changes one's own rows, and none can be moved to where one may not write."""
    bob = filled.as_(filled.caller("bob"))
    column = COLUMNS.get(table, "memory")
    with undone(bob) as connection:
        assert changed(connection, f"UPDATE {table} SET {column} = 77") == 1
        become_operator(connection)
        query = f"SELECT space FROM {table} WHERE {column} = 77"
        assert connection.execute(query.encode()).fetchall() == [(filled.number(MINE),)]
    for space in (filled.number(OURS), filled.number(THEIRS)):
        with refused(), bob.write() as connection:
            changed(connection, f"UPDATE {table} SET space = %s", space)


@WALLED
def test_rows_are_not_removed_where_one_may_not_write(filled: World, table: str) -> None:
    """A delete of everything removes one's own rows alone."""
    bob = filled.as_(filled.caller("bob"))
    left = sorted(filled.number(space) for space in ("ana", OURS, THEIRS))
    with undone(bob) as connection:
        assert changed(connection, f"DELETE FROM {table}") == 1
        become_operator(connection)
        assert seen(connection, table) == left
    with refused(), bob.write() as connection:
        connection.execute(f"TRUNCATE {table}".encode())


@WALLED
def test_partitions_are_not_to_be_reached_by_themselves(filled: World, table: str) -> None:
    """Around the parent there is no way: on no partition has a caller any right."""
    bob = filled.as_(filled.caller("bob"))
    for part in range(16):
        for statement in (
            "SELECT 1 FROM {}",
            "DELETE FROM {}",
            "UPDATE {} SET space = 1",
            "INSERT INTO {} DEFAULT VALUES",
        ):
            with refused(), bob.write() as connection:
                connection.execute(statement.format(f"{table}_p{part}").encode())


@WALLED
@pytest.mark.parametrize("why", ["revoked", "expired", "unknown", "nobody's"])
def test_a_key_that_does_not_hold_sees_nothing(filled: World, table: str, why: str) -> None:
    """A key that was revoked or has expired since it was presented, or never was one, opens nothing at all."""
    caller = filled.caller("bob")
    if why == "revoked":
        filled.operator.revoke_key(caller.key)
    elif why == "expired":
        with filled.database.write() as connection:
            connection.execute("UPDATE api_keys SET expires_at = 1 WHERE prefix = %s", (caller.key,))
    else:
        caller = Caller("unknown" if why == "unknown" else "", "bob", "admin", "bob", {"bob": "admin"}, admin=True)
    bob = filled.as_(caller)
    with bob.write() as connection:
        assert counted(connection, table) == 0
        assert changed(connection, f"DELETE FROM {table}") == 0
        for other in ("spaces", "people", "memberships", "audit"):
            assert counted(connection, other) == 0
        assert seen(connection, "api_keys", "prefix") == []
    with refused(), bob.write() as connection:
        insert(connection, table, filled.number(MINE))


@WALLED
def test_a_key_that_only_reads_changes_nothing(filled: World, table: str) -> None:
    """A person who administers a space does no more there than their key may."""
    bob = filled.as_(filled.caller("bob", "read"))
    with bob.write() as connection:
        assert counted(connection, table) == 2
        assert changed(connection, f"DELETE FROM {table}") == 0
        assert changed(connection, f"UPDATE {table} SET space = space") == 0
    with refused(), bob.write() as connection:
        insert(connection, table, filled.number(MINE))


@WALLED
def test_a_key_for_some_spaces_sees_no_other(filled: World, table: str) -> None:
    """A key that was made for the team neither reads nor writes the person's own space."""
    bob = filled.as_(filled.caller("bob", "admin", OURS))
    with bob.write() as connection:
        assert seen(connection, table) == [filled.number(OURS)]
        assert changed(connection, f"DELETE FROM {table}") == 0


@WALLED
def test_who_runs_the_server_reads_no_space_by_that(filled: World, table: str) -> None:
    """Ana runs the server and sees her own space and her team's."""
    with filled.as_(filled.caller("ana")).read() as connection:
        assert seen(connection, table) == sorted([filled.number("ana"), filled.number(OURS)])


def test_a_program_that_has_not_entered_sees_nothing(filled: World) -> None:
    """The server's role without a caller has no rows in any table, and adds none."""

    def look(connection: Connection[Any]) -> None:
        connection.execute("BEGIN; SET LOCAL ROLE recollect_app")
        for table in (*ROWS, "spaces", "people", "memberships", "audit", "settings", "vector_indexes"):
            assert counted(connection, table) == 0
        assert seen(connection, "api_keys", "prefix") == []
        with pytest.raises(errors.InsufficientPrivilege):
            insert(connection, "memories", filled.number(MINE))
        connection.execute("ROLLBACK")

    filled.database.alone(look)


def test_what_one_transaction_entered_the_next_does_not_know(filled: World) -> None:
    """Nothing of a caller stays on the connection, after a commit or after an error."""
    with closing(Database.open(filled.url, size=1)) as database:
        view = database.as_caller(filled.caller("bob"))
        with view.read() as connection:
            assert counted(connection, "memories") == 2
        with refused(), view.write() as connection:
            insert(connection, "memories", filled.number(THEIRS))

        def look(connection: Connection[Any]) -> None:
            row = connection.execute(
                "SELECT current_user = session_user, current_setting('recollect.readable', true), "
                "current_setting('recollect.key', true), current_setting('statement_timeout')"
            ).fetchone()
            assert row == (True, "", "", "0")

        database.alone(look)


# The directory, the settings and the log have rules of their own.


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE people SET admin = true",
        "UPDATE people SET id = 'x'",
        "INSERT INTO people (id, created_at) VALUES ('x', 1)",
        "DELETE FROM people",
        "UPDATE spaces SET owner = recollect_person()",
        "UPDATE spaces SET id = 'x'",
        "INSERT INTO spaces (id) VALUES ('x')",
        "DELETE FROM spaces",
        "INSERT INTO memberships VALUES (1, recollect_person(), 'admin')",
        "UPDATE memberships SET role = 'admin'",
        "DELETE FROM memberships",
        "INSERT INTO api_keys (prefix, person, hash, name, scope, created_at) VALUES ('x', 1, '', 'x', 'admin', 1)",
        "UPDATE api_keys SET scope = 'admin'",
        "UPDATE api_keys SET spaces = NULL",
        "UPDATE api_keys SET person = 1",
        "UPDATE api_keys SET hash = ''",
        "UPDATE api_keys SET expires_at = NULL",
        "UPDATE api_keys SET revoked_at = NULL",
        "DELETE FROM api_keys",
        "SELECT hash FROM api_keys",
        "SELECT * FROM api_keys",
        "UPDATE audit SET deed = 'x'",
        "DELETE FROM audit",
        "INSERT INTO vector_sets (model) VALUES ('x')",
        "UPDATE vector_sets SET active = true",
        "INSERT INTO vector_indexes VALUES (1, 1)",
        "INSERT INTO extractors (name) VALUES ('x')",
        "UPDATE extractors SET most_calls = 1000000",
        "DELETE FROM extractors",
        "INSERT INTO about VALUES ('x', 'x')",
        "SELECT * FROM procrastinate_jobs",
        "SELECT * FROM job_errors",
        "SELECT recollect_find_key('x', 1)",
        "SELECT recollect_touch_key('x', 1)",
        "SELECT recollect_erase_space(1)",
        "SELECT recollect_take_space('eve', false)",
        "SELECT recollect_note(1, 'x')",
        "SELECT recollect_check_admins(1, 1)",
        "SELECT recollect_make_vectors(2, 2)",
        "SELECT recollect_drop_vectors(1)",
        "SELECT recollect_wall('memories')",
        "SELECT recollect_guard('memories')",
        "CREATE TABLE mine (a integer)",
        "ALTER TABLE memories DISABLE ROW LEVEL SECURITY",
        "SET session_replication_role = replica",
        "SET row_security = off; SELECT count(*) FROM memories",
    ],
)
def test_not_even_who_runs_the_server_goes_around(filled: World, statement: str) -> None:
    """With the strongest key there is, a statement of one's own changes neither rights nor walls nor the log."""
    ana = filled.as_(filled.caller("ana"))
    with refused(), ana.write() as connection:
        connection.execute(statement.encode())


def test_counting_changes_needs_the_right_to_write(filled: World) -> None:
    """Whoever may write to a space counts its changes, and nobody locks the row of another."""
    bob = filled.as_(filled.caller("bob"))
    with undone(bob) as connection:
        assert changed(connection, "UPDATE spaces SET change = change + 1") == 1
        locked = connection.execute("SELECT id FROM spaces FOR NO KEY UPDATE").fetchall()
    assert locked == [(MINE,)]


def test_settings_are_changed_by_admins(filled: World) -> None:
    """Everybody reads the server's settings; who runs it changes them, and admins those of their space."""
    settings = PostgresSettings(filled.database)
    for where in (None, MINE, OURS, THEIRS):
        settings.set("limit", 3, where)
    mine, ours, theirs = (filled.number(space) for space in (MINE, OURS, THEIRS))
    for caller, sees, changes in (
        (filled.caller("bob"), [0, mine, ours], [mine]),
        (filled.caller("bob", "write"), [0, mine, ours], []),
        (filled.caller("eve"), [0, theirs], [theirs]),
        (filled.caller("ana"), [0, ours], [0, ours]),
        (filled.caller("ana", "admin", OURS), [0, ours], [ours]),
    ):
        with undone(filled.as_(caller)) as connection:
            assert seen(connection, "settings") == sees
            assert changed(connection, "UPDATE settings SET value = '4'") == len(changes)
            become_operator(connection)
            rows = connection.execute("SELECT space FROM settings WHERE value = '4' ORDER BY space").fetchall()
            assert [number for (number,) in rows] == changes
    for space in (0, ours, theirs):
        with refused(), filled.as_(filled.caller("bob")).write() as connection:
            changed(connection, "INSERT INTO settings VALUES (%s, 'floor', '1')", space)


def test_nobody_forges_the_log(filled: World) -> None:
    """An entry is about the caller and the key at work, in a space that they may write to; only admins read it."""
    caller = filled.caller("bob")
    bob = filled.as_(caller)
    note = "INSERT INTO audit VALUES (%s, 1, %s, %s, 'x', '{}')"
    mine, ours, theirs = (filled.number(space) for space in (MINE, OURS, THEIRS))
    for space, key, person in (
        (theirs, caller.key, "bob"),
        (ours, caller.key, "bob"),
        (mine, "x", "bob"),
        (mine, caller.key, "eve"),
    ):
        with refused(), bob.write() as connection:
            changed(connection, note, space, key, person)
    with bob.write() as connection:
        changed(connection, note, mine, caller.key, "bob")
    with filled.database.write() as connection:
        changed(connection, note, ours, "k", "ana")
        changed(connection, note, theirs, "k", "eve")
    with bob.read() as connection:
        assert seen(connection, "audit") == [mine]
    with filled.as_(filled.caller("bob", "write")).read() as connection:
        assert counted(connection, "audit") == 0


def test_work_is_handed_over_only_for_what_one_may_write_to(filled: World) -> None:
    """A caller's job for another space is not taken."""
    numbers = [filled.number(space) for space in (MINE, OURS, THEIRS)]
    with undone(filled.as_(filled.caller("bob"))) as connection:
        for space in numbers:
            connection.execute("SELECT recollect_defer('embed', %s)", (space,))
        become_operator(connection)
        jobs = connection.execute("SELECT (args->>'space')::integer FROM procrastinate_jobs").fetchall()
        assert jobs == [(numbers[0],)]


def test_every_table_is_walled(filled: World) -> None:
    """Every table that there is has its walls forced on its owner too, partitions included, but for those without rows
    of anybody; a table that a later migration adds is missed here.
    """
    open_to_read = {"vector_sets", "extractors", "about", "alembic_version"}
    with filled.database.read() as connection:
        tables = connection.execute(
            "SELECT relname, relrowsecurity AND relforcerowsecurity, relispartition, "
            "has_any_column_privilege('recollect_app', oid, 'SELECT, INSERT, UPDATE') "
            "OR has_table_privilege('recollect_app', oid, 'DELETE, TRUNCATE, REFERENCES, TRIGGER') "
            "FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'v', 'm')"
        ).fetchall()
    assert {name for name, walled, _, reachable in tables if reachable and not walled} == open_to_read
    assert not [name for name, _, part, reachable in tables if part and reachable]
    belongs = {name for name, *_ in tables if not name.startswith(("procrastinate_", "job_"))}
    assert {name for name, walled, *_ in tables if not walled} & belongs == open_to_read


def test_functions_with_rights_of_their_own_are_closed(filled: World) -> None:
    """Each looks names up in the catalogue first and in temporary tables last, and nobody calls it by default."""
    with filled.database.read() as connection:
        functions = connection.execute(
            "SELECT proname, prosecdef, array_to_string(proconfig, ','), pg_get_userbyid(proowner), "
            "has_function_privilege('public', oid, 'EXECUTE') FROM pg_proc "
            "WHERE pronamespace = 'public'::regnamespace AND proname ~ '^recollect_' "
            "AND prorettype <> 'trigger'::regtype"
        ).fetchall()
    assert len(functions) > 20
    for name, definer, config, owner, public in functions:
        assert not public, name
        if definer:
            paths = {"search_path=pg_catalog, pg_temp"}
            # Procrastinate's triggers name their tables without a schema.
            assert config in (
                paths | {"search_path=pg_catalog, public, pg_temp"} if name == "recollect_defer" else paths
            )
            assert (owner == "recollect_system") == (name not in {"recollect_make_vectors", "recollect_drop_vectors"})


# Superusers are behind no wall: the rest is for an owner who is none.


@pytest.fixture(scope="module")
def owned(postgres_url: str, template_database: str) -> Iterator[str]:  # noqa: ARG001 - it makes the roles
    """Give a database that was set up by its owner, a login that may make roles and is no superuser."""
    name, password = f"recollect_test_owner_{secrets.token_hex(4)}", secrets.token_hex(8)
    with closing(psycopg.connect(postgres_url, autocommit=True)) as server:
        server.execute(sql.SQL("CREATE ROLE {} LOGIN PASSWORD {}").format(sql.Identifier(name), sql.Literal(password)))
        try:
            with made_database(postgres_url, f"OWNER {name} TEMPLATE template0") as url:
                with closing(psycopg.connect(url, autocommit=True)) as connection:
                    connection.execute("CREATE EXTENSION vector")
                    connection.execute(
                        sql.SQL("GRANT recollect_app, recollect_system TO {}").format(sql.Identifier(name))
                    )
                parts = urlsplit(url)
                login = urlunsplit(parts._replace(netloc=f"{name}:{password}@{parts.netloc.rpartition('@')[2]}"))
                upgrade(login)
                yield login
        finally:
            server.execute(sql.SQL("DROP ROLE {}").format(sql.Identifier(name)))


@pytest.fixture
def owners(owned: str) -> Iterator[World]:
    """Give that owner's server with people and rows."""
    with closing(Database.open(owned, size=2)) as database:
        world = World(database)
        if not world.operator.people():
            world.populate()
            fill(world, MINE, THEIRS)
        yield world


def test_an_owner_who_forgot_to_take_on_a_role_sees_nothing(owners: World) -> None:
    """The login that owns the tables is behind the walls too, on every table and every partition."""

    def look(connection: Connection[Any]) -> None:
        row = connection.execute("SELECT rolsuper, rolbypassrls FROM pg_roles WHERE rolname = current_user").fetchone()
        assert row == (False, False)
        for table in ROWS:
            for name in (table, *(f"{table}_p{part}" for part in range(16))):
                assert counted(connection, name) == 0
                assert changed(connection, f"DELETE FROM {name}") == 0
            with pytest.raises(errors.InsufficientPrivilege):
                insert(connection, table, 1)
        for table in ("spaces", "people", "memberships", "api_keys", "settings", "audit", "vector_indexes"):
            assert counted(connection, table) == 0

    owners.database.alone(look)


@WALLED
def test_the_walls_hold_under_that_owner(owners: World, table: str) -> None:
    """Callers and the operator find on that server what they find on a superuser's."""
    bob = owners.as_(owners.caller("bob"))
    with bob.read() as connection:
        assert seen(connection, table) == [owners.number(MINE)]
    with refused(), bob.write() as connection:
        insert(connection, table, owners.number(THEIRS))
    with owners.database.read() as connection:
        assert counted(connection, table) == 2


def test_that_owner_keeps_the_directory(owners: World) -> None:
    """People, spaces and keys come and go there without a superuser."""
    owners.operator.make_person("zoe")
    zoe = owners.caller("zoe")
    owners.directory(zoe).make_space("den", "zoe")
    owners.directory(zoe).remove_space("den")
    owners.operator.remove_person("zoe")
    assert [person.id for person in owners.operator.people()] == ["ana", "bob", "eve"]


def test_that_owner_goes_back_and_forth(owned: str) -> None:
    """Down to nothing and up again takes no superuser either."""
    downgrade(owned, "base")
    upgrade(owned)
