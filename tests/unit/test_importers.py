"""Each importer on its samples: all of it arrives, twice is once, a dry run does nothing, and it survives an export."""

import json
import os
import shutil
import sqlite3
import zipfile
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from making import StandingClock, at, open_recollect
from recollect.core.errors import Refused
from recollect.core.foreign import Location
from recollect.core.memory import Memory
from recollect.importers.formats import FORMATS, read_source, recognise
from recollect.service.recollect import Recollect
from recollect.service.take_in import AS_FOUND, TakenIn, take_in

SAMPLES = Path(__file__).parents[1] / "samples" / "importers"
SHOP = Location("example.com/shop", None)
PATHS = {
    "claude-code": "claude-code/-home-ana-shop",
    "markdown": "markdown",
    "chatgpt": "chatgpt/conversations.json",
    "mem0": "mem0/memories.json",
    "basic-memory": "basic-memory",
    "mcp-memory-service": "mcp-memory-service/export.json",
    "mcp-memory": "mcp-memory/memory.jsonl",
    "claude-memory-mcp": "claude-memory-mcp/memories.json",
}
ADDED = {
    "claude-code": (6, 1),
    "markdown": (6, 0),
    "chatgpt": (4, 0),
    "mem0": (3, 1),
    "basic-memory": (3, 3),
    "mcp-memory-service": (3, 0),
    "mcp-memory": (3, 2),
    "claude-memory-mcp": (3, 1),
}
"""How many memories and links each sample becomes."""
SAID = {
    "claude-code": (
        "Only tagged commits reach production; the tag must start with v",
        "The pipeline ignores every other push.",
        "a push to main once went live by mistake",
        "Ana reviews pull requests before noon and answers nothing after six",
        "Ask her in the team channel, not by mail.",
        "deploys-need-a-tag",
        "0c6f9d1e-0000-4000-8000-000000000002",
        "its file was removed, this line is all there is",
        "`make fast` skips the slow checks",
        "Debugging > Flaky checkout test",
        "Safari drops the cookie; set SameSite=Lax.",
    ),
    "markdown": (
        "This file tells agents how to work here.",
        "Shop > Testing",
        "Run `just test`. Never skip a test.",
        "Shop > Testing > Slow tests",
        "# this is no heading",
        "No abbreviations in names",
        "API > Testing",
        "Use the fake clock.",
        "Keywords are upper case.",
        "paths: src/**/*.sql",
    ),
    "chatgpt": (
        "User moved to Lisbon in January 2026.",
        "User prefers Go for small tools.",
        "User keeps three hives.",
        "I keep bees and write Go.",
        "Short answers, metric units.",
    ),
    "mem0": (
        "Lives in Porto",
        "Moved from Porto to Lisbon in January 2026",
        "Prefers answers in metric units",
        "type: home",
        "user_id: ana",
        "run-7",
        "travel",
        "2025-01-15T18:30:00.000000Z",
    ),
    "basic-memory": (
        "Pour over tastes clearer than a French press",
        "Light roasts for filter (learned in Lisbon)",
        "buy a scale",
        "taught_by [[Ana Souza]]",
        "requires [[Grinding]]",
        "status: active",
        "brewing",
        "taste",
        "Leads the shop team",
        "A note without front matter.",
        "2026-01-03T10:00:00.000000Z",
    ),
    "mcp-memory-service": (
        "The search index is rebuilt every night at two.",
        "We chose Postgres over MySQL for its row security.",
        "Backups go to the second region.",
        "project: shop",
        "runbook",
        "2026-01-01T00:01:40.500000Z",
    ),
    "mcp-memory": (
        "Ana_Souza (person)",
        "Leads the shop team",
        "Reviews before noon",
        "leads: Shop",
        "Written in Go",
        "Checkout (component)",
        "belongs_to: Shop",
    ),
    "claude-memory-mcp": (
        "Deploys run on Tuesdays.",
        "Deploys run on Mondays.",
        "The door of the archive opens with the blue badge.",
        "rollout",
        "gotchas",
        "office",
    ),
}
"""What each sample says, as its memories must say it."""


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Recollect]:
    with open_recollect(tmp_path / "here.db", StandingClock(at(9e8))) as opened:
        yield opened


@pytest.fixture
def other(tmp_path: Path) -> Iterator[Recollect]:
    with open_recollect(tmp_path / "there.db", StandingClock(at(9e8))) as opened:
        yield opened


