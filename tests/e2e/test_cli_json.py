"""`--json`: the form that docs/json.md promises."""

import json
import re
from pathlib import Path

import pytest

from command_line import NO_MODEL, CommandLine
from recollect.journal.given import Usage

DOCS = Path(__file__).parents[2] / "docs"
RECORD = {
    "id", "space", "content", "created_at", "updated_at", "category", "tags", "keywords", "importance", "project",
    "session", "place", "sensitive", "version", "action", "deleted_at",
}  # fmt: skip
RESULT = RECORD | {"rank", "score", "instead_of", "answers", "pointers"}
ANSWER = {"query", "results", "notices", "left_out", "tokens"}


@pytest.fixture
def cli(tmp_path: Path) -> CommandLine:
    return CommandLine(tmp_path / "home")


def test_a_recall_as_json(cli: CommandLine) -> None:
    """A recall gives its results as records with rank, score and links, and what was left out."""
    old, new = cli.keep("Deploys run on Fridays."), cli.keep("The train leaves on Tuesdays.")
    answer, whole = cli.keep("Ask Ana."), cli.keep("The release plan.")
    cli.say("link", new, "supersedes", old)
    cli.say("link", new, "resolved-by", answer)
    cli.say("link", new, "part-of", whole)
    other = cli.keep("Deploys of the blog.")
    data = cli.data("recall", "deploys", "fridays", "--limit", "1")
    assert data.keys() == ANSWER
    (result,) = data["results"]
    assert result.keys() == RESULT
    assert (result["rank"], result["id"], result["instead_of"]) == (1, new, [old])
    assert [each.keys() for each in result["answers"]] == [RECORD]
    assert result["pointers"] == [{"how": "part-of", "id": whole, "heading": "The release plan."}]
    assert data["left_out"] == [{"id": other, "why": "over the limit"}]
    assert data["tokens"] == 8 + 2
    assert data["query"] == "deploys fridays"


def test_an_explained_recall_as_json(cli: CommandLine) -> None:
    """With `--explain`, each result has its steps and evidence, and the answer has the time of each stage."""
    cli.keep("The cart is stored in Redis.")
    data = cli.data("recall", "redis cart", "--explain")
    assert data.keys() == ANSWER | {"stages"}
    stages = ["legs", "context", "fusion", "spread", "rerank", "prior", "links", "pack"]
    assert [stage["stage"] for stage in data["stages"]] == stages
    assert {frozenset(stage) for stage in data["stages"]} == {frozenset({"stage", "on", "milliseconds"})}
    (explained,) = data["results"][0]["explain"]
    legs = [name.removeprefix("weight.") for name in cli.data("config") if name.startswith("weight.")]
    assert [step["stage"] for step in explained["steps"]] == [*legs, *stages[1:]]
    assert explained["steps"][0].keys() == {"stage", "rank", "score", "note"}
    assert {part["term"] for part in explained["evidence"]["lexical"]["parts"]} == {"cart", "redi"}


def test_an_empty_recall_as_json(cli: CommandLine) -> None:
    """A recall that finds nothing is an answer like any other."""
    assert cli.data("recall", "x") == {
        "query": "x", "results": [], "notices": [NO_MODEL], "left_out": [], "tokens": 0,
    }  # fmt: skip


