"""Files that are broken, of the wrong kind, or made to hurt: refused with a reason or told of, never a crash."""

import json
import sqlite3
import zipfile
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from making import StandingClock, open_recollect
from recollect.core.errors import Refused
from recollect.core.foreign import Found, Location
from recollect.importers.formats import FORMATS, read_source, recognise
from recollect.importers.front_matter import split_front_matter
from recollect.importers.sections import cut_sections
from recollect.service.recollect import Recollect
from recollect.service.take_in import TakenIn, take_in

JSON = ("chatgpt", "mem0", "mcp-memory-service", "claude-memory-mcp", "mcp-memory")
TEXT = ("markdown", "claude-code", "basic-memory")


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Recollect]:
    with open_recollect(tmp_path / "here.db", StandingClock()) as opened:
        yield opened


def read(name: str, path: Path) -> list[Found]:
    return list(read_source(name, str(path), lambda _: Location("p", None)))


def import_(memory: Recollect, name: str, path: Path) -> TakenIn:
    found = read_source(name, str(path), lambda _: Location("p", None))
    return take_in(memory.store, memory.clock, "personal", name, found, project=None)


def _write(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("name", JSON)
@pytest.mark.parametrize(
    "content",
    [
        b"", b"not json", b"[" * 200_000, b'{"a":' * 200_000, b"\xff\xfe\x00", b"\x80abc", b'{"memories": 5}',
        b"5", b"null", b'"x"',
    ],
    ids=["empty", "words", "deep list", "deep object", "half utf-16", "not utf-8", "number", "5", "null", "text"],
)  # fmt: skip
def test_what_is_no_such_file_is_refused_or_told(memory: Recollect, tmp_path: Path, name: str, content: bytes) -> None:
    """A file that cannot be of the format gives an error or problems, and no memory."""
    path = _write(tmp_path / "odd.json", content)
    try:
        outcome = import_(memory, name, path)
    except Refused as error:
        told = [str(error)]
    else:
        told = outcome.problems
    assert told
    assert memory.page(memory.scope(), 10) == []


@pytest.mark.parametrize(("name", "whole"), [
    ("mem0", lambda all_: {"results": all_}),
    ("chatgpt", lambda all_: all_),
    ("mcp-memory-service", lambda all_: {"export_metadata": {}, "memories": all_}),
    ("claude-memory-mcp", lambda all_: {"memories": all_}),
    ("mcp-memory", lambda all_: {"entities": all_, "relations": all_}),
])  # fmt: skip
@pytest.mark.parametrize("record", [
    None, 5, "text", [], {}, {"memory": 5, "content": 5, "mapping": 5, "name": 5},
    {"memory": " ", "content": " ", "mapping": None, "name": " "},
    {"memory": None, "content": ["x"], "mapping": ["x"], "name": {}},
])  # fmt: skip
def test_a_record_of_the_wrong_kind_is_told_and_the_rest_is_taken(
    memory: Recollect, tmp_path: Path, name: str, whole: Callable[[list[object]], object], record: object
) -> None:
    """Whatever one record is, the good one beside it is imported and the report says which was not."""
    node = {"message": {"recipient": "bio", "content": {"parts": ["good"]}}}
    good = {"memory": "good", "content": "good", "mapping": {"n": node}, "name": "good", "from": "good", "to": "good",
            "relationType": "is"}  # fmt: skip
    path = _write(tmp_path / "some.json", json.dumps(whole([record, good])).encode())
    outcome = import_(memory, name, path)
    assert [change.memory.heading for change in outcome.changes] == ["good"]
    assert outcome.problems


@pytest.mark.parametrize("name", ["mem0", "mcp-memory-service", "claude-memory-mcp"])
def test_fields_of_the_wrong_kind_do_not_cost_the_memory(memory: Recollect, tmp_path: Path, name: str) -> None:
    """A time, a tag or a weight that is none is left out; the text is kept."""
    odd = {
        "id": 7, "memory": "text", "content": "text", "content_hash": 5, "created_at": "yesterday", "updated_at": 1e300,
        "tags": {"a": 1}, "categories": [None, "", "x" * 500, "two\nlines", 5], "metadata": [1], "memory_type": 9,
        "category": ["x"], "importance": "high", "expanded_keywords": 3, "links_out": [None, {"type": "likes"}],
        "replaced_by": 5, "run_id": "a\nb", "is_sensitive": "no",
    }  # fmt: skip
    outcome = import_(memory, name, _write(tmp_path / "some.json", json.dumps({"memories": [odd]}).encode()))
    assert [change.memory.content for change in outcome.changes] == ["text"]


def test_more_labels_than_a_memory_can_have_are_kept(memory: Recollect, tmp_path: Path) -> None:
    """Hundreds of search words go into fewer keywords, and none is lost."""
    words = [f"word{number}" for number in range(300)]
    record = {"id": 1, "content": "text", "expanded_keywords": " ".join(words), "tags": ",".join(words)}
    outcome = import_(memory, "claude-memory-mcp", _write(tmp_path / "some.json", json.dumps([record]).encode()))
    kept = outcome.changes[0].memory
    assert " ".join(kept.keywords).split() == " ".join(kept.tags).split() == words


@pytest.mark.parametrize("name", TEXT)
def test_text_that_is_not_utf8_is_told_and_the_rest_is_taken(memory: Recollect, tmp_path: Path, name: str) -> None:
    """One file of a folder that cannot be read does not keep the others from being imported."""
    folder = tmp_path / "memory"
    (folder / "sub").mkdir(parents=True)
    _write(folder / "CLAUDE.md", b"\xff\x80\x80")
    _write(folder / "sub" / "CLAUDE.md", b"# Good\n\ntext")
    outcome = import_(memory, name, folder)
    assert len(outcome.changes) == 1
    assert [problem for problem in outcome.problems if "not text in UTF-8" in problem]


@pytest.mark.parametrize("name", FORMATS)
def test_what_is_not_there_is_refused(tmp_path: Path, name: str) -> None:
    """A path that leads nowhere, and a folder with nothing in it, are refused by name."""
    (tmp_path / "empty").mkdir()
    for path in (tmp_path / "missing", tmp_path / "empty"):
        with pytest.raises(Refused, match=str(path)):
            read(name, path)


def test_a_format_that_there_is_not_is_refused() -> None:
    """The error lists those that there are."""
    with pytest.raises(Refused, match="no format 'songs': --from takes claude-code, markdown"):
        read_source("songs", ".", lambda _: Location())


@pytest.mark.parametrize("name", ["mcp-memory-service", "claude-memory-mcp"])
def test_a_database_that_is_none_is_refused(tmp_path: Path, name: str) -> None:
    """A SQLite file with other tables, one cut short and one of nonsense give a reason; text that is none is told."""
    other = tmp_path / "other.db"
    with closing(sqlite3.connect(other)) as connection, connection:
        connection.execute("CREATE TABLE memories (id INTEGER)")
    with pytest.raises(Refused, match="no SQLite file of"):
        read(name, other)
    assert recognise(str(other)) is None
    for broken in (b"SQLite format 3\0", b"SQLite format 3\0" + b"\x07" * 4096):
        with pytest.raises(Refused):
            read(name, _write(tmp_path / "broken.db", broken))


def test_a_database_with_text_that_is_not_utf8(memory: Recollect, tmp_path: Path) -> None:
    """Such a row is told, and the others are taken."""
    path = tmp_path / "memory.db"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE memories (id INTEGER PRIMARY KEY, content TEXT, expanded_keywords TEXT)")
        connection.execute("INSERT INTO memories (content) VALUES (CAST(x'ff80' AS TEXT)), ('good')")
    outcome = import_(memory, "claude-memory-mcp", path)
    assert [change.memory.content for change in outcome.changes] == ["good"]
    assert "memory 1: The content contains half of a surrogate pair" in outcome.problems[0]


def test_zips_that_are_no_export_are_refused(tmp_path: Path) -> None:
    """One without conversations, one with nonsense in them, and one that is cut short each give a reason."""
    path = tmp_path / "export.zip"
    for name, text in (("user.json", "{}"), ("conversations.json", "not json"), ("conversations.json", "{}")):
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr(name, text)
        with pytest.raises(Refused, match=r"conversations\.json"):
            read("chatgpt", path)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("conversations.json", json.dumps([{"mapping": {}}] * 500))
    whole = bytearray(path.read_bytes())
    whole[40:60] = bytes(range(20))
    with pytest.raises(Refused):
        read("chatgpt", _write(path, bytes(whole)))


def test_deep_folders_that_lead_in_a_circle_end(memory: Recollect, tmp_path: Path) -> None:
    """A folder that links to itself is read once."""
    _write(tmp_path / "note.md", b"text")
    (tmp_path / "loop").symlink_to(tmp_path, target_is_directory=True)
    assert import_(memory, "basic-memory", tmp_path).count("added") == 1


NAMES = (
    "memories", "results", "memory", "content", "mapping", "message", "recipient", "parts", "name", "entities",
    "relations", "observations", "from", "to", "relationType", "metadata", "id", "tags", "content_type", "user_profile",
    "title", "create_time", "links_out", "type",
)  # fmt: skip
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(NAMES) | st.text(max_size=5), inner, max_size=5)
    ),
    max_leaves=25,
)