def import_sample(memory: Recollect, name: str, path: Path | None = None, *, dry_run: bool = False) -> TakenIn:
    path = SAMPLES / PATHS[name] if path is None else path
    project = "example.com/shop" if name == "claude-code" else AS_FOUND
    found = read_source(name, str(path), lambda _: SHOP)
    return take_in(memory.store, memory.clock, memory.space, name, found, project=project, dry_run=dry_run)


def memories(memory: Recollect) -> list[Memory]:
    return memory.page(memory.scope(project=None), 100)


def by_heading(memory: Recollect, heading: str) -> Memory:
    return next(each for each in memories(memory) if each.heading == heading)


def test_every_format_has_a_sample() -> None:
    """No importer goes untested."""
    assert set(PATHS) == set(ADDED) == set(SAID) == set(FORMATS)


@pytest.mark.parametrize("name", PATHS)
def test_all_of_a_sample_arrives(memory: Recollect, name: str) -> None:
    """Every statement of the sample is in a memory after the import, and nothing was refused."""
    outcome = import_sample(memory, name)
    assert (outcome.count("added"), outcome.links, outcome.problems) == (*ADDED[name], [])
    lines = "\n".join(memory.export_lines())
    stored = json.dumps([json.loads(line) for line in lines.splitlines()], ensure_ascii=False)
    assert [said for said in SAID[name] if json.dumps(said, ensure_ascii=False)[1:-1] not in stored] == []
    assert {each.action for each in memories(memory)} == {"imported"}


@pytest.mark.parametrize("name", PATHS)
def test_importing_twice_changes_nothing(memory: Recollect, name: str) -> None:
    """The second import finds everything as it is, and the store stays the same to the last state and link."""
    import_sample(memory, name)
    before = list(memory.export_lines())
    again = import_sample(memory, name)
    assert (again.changes, again.unchanged, again.links, again.problems) == ([], ADDED[name][0], 0, [])
    assert list(memory.export_lines()) == before


@pytest.mark.parametrize("name", PATHS)
def test_a_dry_run_says_what_the_import_then_does(memory: Recollect, name: str) -> None:
    """A dry run gives the same outcome as the import, on an empty store and on a full one, and writes nothing."""
    empty = list(memory.export_lines())
    dry = import_sample(memory, name, dry_run=True)
    assert list(memory.export_lines()) == empty
    assert import_sample(memory, name) == dry
    assert import_sample(memory, name, dry_run=True) == import_sample(memory, name)


@pytest.mark.parametrize("name", PATHS)
def test_an_imported_sample_survives_export_and_import(memory: Recollect, other: Recollect, name: str) -> None:
    """What was imported is exported and imported into a new store whole, where the source then has nothing new."""
    import_sample(memory, name)
    lines = list(memory.export_lines())
    assert other.import_lines(lines).problems == []
    assert list(other.export_lines()) == lines
    again = import_sample(other, name)
    assert (again.changes, again.links, again.problems) == ([], 0, [])


@pytest.mark.parametrize("name", PATHS)
def test_a_sample_is_recognised(name: str) -> None:
    """A file or a folder of a format is told from those of the others."""
    assert recognise(str(SAMPLES / PATHS[name])) == name


def test_claude_code_topics_keep_their_kind_and_their_links(memory: Recollect) -> None:
    """The type becomes the category, the session is kept, and [[names]] of other topics become links."""
    import_sample(memory, "claude-code")
    deploys = by_heading(memory, "Only tagged commits reach production; the tag must start with v")
    ana = by_heading(memory, "Ana reviews pull requests before noon and answers nothing after six")
    assert (deploys.category, ana.category) == ("projects", "people")
    assert deploys.updated_at.isoformat() == "2026-03-04T05:06:07+00:00"
    assert [(link.kind, link.target) for link in memory.links([deploys])] == [("see-also", ana.id)]


