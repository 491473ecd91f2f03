"""From an empty file to the present schema, from an older one up, and what happens when it cannot be done."""

import re
import sqlite3
from collections.abc import Callable, Iterator
from importlib.resources import files
from inspect import signature
from pathlib import Path

import pytest

from fakes import ToyEmbedder
from making import StandingClock, at, make_memory, make_query, open_recollect, ref_of
from recollect.core import analysis
from recollect.core.errors import StoreDamaged, StoreError, StoreTooNew
from recollect.core.ports import VectorSet
from recollect.service.embed import Embedded, build
from recollect.service.extract import Rules, extract_waiting
from recollect.stores.sqlite.database import Database
from recollect.stores.sqlite.migrate import migrate, shipped
from recollect.stores.sqlite.store import SqliteStore

HERE = Path(__file__).parent
MAY_BE_EMBEDDED = 12
"""Memories of a dump that are neither forgotten nor sensitive."""
ANALYSIS = f"{analysis.VERSION} english"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


@pytest.fixture
def database(path: Path) -> Iterator[Database]:
    opened = Database(str(path))
    yield opened
    opened.close()


def _ask(path: Path, question: str) -> list[tuple[object, ...]]:
    """Look into the file past our own code."""
    connection = sqlite3.connect(path)
    try:
        return connection.execute(question).fetchall()
    finally:
        connection.close()


def _tell(path: Path, statement: str) -> None:
    connection = sqlite3.connect(path)
    connection.execute(statement)
    connection.commit()
    connection.close()


def _schema(path: Path) -> list[tuple[object, ...]]:
    return _ask(path, "SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY type, name")


def _fill(path: Path) -> None:
    store = SqliteStore(str(path))
    store.memories.add([make_memory(1, "alpha beta"), make_memory(2, "alpha gamma")])
    store.close()


def _found(path: Path, text: str = "alpha") -> list[str]:
    with open_recollect(path, StandingClock(at(100))) as memory:
        return sorted(found.memory.content for found in memory.recall(text).results)


def _nothing(_connection: sqlite3.Connection) -> None:
    pass


def test_an_empty_file_becomes_a_store(path: Path) -> None:
    """A file that is not there, or empty, gets the present schema, and counts how much of it."""
    path.touch()
    SqliteStore(str(path)).close()
    assert _ask(path, "PRAGMA user_version") == [(len(shipped()),)]
    assert _ask(path, "SELECT name, value FROM about") == [("analysis", ANALYSIS)]
    tables = {
        name
        for (name,) in _ask(path, "SELECT name FROM sqlite_master WHERE type = 'table' AND sql LIKE 'CREATE TABLE %'")
    }
    tables.discard("sqlite_sequence")
    assert tables == {
        "spaces", "memories", "revisions", "postings", "links", "outbox", "settings", "about", "vector_sets", "vectors",
        "extractors", "concepts", "concept_names", "memory_concepts", "concept_edges", "edge_evidence", "extracted",
    }  # fmt: skip
    assert _ask(path, "PRAGMA journal_mode") == [("wal",)]