def test_memories_as_json(cli: CommandLine) -> None:
    """Every command that is about one memory gives its record, `show` with its links, `history` with all states."""
    first, second = cli.keep("one", "--sensitive"), cli.keep("two")
    link = cli.data("link", second, "see-also", first)
    assert link.keys() == {"space", "source", "kind", "target", "created_at", "ended_at"}
    assert cli.data("edit", second, "-c", "people").keys() == RECORD
    assert cli.data("undo", second).keys() == RECORD
    shown = cli.data("show", second)
    assert shown.keys() == RECORD | {"links"}
    assert shown["links"] == [
        {"how": "see-also", "id": first, "heading": None, "created_at": link["created_at"]},
    ]
    states = cli.data("history", second)["states"]
    assert [state.keys() for state in states] == [RECORD | {"until"}] * 3
    assert [state["until"] for state in states] == [states[1]["updated_at"], states[2]["updated_at"], None]
    listed = cli.data("list")
    assert listed.keys() == {"memories", "next"}
    assert [each.keys() for each in listed["memories"]] == [RECORD] * 2
    assert cli.data("why-not", second, "one").keys() == {"id", "stage", "reason", "rank", "found"}
    assert cli.data("forget", first) == {"forgotten": [first]}
    assert cli.data("forget", first, "--purge", "--yes") == {"purged": [first]}


def test_the_store_as_json(cli: CommandLine, tmp_path: Path) -> None:
    """`stats`, `doctor`, `config` and `import` give plain counts."""
    cli.keep("one", "--project", "p")
    data = cli.data("stats")
    assert data.keys() == {"store", "bytes", "spaces", "hooks"}
    assert data["spaces"] == [
        {
            "space": "personal", "memories": 1, "forgotten": 0, "sensitive": 0, "revisions": 0, "links": 0,
            "waiting": 0, "categories": {"facts": 1}, "projects": {"p": 1},
        }
    ]  # fmt: skip
    assert cli.data("doctor") == {"checked": 1, "mended": 0, "problems": []}
    setting = {"name": "limit", "value": 10, "default": 10, "about": "how many memories a recall brings"}
    assert cli.data("config")["limit"] == setting
    assert cli.data("config", "limit", "5") == {**setting, "value": 5}
    assert cli.data("config", "--reset", "limit") == setting
    file = tmp_path / "export.jsonl"
    cli.say("export", str(file))
    assert cli.data("import", str(file), "--dry-run") == {
        "dry_run": True, "added": 0, "updated": 0, "unchanged": 1, "links": 0, "problems": [],
    }  # fmt: skip


def test_errors_are_json_too(cli: CommandLine) -> None:
    """With `--json`, an error is one JSON object on standard error, a mistake in the command itself too."""
    result = cli.run("show", "ffffffff", "--json", code=3)
    error = json.loads(result.stderr)
    assert (error.keys(), error["kind"], result.stdout) == ({"error", "kind"}, "NotFound", "")
    assert json.loads(cli.run("recall", "--json", "--frob", code=2).stderr)["kind"] == "Usage"
    assert cli.run("recall", "--frob", "--", "--json", code=2).stderr.startswith("error: ")


def test_json_holds_every_character_and_no_escape(cli: CommandLine) -> None:
    """JSON keeps letters readable and every control character as an escape, in the same content."""
    content = "Über 日本 \x1b[31m \x9b31m \x7f [bold]"
    identity = cli.keep(content)
    shown = cli.say("show", identity, "--json")
    assert "Über 日本" in shown
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", shown)
    assert json.loads(shown)["content"] == content
    exported = cli.say("export")
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", exported)
    assert json.loads(exported.splitlines()[1])["states"][0]["content"] == content


def test_the_documented_examples_have_the_keys_of_the_real_thing() -> None:
    """Every example in docs/json.md is JSON, and the memories in it have exactly a record's fields."""
    examples = re.findall(r"```json\n(.*?)```", (DOCS / "json.md").read_text(encoding="utf-8"), re.DOTALL)
    assert len(examples) >= 12
    parsed = [json.loads(example) for example in examples]
    records = [each for each in parsed if isinstance(each, dict) and "content" in each]
    assert records
    assert all(record.keys() >= RECORD for record in records)
    (stats,) = [each for each in parsed if "bytes" in each]
    assert stats["hooks"].keys() == {"days", *Usage.__match_args__}
    (answer,) = [each for each in parsed if "results" in each]
    assert answer.keys() == ANSWER | {"stages"}
    assert answer["results"][0].keys() == RESULT | {"explain"}