def test_claude_code_finds_the_project_of_its_folder(memory: Recollect, tmp_path: Path) -> None:
    """The folder is found from a session beside the memories, else from the slug; if it is gone, one must say."""
    sample = SAMPLES / PATHS["claude-code"] / "memory"
    work = tmp_path / "my-shop.git"
    work.mkdir()
    slug = "".join(each if each.isalnum() else "-" for each in str(work))
    shutil.copytree(sample, tmp_path / "projects" / slug / "memory")
    asked: list[str] = []

    def locate(folder: str) -> Location:
        asked.append(folder)
        return SHOP

    def read() -> TakenIn:
        found = read_source("claude-code", str(tmp_path / "projects"), locate)
        return take_in(memory.store, memory.clock, memory.space, "claude-code", found, dry_run=True)

    assert {change.memory.project for change in read().changes} == {"example.com/shop"}
    (tmp_path / "projects" / slug / "session.jsonl").write_text(
        "not json\n" + json.dumps({"type": "user", "cwd": str(work)})
    )
    read()
    assert asked == [str(work)] * 2
    work.rmdir()
    gone = read()
    assert gone.changes == []
    assert {problem.partition(": ")[2] for problem in gone.problems} == {
        "Its project is not known here: say --project NAME, or --general."
    }


def test_sections_are_known_by_their_place_in_the_project(memory: Recollect, tmp_path: Path) -> None:
    """The same file in another clone is the same memories; what another says under the same heading is not."""

    def locate(folder: str) -> Location:
        clone = next(each for each in (tmp_path / "one", tmp_path / "two") if str(each) in folder)
        return Location("example.com/shop", str(clone))

    for clone in ("one", "two"):
        shutil.copytree(SAMPLES / "markdown", tmp_path / clone, symlinks=True)
    outcomes = [
        take_in(
            memory.store, memory.clock, "personal", "markdown", read_source("markdown", str(tmp_path / clone), locate)
        )
        for clone in ("one", "two")
    ]
    assert [(each.count("added"), each.unchanged) for each in outcomes] == [(6, 0), (0, 6)]
    assert {each.project for each in memories(memory)} == {"example.com/shop"}


def test_what_is_in_dot_claude_belongs_to_the_folder_around_it(tmp_path: Path) -> None:
    """So the CLAUDE.md in one's home, which is no project, belongs to none."""
    asked: list[str] = []

    def locate(folder: str) -> Location:
        asked.append(folder)
        return Location()

    for file in (".claude/CLAUDE.md", ".claude/rules/deep.md"):
        (tmp_path / file).parent.mkdir(exist_ok=True)
        (tmp_path / file).write_text("text")
        list(read_source("markdown", str(tmp_path / file), locate))
    assert asked == [str(tmp_path)] * 2


def test_chatgpt_gives_what_was_saved_and_not_the_chats(memory: Recollect) -> None:
    """Chats, the tool's own answers and orders to forget are no memories; what was left is said."""
    outcome = import_sample(memory, "chatgpt")
    texts = "\n".join(each.content for each in memories(memory))
    for left in ("Remember that I moved", "Model set context updated", "Noted.", "Forget that", "ignore"):
        assert left not in texts
    assert any("told to forget" in line for line in outcome.skipped)
    assert any("2 conversations was left" in line for line in outcome.skipped)
    moved = by_heading(memory, "User moved to Lisbon in January 2026.")
    assert moved.created_at.isoformat() == "2026-01-01T00:01:00.500000+00:00"


@pytest.mark.parametrize("inside", [["conversations.json"], ["export/conversations-000.json"]])
def test_chatgpt_as_it_is_downloaded(memory: Recollect, tmp_path: Path, inside: list[str]) -> None:
    """The zip gives the same memories as the file in it."""
    import_sample(memory, "chatgpt")
    path = tmp_path / "export.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("user.json", "{}")
        for name in inside:
            archive.write(SAMPLES / PATHS["chatgpt"], name)
    assert recognise(str(path)) == "chatgpt"
    again = import_sample(memory, "chatgpt", path)
    assert (again.changes, again.unchanged, again.problems) == ([], 4, [])


@pytest.mark.parametrize("name", ["basic-memory", "claude-code"])
def test_another_kind_of_file_is_no_note(memory: Recollect, name: str) -> None:
    """An export in JSON is not cut into thousands of memories because somebody named the wrong format."""
    with pytest.raises(Refused, match="no Markdown file"):
        import_sample(memory, name, SAMPLES / PATHS["chatgpt"])
    assert memories(memory) == []