def test_opening_again_changes_nothing(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A current store is opened without a write."""
    _fill(path)
    before = path.read_bytes()
    monkeypatch.setattr(Database, "write", None)
    SqliteStore(str(path)).close()
    assert path.read_bytes() == before


def test_the_newest_version_is_the_number_of_files() -> None:
    """The number that spares opening the files is the number of files, named from 0001 on without a gap."""
    names = sorted(file.name for file in (files("recollect.stores.sqlite") / "migrations").iterdir())
    scripts = [name for name in names if name.endswith(".sql")]
    assert signature(migrate).parameters["newest"].default == len(shipped()) == len(scripts)
    assert [name[:5] for name in scripts] == [f"{number:04}_" for number in range(1, len(scripts) + 1)]


@pytest.mark.parametrize("script", shipped(), ids=range(1, len(shipped()) + 1))
def test_every_statement_of_a_migration_ends(script: str) -> None:
    """What follows the last semicolon of a script is no statement: it would be left out without a word."""
    rest = script[script.rindex(";") + 1 :]
    assert all(line.startswith("--") or not line.strip() for line in rest.splitlines())


def test_a_newer_store_is_refused(path: Path) -> None:
    """A store of a schema this version does not know is left alone, with the advice to upgrade."""
    _fill(path)
    _tell(path, f"PRAGMA user_version = {len(shipped()) + 1}")
    before = _schema(path)
    with pytest.raises(StoreTooNew, match=r"written by a newer Recollect .*Upgrade Recollect, or use another store"):
        SqliteStore(str(path))
    assert _schema(path) == before
    assert _ask(path, "PRAGMA user_version") == [(len(shipped()) + 1,)]


def test_a_second_migration_keeps_what_is_there(path: Path, database: Database) -> None:
    """An upgrade applies only what is missing; memories stay and are found, by a version that knows the new schema."""
    _fill(path)
    second = "ALTER TABLE memories ADD COLUMN mood TEXT;\nCREATE TABLE extra (n INTEGER);\n"
    scripts = [*shipped(), second]
    migrate(database, ANALYSIS, _nothing, load=lambda: scripts, newest=len(scripts))
    assert _ask(path, "PRAGMA user_version") == [(len(scripts),)]
    assert _ask(path, "SELECT content, mood FROM memories ORDER BY key") == [
        ("alpha beta", None),
        ("alpha gamma", None),
    ]
    migrate(database, ANALYSIS, _nothing, load=_never, newest=len(scripts))


def _never() -> list[str]:
    raise AssertionError


@pytest.mark.parametrize(
    "second",
    [
        "CREATE TABLE extra (n INTEGER);\nINSERT INTO nowhere VALUES (1);\n",
        "DELETE FROM memories;\nDROP TABLE postings;\nSYNTAX ERROR;\n",
        "UPDATE memories SET content = NULL;\n",
    ],
)
def test_a_migration_that_fails_leaves_the_store_as_it_was(path: Path, database: Database, second: str) -> None:
    """Schema, version and every row are as before, whatever the script had done already; the store still opens."""
    _fill(path)
    before = _schema(path), _ask(path, "SELECT * FROM memories"), _ask(path, "SELECT * FROM postings")
    scripts = [*shipped(), second]
    with pytest.raises((StoreError, sqlite3.IntegrityError)):
        migrate(database, ANALYSIS, _nothing, load=lambda: scripts, newest=len(scripts))
    assert (_schema(path), _ask(path, "SELECT * FROM memories"), _ask(path, "SELECT * FROM postings")) == before
    assert _ask(path, "PRAGMA user_version") == [(len(shipped()),)]
    assert _found(path) == ["alpha beta", "alpha gamma"]


def test_a_first_migration_that_fails_leaves_an_empty_file(path: Path, database: Database) -> None:
    """Half a schema is no schema: the next opening starts from nothing and succeeds."""
    broken = shipped()[0] + "\nSYNTAX ERROR;\n"
    with pytest.raises(StoreError, match="syntax error"):
        migrate(database, ANALYSIS, _nothing, load=lambda: [broken])
    assert _schema(path) == []
    assert _ask(path, "PRAGMA user_version") == [(0,)]
    SqliteStore(str(path)).close()


def test_an_index_that_cannot_be_built_leaves_the_store_as_it_was(path: Path, database: Database) -> None:
    """Reindexing belongs to the same transaction as the schema: it fails, nothing happened."""
    _fill(path)

    def fail(connection: sqlite3.Connection) -> None:
        connection.execute("DELETE FROM postings")
        raise MemoryError

    with pytest.raises(MemoryError):
        migrate(database, "2 klingon", fail)
    assert _ask(path, "SELECT value FROM about") == [(ANALYSIS,)]
    assert _found(path) == ["alpha beta", "alpha gamma"]


def test_statements_may_span_lines_and_hold_semicolons(path: Path, database: Database) -> None:
    """A trigger, or a text with a semicolon, is one statement."""
    second = (
        "CREATE TABLE notes (text TEXT);\n-- a comment; with a semicolon\n"
        "CREATE TRIGGER noted AFTER INSERT ON spaces BEGIN\n    INSERT INTO notes VALUES ('a; b');\nEND;\n"
    )
    migrate(database, ANALYSIS, _nothing, load=lambda: [*shipped(), second], newest=len(shipped()) + 1)
    _tell(path, "INSERT INTO spaces (id) VALUES ('x')")
    assert _ask(path, "SELECT text FROM notes") == [("a; b",)]


def test_another_analysis_indexes_anew(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A store whose words were made by another version of the analysis is indexed by this one when it is opened."""
    _fill(path)
    _tell(path, "UPDATE postings SET term = 'old ' || term")
    assert _found(path) == []
    monkeypatch.setattr(analysis, "VERSION", analysis.VERSION + 1)
    assert _found(path) == ["alpha beta", "alpha gamma"]
    assert _ask(path, "SELECT value FROM about") == [(f"{analysis.VERSION} english",)]
    store = SqliteStore(str(path))
    assert store.examine(lambda _done, _total: None) == []
    store.close()


def test_another_language_indexes_anew(path: Path) -> None:
    """The words follow the language a store is opened with, there and back."""
    store = SqliteStore(str(path))
    store.memories.add([make_memory(1, "Häuser")])
    store.close()
    for language, found in (("german", [ref_of(1)]), ("english", [])):
        store = SqliteStore(str(path), language)
        assert [hit.ref for hit in store.legs[0].search(make_query("Haus"), 10, 60)] == found
        assert store.examine(lambda _done, _total: None) == []
        store.close()


def _versions() -> list[Path]:
    return sorted(HERE.glob("store_v*.sql"))


def _restore(path: Path, dump: Path) -> None:
    connection = sqlite3.connect(path)
    connection.executescript(dump.read_text(encoding="utf-8"))
    connection.close()


@pytest.mark.parametrize("dump", _versions(), ids=lambda dump: dump.stem)
def test_a_store_of_any_version_opens_and_recalls(path: Path, dump: Path) -> None:
    """What an earlier version wrote is opened, brought up to date, and recalled from, with its past and its links."""
    _restore(path, dump)
    with open_recollect(path, StandingClock(at(3600))) as memory:
        assert _ask(path, "PRAGMA user_version") == [(len(shipped()),)]
        assert memory.store.examine(lambda _done, _total: None) == []

        def first(text: str, **how: object) -> str:
            return memory.recall(text, project=None, **how).results[0].memory.content  # type: ignore[arg-type]

        assert first("when do we deploy?") == "Deploys run from the main branch every Friday."
        assert first("release day", as_of=at(5)) == "Deploys run from the main branch every Tuesday."
        assert first("10.0.0.1") == "The staging database moved to db.example.com:5432."
        assert first("getuserbyid guests").startswith("getUserById in app.py")
        assert first("東京").startswith("getUserById")
        assert memory.recall("cafe lunch", project=None).results == ()
        assert first("cafe lunch", as_of=at(7)) == "Lunch is at noon in café Zoë."
        (symptom,) = [
            found for found in memory.recall("printer jams", project=None).results if "jams" in found.memory.content
        ]
        assert [answer.content[:5] for answer in symptom.answers] == ["Clean"]
        personal, team = memory.store.count()
        assert (personal.space, team.space) == ("personal", "team")
        assert (personal.memories, personal.forgotten, personal.sensitive, personal.revisions, personal.links) == (
            7, 1, 1, 3, 2,
        )  # fmt: skip
        assert memory.settings().whole("limit") == 5
        kept = memory.remember("And something new.")
        memory.edit(kept.id, content="And something newer.")
        assert first("newer") == "And something newer."
        assert memory.store.examine(lambda _done, _total: None) == []


@pytest.mark.parametrize("dump", _versions(), ids=lambda dump: dump.stem)
def test_a_store_of_any_version_is_indexed_anew(path: Path, dump: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What an earlier version wrote is taken for ours and indexed by the analysis of today."""
    _restore(path, dump)
    monkeypatch.setattr(analysis, "VERSION", analysis.VERSION + 1)
    store = SqliteStore(str(path))
    assert store.examine(lambda _done, _total: None) == []
    assert len(store.legs[0].search(make_query("deploys"), 10, 60)) == 1
    store.close()


def test_a_store_from_before_vectors_has_no_model_and_an_empty_queue(path: Path) -> None:
    """What waited for a model that nobody had named no longer does: every set fills its own queue."""
    _restore(path, HERE / "store_v1.sql")
    assert _ask(path, "SELECT COUNT(*) FROM outbox") == [(MAY_BE_EMBEDDED,)]
    before = _ask(path, "SELECT * FROM memories ORDER BY key")
    store = SqliteStore(str(path))
    assert store.vectors.sets() == []
    assert [count.waiting for count in store.count()] == [0, 0]
    assert _ask(path, "SELECT COUNT(*) FROM outbox") == [(0,)]
    assert _ask(path, "SELECT * FROM memories ORDER BY key") == before
    store.close()


def test_a_store_with_vectors_keeps_them(path: Path) -> None:
    """The sets of an earlier version are there with their vectors, their queues, and the one in use."""
    _restore(path, HERE / "store_v2.sql")
    store = SqliteStore(str(path))
    assert store.vectors.sets() == [
        VectorSet("turning", 2, active=True, vectors=MAY_BE_EMBEDDED - 1, waiting=1),
        VectorSet("unfinished", 2, active=False, vectors=3, waiting=MAY_BE_EMBEDDED - 3),
    ]
    store.close()


def test_a_store_with_concepts_keeps_them(path: Path) -> None:
    """What an earlier version read is there, with its names, relations and queue."""
    _restore(path, HERE / "store_v3.sql")
    store = SqliteStore(str(path))
    assert [(each.name, each.waiting) for each in store.concepts.readers()] == [("rules 1", 1), ("by hand", 0)]
    concept = store.concepts.find("personal", "The Old Beast")
    assert concept is not None
    assert (concept.name, concept.aliases, len(concept.mentions)) == ("Printer", ("the old beast",), 1)
    assert [(said.relation, said.target, len(said.evidence)) for said in concept.relations] == [
        ("stands on", "second floor", 1)
    ]
    store.close()


@pytest.mark.parametrize("dump", _versions(), ids=lambda dump: dump.stem)
def test_a_store_of_any_version_can_be_read(path: Path, dump: Path) -> None:
    """The rules of today read all that may be read of what an earlier version wrote."""
    _restore(path, dump)
    store = SqliteStore(str(path))
    extract_waiting(store, Rules())
    assert store.concepts.knows(["personal"], ["getUserById"])
    assert store.concepts.knows(["team"], ["ops"])
    assert not store.concepts.knows(["personal", "team"], ["1234"])
    assert store.examine(lambda _done, _total: None) == []
    store.close()


@pytest.mark.parametrize("dump", _versions(), ids=lambda dump: dump.stem)
def test_a_store_of_any_version_can_be_embedded(path: Path, dump: Path) -> None:
    """A model embeds all that may be embedded of what an earlier version wrote, and recalls use it."""
    _restore(path, dump)
    with open_recollect(path, StandingClock(at(3600)), open_embedder=ToyEmbedder) as memory:
        assert build(memory.store, memory.gates.of("toy")) == Embedded(MAY_BE_EMBEDDED)
        assert memory.recall("anything at all", project=None).notices == ()
        assert memory.store.examine(lambda _done, _total: None) == []


def test_there_is_a_store_of_every_version() -> None:
    """Each schema that was ever shipped has its dump, which later versions must open."""
    assert [dump.stem for dump in _versions()] == [f"store_v{number}" for number in range(1, len(shipped()) + 1)]


def _plain(schema: list[tuple[object, ...]]) -> list[tuple[object, ...]]:
    return [(*row[:3], re.sub(r"\s+", " ", str(row[3]))) for row in schema]


def test_the_newest_dump_has_the_schema_of_a_new_store(path: Path, tmp_path: Path) -> None:
    """A store that was upgraded from the last dump has the same schema as one made today."""
    SqliteStore(str(path)).close()
    other = tmp_path / "other.db"
    _restore(other, _versions()[-1])
    SqliteStore(str(other)).close()
    assert _plain(_schema(other)) == _plain(_schema(path))


def _garbage(path: Path) -> None:
    path.write_bytes(b"This is a shopping list and no database at all. " * 100)


def _overwritten(path: Path) -> None:
    _fill(path)
    whole = path.read_bytes()
    path.write_bytes(whole[:4096] + b"\xff" * (len(whole) - 4096))


def _cut(path: Path) -> None:
    _fill(path)
    path.write_bytes(path.read_bytes()[:6000])


def _bad_header(path: Path) -> None:
    _fill(path)
    path.write_bytes(b"SQLite format 9\0" + path.read_bytes()[16:])


@pytest.mark.parametrize("damage", [_garbage, _overwritten, _cut, _bad_header])
def test_a_damaged_file_is_refused_with_advice_and_left_alone(path: Path, damage: Callable[[Path], None]) -> None:
    """What is no healthy SQLite file is neither used nor changed, and the message says what to do."""
    damage(path)
    before = path.read_bytes()
    with pytest.raises(StoreDamaged, match=r"not a healthy Recollect store.*Keep a copy.*import your last export"):
        SqliteStore(str(path))
    assert path.read_bytes() == before


@pytest.mark.parametrize("version", [0, 1, 7])
def test_the_database_of_another_program_is_refused_and_left_alone(path: Path, version: int) -> None:
    """A healthy SQLite file that is not ours gets none of our tables, however it counts its own versions."""
    _tell(path, "CREATE TABLE bookmarks (url TEXT)")
    _tell(path, f"PRAGMA user_version = {version}")
    before = _schema(path)
    with pytest.raises(StoreError):
        SqliteStore(str(path))
    assert _schema(path) == before


def test_a_script_that_ends_early_is_no_script(path: Path) -> None:
    """A last statement without its semicolon is an error of ours that no store must suffer."""
    with pytest.raises(ValueError, match="without a semicolon"):
        migrate(Database(str(path)), "1 english", lambda _: None, lambda: ["CREATE TABLE about (a)"], newest=1)


def test_a_process_from_before_an_upgrade_writes_no_more(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a newer version indexed anew is not written to by an older one that still runs: it says to restart."""
    older = SqliteStore(str(path))
    older.memories.add([make_memory(1)])
    monkeypatch.setattr(analysis, "VERSION", analysis.VERSION + 1)
    SqliteStore(str(path)).close()
    with pytest.raises(StoreTooNew, match="restart"):
        older.memories.add([make_memory(2)])
    assert len(older.memories.get([ref_of(1), ref_of(2)])) == 1
    older.close()