@pytest.mark.parametrize("name", JSON)
@given(value=json_values)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60, deadline=None)
def test_no_json_at_all_crashes_an_importer(tmp_path: Path, name: str, value: object) -> None:
    """Whatever the file holds, it is read, told or refused."""
    path = _write(tmp_path / "any.json", json.dumps(value).encode())
    recognise(str(path))
    with suppress(Refused):
        read(name, path)


@given(st.text(st.sampled_from("-:[]'\"#>| \tab\n"), max_size=60))
@settings(deadline=None)
def test_no_text_at_all_crashes_the_readers_of_markdown(text: str) -> None:
    """Front matter is read or left; the sections hold all the rest of the text."""
    split_front_matter(f"---\n{text}\n---\nbody")
    words = [word for line in text.split("\n") for word in line.lstrip(" \t#").split() if set(word) - set("#")]
    held = " ".join(part for section in cut_sections(text) for part in (*section.path, section.text))
    assert [word for word in words if word.strip("#") not in held] == []


@pytest.mark.parametrize(
    ("heading", "path"),
    [
        ("# One", ("One",)),
        ("## One ##", ("One",)),
        ("### C# and F#", ("C# and F#",)),
        ("#\tOne  ", ("One",)),
        ("# #", ("…",)),
        ("#One", ()),
        ("    # One", ()),
        ("####### One", ()),
    ],
)
def test_what_is_a_heading_and_what_it_says(heading: str, path: tuple[str, ...]) -> None:
    """As in Markdown: one to six marks and a space, closed or not; anything else is text."""
    assert list(cut_sections(f"{heading}\ntext"))[-1].path == path