def test_chatgpt_as_a_browser_unpacked_it(memory: Recollect, tmp_path: Path) -> None:
    """The folder gives what all of its files together give; one without conversations is refused."""
    import_sample(memory, "chatgpt")
    with pytest.raises(Refused, match=r"holds no conversations\.json"):
        import_sample(memory, "chatgpt", tmp_path)
    for number, chat in enumerate(json.loads((SAMPLES / PATHS["chatgpt"]).read_text())):
        (tmp_path / f"conversations-{number:03}.json").write_text(json.dumps([chat]))
    (tmp_path / "user.json").write_text("{}")
    assert recognise(str(tmp_path)) == "chatgpt"
    again = import_sample(memory, "chatgpt", tmp_path)
    assert (again.changes, again.unchanged, again.problems) == ([], 4, [])


def test_mem0_knows_what_replaced_what(memory: Recollect) -> None:
    """A memory that mem0 replaced is superseded by its replacement; preferences are preferences."""
    import_sample(memory, "mem0")
    new, old = by_heading(memory, "Moved from Porto to Lisbon in January 2026"), by_heading(memory, "Lives in Porto")
    assert [(link.source, link.kind, link.target) for link in memory.links([old])] == [(new.id, "supersedes", old.id)]
    assert by_heading(memory, "Prefers answers in metric units").category == "preferences"


@pytest.mark.parametrize(
    "shape", [lambda all_: all_, lambda all_: {"memories": all_}, lambda all_: {"count": 3, "results": all_}]
)
def test_mem0_in_every_shape_it_is_given_in(
    memory: Recollect, tmp_path: Path, shape: Callable[[list[Any]], object]
) -> None:
    """The list alone, and a page of it, give the same memories."""
    import_sample(memory, "mem0")
    listed = json.loads((SAMPLES / PATHS["mem0"]).read_text())["results"]
    (tmp_path / "other.json").write_text(json.dumps(shape(listed)))
    assert import_sample(memory, "mem0", tmp_path / "other.json").unchanged == 3


def test_a_page_of_mem0_is_not_taken_for_all(memory: Recollect, tmp_path: Path) -> None:
    """Where there is a next page, the rest is missing, and that is said."""
    page = json.loads((SAMPLES / PATHS["mem0"]).read_text()) | {"count": 250, "next": "https://example.com/?page=2"}
    (tmp_path / "page.json").write_text(json.dumps(page))
    outcome = import_sample(memory, "mem0", tmp_path / "page.json")
    assert outcome.count("added") == 3
    assert ["3 of 250 memories" in line for line in outcome.problems] == [True]


def test_an_entity_that_is_there_twice_keeps_all_that_is_said_of_it(memory: Recollect, tmp_path: Path) -> None:
    """Two servers on one file leave an entity in it twice: what either says is taken, and the same once."""
    entity = {"type": "entity", "name": "Anna", "entityType": "person"}
    lines = [{**entity, "observations": ["likes tea"]}, {**entity, "observations": ["likes tea", "lives in Porto"]}]
    (tmp_path / "memory.jsonl").write_text("\n".join(map(json.dumps, lines)))
    assert import_sample(memory, "mcp-memory", tmp_path / "memory.jsonl").problems == []
    assert [each.content for each in memories(memory)] == ["Anna (person)\n- likes tea\n- lives in Porto"]


def test_basic_memory_notes_keep_tags_kind_and_relations(memory: Recollect) -> None:
    """Tags of the note and of its observations are tags, its type the category; known notes are linked."""
    import_sample(memory, "basic-memory")
    coffee, ana = by_heading(memory, "Coffee Brewing"), by_heading(memory, "Ana Souza")
    assert coffee.tags == ("coffee", "brewing", "taste")
    assert (coffee.category, ana.category) == ("facts", "people")
    assert {(link.source, link.target) for link in memory.links([coffee, ana])} >= {
        (coffee.id, ana.id),
        (ana.id, coffee.id),
    }


def _sqlite(path: Path, schema: str, rows: list[dict[str, Any]]) -> Path:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(schema)
        for row in rows:
            marks = ", ".join("?" * len(row))
            connection.execute(f"INSERT INTO memories ({', '.join(row)}) VALUES ({marks})", list(row.values()))
    return path


def test_mcp_memory_service_from_its_database(memory: Recollect, tmp_path: Path) -> None:
    """The SQLite file gives the memories that the export of it gives; what was deleted there is left."""
    import_sample(memory, "mcp-memory-service")
    records = json.loads((SAMPLES / PATHS["mcp-memory-service"]).read_text())["memories"]
    rows = [
        {
            **{name: record[name] for name in ("content", "content_hash", "memory_type", "created_at", "updated_at")},
            "tags": record["tags"] if isinstance(record["tags"], str) else ",".join(record["tags"]),
            "metadata": json.dumps(record["metadata"]),
        }
        for record in records
    ]
    rows[1]["superseded_by"] = "aa01"
    path = _sqlite(
        tmp_path / "sqlite_vec.db",
        "CREATE TABLE memories (id INTEGER PRIMARY KEY, content_hash TEXT UNIQUE NOT NULL, content TEXT NOT NULL, "
        "tags TEXT, memory_type TEXT, metadata TEXT, created_at REAL, updated_at REAL, created_at_iso TEXT, "
        "updated_at_iso TEXT, deleted_at REAL, superseded_by TEXT)",
        [*rows, {"content_hash": "aa04", "content": "gone", "deleted_at": 1.0}],
    )
    assert recognise(str(path)) == "mcp-memory-service"
    again = import_sample(memory, "mcp-memory-service", path)
    assert (again.changes, again.unchanged, again.links, again.problems) == ([], 3, 1, [])
    assert by_heading(memory, "The search index is rebuilt every night at two.").importance == 0.75


def test_claude_memory_mcp_from_its_database(memory: Recollect, tmp_path: Path) -> None:
    """Rows that the server knows are the same memories as from its API; others have an id of their own."""
    import_sample(memory, "claude-memory-mcp")
    schema = (
        "CREATE TABLE memories (id INTEGER PRIMARY KEY AUTOINCREMENT, content TEXT NOT NULL, category TEXT, "
        "tags TEXT, expanded_keywords TEXT, importance REAL, is_sensitive INTEGER, created_at TEXT NOT NULL, "
        "updated_at TEXT NOT NULL"
    )
    row = {
        "content": "Deploys run on Tuesdays.", "category": "decisions", "tags": "deploy, ci", "importance": 0.8,
        "expanded_keywords": "release ship rollout tuesday", "is_sensitive": 0, "created_at": "2026-01-01T10:00:00",
        "updated_at": "2026-01-02T10:00:00",
    }  # fmt: skip
    local = {**row, "content": "The cache key of the shop is its hostname.", "is_sensitive": 1}
    path = _sqlite(tmp_path / "memory.db", f"{schema}, server_id INTEGER)", [{**row, "server_id": 11}, local])
    assert recognise(str(path)) == "claude-memory-mcp"
    outcome = import_sample(memory, "claude-memory-mcp", path)
    assert (outcome.count("added"), outcome.unchanged, outcome.problems) == (1, 1, [])
    assert by_heading(memory, local["content"]).sensitive  # type: ignore[arg-type]
    alone = _sqlite(tmp_path / "alone.db", f"{schema})", [local])
    assert import_sample(memory, "claude-memory-mcp", alone).count("added") == 1


def test_the_source_is_only_read(memory: Recollect, tmp_path: Path) -> None:
    """An import leaves no trace at its source: every file has the bytes it had, and there is no other."""
    shutil.copytree(SAMPLES, tmp_path / "samples", symlinks=True)
    schema = "CREATE TABLE memories (id INTEGER PRIMARY KEY, content TEXT, expanded_keywords TEXT)"
    database = _sqlite(tmp_path / "samples" / "memory.db", schema, [{"content": "text"}])
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")

    def everything() -> dict[str, bytes]:
        files = [Path(here, name) for here, _, names in os.walk(tmp_path / "samples") for name in names]
        return {str(file): file.read_bytes() for file in files}

    before = everything()
    for name, path in PATHS.items():
        import_sample(memory, name, tmp_path / "samples" / path)
    assert import_sample(memory, "claude-memory-mcp", database).count("added") == 1
    assert everything() == before


def test_a_database_that_is_in_use_is_read_as_it_is(memory: Recollect, tmp_path: Path) -> None:
    """What its program wrote last is read too, while it goes on."""
    schema = "CREATE TABLE memories (id INTEGER PRIMARY KEY, content TEXT, expanded_keywords TEXT)"
    database = _sqlite(tmp_path / "memory.db", schema, [{"content": "first"}])
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("INSERT INTO memories (content) VALUES ('second')")
        connection.commit()
        assert import_sample(memory, "claude-memory-mcp", database).count("added") == 2