@pytest.mark.parametrize("line", ["a" + " " * 200_000 + "b", "# a" + " " * 200_000 + "b", "# a" + " #" * 100_000 + "b"])
def test_lines_made_to_take_long_do_not(line: str) -> None:
    """A line of any length is read in time that grows no faster than it does."""
    assert split_front_matter(f"---\n{line}\n---\n")[0] == {}
    assert len(list(cut_sections(line))) == 1 + line.startswith("#")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("key: value", "value"),
        ("key: 'it''s'", "it's"),
        ('key: "a \\"b\\""', 'a "b"'),
        ("key: a # comment", "a"),
        ("key: [a, 'b, c', \"d\"]", ["a", "b, c", "d"]),
        ("key:\n  - a\n  - b", ["a", "b"]),
        ("key:\n- a\n- b", ["a", "b"]),
        ("key: >-\n  two\n  lines", "two lines"),
        ("key: |\n  two\n  lines", "two\nlines"),
        ("key:\n  inner: a\n  other: b: c", {"inner": "a", "other": "b: c"}),
        ("key:", {}),
        ("key: runs over\n  two lines", "runs over two lines"),
        ("key: C:\\path", "C:\\path"),
    ],
)
def test_front_matter_as_notes_have_it(line: str, said: object) -> None:
    """Quotes, lists, nested keys and text over several lines mean what they mean in YAML."""
    assert split_front_matter(f"---\nfirst: 1\n{line}\nlast: 2\n---\n\nbody\n") == (
        {"first": "1", "key": said, "last": "2"},
        "\nbody\n",
    )


@pytest.mark.parametrize("text", ["no front matter", "---\nnot closed", "", "--- \nx\n", "text\n---\na: b\n---\n"])
def test_a_text_without_front_matter_is_all_text(text: str) -> None:
    """Only what stands between two lines of dashes at the very top is front matter."""
    assert split_front_matter(text) == ({}, text)
