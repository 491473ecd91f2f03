"""The commands, one after the other, as a person uses them."""

import sqlite3
import stat
from contextlib import closing
from pathlib import Path

import pytest

import recollect
from command_line import NO_MODEL, CommandLine


@pytest.fixture
def cli(tmp_path: Path) -> CommandLine:
    return CommandLine(tmp_path / "home")


def test_what_is_remembered_is_recalled_whole(cli: CommandLine) -> None:
    """A recalled memory shows its rank, its whole text, and one line with its id, category, tags, age and score."""
    identity = cli.keep("Deploys run on Tuesdays.\nAna approves them.", "-c", "decisions", "-t", "ci")
    shown = cli.say("recall", "when", "do", "we", "deploy?")
    assert shown == (
        f"1  Deploys run on Tuesdays.\n   Ana approves them.\n   {identity[-8:]} · decisions · #ci · just now · 0.850\n"
        f"{NO_MODEL}\n"
    )


def test_remember_says_where_it_went(cli: CommandLine) -> None:
    """Remembering answers with the short id and the labels."""
    shown = cli.say("remember", "two", "words", "--project", "github.com/acme/shop", "-t", "a", "-t", "b")
    assert shown.startswith("Remembered ")
    assert shown.endswith(" · facts · #a #b · acme/shop\n")


def test_text_comes_from_standard_input(cli: CommandLine) -> None:
    """`-` reads the text from standard input, without the shell's line end."""
    cli.say("remember", "-", stdin="# Über\n\nein Text\n")
    assert cli.data("list")["memories"][0]["content"] == "# Über\n\nein Text"


def test_every_field_can_be_given(cli: CommandLine) -> None:
    """What the options of `remember` say is what is kept."""
    identity = "01900000-0000-7000-8000-00000000abcd"
    options = ["-k", "k1", "-i", "0.9", "--project", "p", "--session", "s", "--place", "3", "--sensitive"]
    record = cli.data("remember", "text", *options, "--id", identity)
    expected = {
        "id": identity, "keywords": ["k1"], "importance": 0.9, "project": "p", "session": "s", "place": 3,
        "sensitive": True, "version": 1, "action": "remembered", "deleted_at": None,
    }  # fmt: skip
    assert {name: record[name] for name in expected} == expected


def test_explain_shows_every_step(cli: CommandLine) -> None:
    """`--explain` shows what each leg matched, each stage's rank and score, what is off, and the time it took."""
    cli.keep("The cart is stored in Redis.")
    cli.keep("The cart and the checkout share a database.")
    shown = cli.say("recall", "cart redis", "--explain")
    lines = [line.split() for line in shown.splitlines()]
    assert ["rank", "score"] in lines
    (first, *_) = [line for line in lines if line[:1] == ["lexical"]]
    assert first[1] == "1"
    assert {"redi", "cart", "+"} <= set(first)
    stages = [line[0] for line in lines if line and line[0] in {"fusion", "spread", "prior", "links", "pack"}]
    assert stages == ["fusion", "spread", "prior", "links", "pack"] * 2
    assert "context, rerank: off" in shown
    assert "legs " in shown.splitlines()[-1]
    assert " ms: " in shown.splitlines()[-1]


def test_explain_follows_what_was_replaced(cli: CommandLine) -> None:
    """A memory served in place of an older one is explained by what the older one matched."""
    old = cli.keep("Deploys run on Fridays.")
    new = cli.keep("The release train leaves on Tuesdays.")
    assert cli.say("link", new, "supersedes", old[-6:]) == f"Linked {new[-8:]} supersedes {old[-8:]}\n"
    shown = cli.say("recall", "fridays deploys", "-x")
    assert shown.startswith("1  The release train leaves on Tuesdays.\n")
    assert f"in place of {old[-8:]}" in shown
    assert f"through {old[-8:]}" in shown
    assert "by time alone" in cli.say("recall", "fridays deploys", "-x", "--sort", "recency")


def test_why_not_gives_a_reason(cli: CommandLine) -> None:
    """`why-not` says in a sentence what kept a memory out, or that nothing did."""
    identity = cli.keep("The cart is stored in Redis.")
    assert "none of the query's words" in cli.say("why-not", identity, "deploy")
    assert "at rank 1" in cli.say("why-not", identity[-8:], "cart")
    assert "category" in cli.say("why-not", identity, "cart", "--category", "people")
    assert "excludes it" in cli.say("why-not", identity, "cart", "--exclude", identity[-8:])


def test_edits_stay_in_the_history(cli: CommandLine) -> None:
    """An edit changes what is recalled, `history` shows both states, and `undo` goes back and forth."""
    identity = cli.keep("Orders use ULIDs.", "-t", "db")
    assert cli.say("edit", identity, "--content", "Orders use UUIDs.", "-i", "0.9", "-t", "").startswith("Edited ")
    history = cli.say("history", identity)
    assert "remembered\n   Orders use ULIDs.\n" in history
    assert "edited · tags db → none · importance 0.5 → 0.9\n   Orders use UUIDs.\n" in history
    assert cli.say("undo") == f"Brought back {identity[-8:]}  Orders use ULIDs.\n"
    assert "ULIDs" in cli.say("recall", "orders")
    assert "UUIDs" in cli.say("undo", identity)
    assert cli.data("show", identity)["version"] == 4


def test_every_field_can_be_edited(cli: CommandLine) -> None:
    """The options of `edit` change what they name and nothing else; an empty one takes the labels away."""
    identity = cli.keep("text", "--session", "s", "-k", "one")
    record = cli.data("edit", identity, "-c", "people", "-k", "two", "-p", "q", "--place", "1", "--sensitive")
    expected = {
        "category": "people",
        "keywords": ["two"],
        "project": "q",
        "place": 1,
        "sensitive": True,
        "session": "s",
    }
    assert {name: record[name] for name in expected} == expected
    record = cli.data("edit", identity, "--general", "--session", "", "--not-sensitive", "-k", "")
    assert (record["project"], record["session"], record["sensitive"], record["keywords"]) == (None, None, False, [])
    assert cli.say("edit", identity, "-c", "people").startswith("Nothing changed in ")
    assert cli.data("show", identity)["content"] == "text"
    assert cli.run("edit", identity, "--content", "-", stdin="new\n").exit_code == 0
    assert cli.data("show", identity)["content"] == "new"
    assert "sensitive yes → no" in cli.say("history", identity)


def test_forgetting_can_be_undone(cli: CommandLine) -> None:
    """A forgotten memory is not recalled, can still be shown, and comes back."""
    identity = cli.keep("Old idea: sell stickers.")
    assert cli.say("forget", identity) == f"Forgot {identity[-8:]}  Old idea: sell stickers.\n"
    assert "Nothing found" in cli.say("recall", "stickers")
    assert f"`recollect undo {identity[-8:]}` brings it back" in cli.say("show", identity)
    assert "forgotten already" in cli.run("forget", identity, code=3).stderr
    assert cli.say("undo", identity).startswith("Brought back ")
    assert cli.say("undo", identity).startswith("Forgot ")


def test_one_wrong_id_forgets_nothing(cli: CommandLine) -> None:
    """When one of several ids is wrong, none of the memories is forgotten."""
    identity = cli.keep("stickers")
    cli.run("forget", identity, "ffffffff", code=3)
    assert "stickers" in cli.say("recall", "stickers")


def test_purging_asks_first(cli: CommandLine) -> None:
    """`--purge` removes nothing unless it is confirmed, and everything when it is."""
    identity = cli.keep("stickers")
    assert "Nothing was removed" in cli.run("forget", identity, "--purge", stdin="n\n", code=1).stderr
    cli.run("forget", identity, "--purge", stdin="", code=1)
    assert cli.data("show", identity)["content"] == "stickers"
    assert cli.say("forget", identity, "--purge", "--yes").startswith("Removed for good ")
    cli.run("show", identity, code=3)


def test_links_bring_others_along(cli: CommandLine) -> None:
    """An answer is shown under its symptom, a whole and its parts point at each other, and `--end` ends a link."""
    symptom = cli.keep("Checkout shows a blank page.")
    answer = cli.keep("Raise TAX_TIMEOUT_MS.")
    whole = cli.keep("The rewrite.")
    cli.say("link", symptom, "resolved-by", answer)
    cli.say("link", symptom, "part-of", whole)
    cli.say("link", symptom, "see-also", answer)
    shown = cli.say("recall", "checkout")
    assert "   ↳ Raise TAX_TIMEOUT_MS.\n" in shown
    assert f"   part of {whole[-8:]}  The rewrite.\n" in shown
    assert f"   see also {answer[-8:]}  Raise" in shown
    assert f"  resolves {symptom[-8:]}  Checkout" in cli.say("show", answer)
    assert f"  has part {symptom[-8:]}  Checkout" in cli.say("show", whole)
    assert cli.say("link", symptom, "part-of", whole, "--end").startswith("Ended ")
    assert "part of" not in cli.say("recall", "checkout")


def test_an_answer_is_written_once(cli: CommandLine) -> None:
    """An answer comes attached to its symptom, or is pointed at where it stands further up itself."""
    symptom, answer = cli.keep("E1101 in checkout."), cli.keep("Fix of E1101: restart.")
    cli.say("link", symptom, "resolved-by", answer)
    attached = cli.say("recall", "E1101 checkout")
    assert "↳ Fix of E1101: restart." in attached
    assert attached.count("restart") == 1
    pointed_at = cli.say("recall", "E1101 restart")
    assert f"resolved by {answer[-8:]}  Fix of E1101: restart." in pointed_at
    assert "↳" not in pointed_at


def test_an_export_comes_back_and_importing_twice_changes_nothing(cli: CommandLine, tmp_path: Path) -> None:
    """Export, dry run, import and import again: the counts say so, and the other store has everything."""
    first, second = cli.keep("one", "--sensitive"), cli.keep("two")
    cli.say("link", first, "see-also", second)
    cli.say("edit", second, "--content", "two, edited")
    file = tmp_path / "export.jsonl"
    result = cli.run("export", str(file))
    assert result.stdout == f"Exported 2 memories and 1 link to {file}.\n"
    assert result.stderr == "1 sensitive memory is in it as plain text.\n"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".recollect")] == []

    other = CommandLine(tmp_path / "other")
    expected = "Would add 2 memories; 0 updated, 0 unchanged"
    assert other.say("import", str(file), "--dry-run").startswith(expected)
    assert other.data("list")["memories"] == []
    assert other.say("import", str(file)) == "Added 2 memories; 0 updated, 0 unchanged, 1 new link.\n"
    assert other.say("import", "-", stdin=file.read_bytes()) == (
        "Added 0 memories; 0 updated, 2 unchanged, 0 new links.\n"
    )
    assert other.say("export") == file.read_text(encoding="utf-8")


def test_an_import_tells_what_it_could_not_take(cli: CommandLine, tmp_path: Path) -> None:
    """Lines that cannot be taken in are named, the others are taken, and the exit code is 1."""
    other = CommandLine(tmp_path / "other")
    other.keep("kept")
    export = other.say("export").encode()
    broken = export + b'{"type":"memory"}\n{"type":"memory","states":[{"content":"\xff"}]}\nnonsense\n'
    result = cli.run("import", "-", stdin=broken, code=1)
    assert result.stdout.startswith("Added 1 memory;")
    assert [line.partition(":")[0] for line in result.stderr.splitlines()] == ["line 3", "line 4", "line 5"]


def test_stats_count(cli: CommandLine) -> None:
    """`stats` names the file and counts memories by category and by project."""
    cli.keep("one", "-c", "people", "--project", "p")
    cli.keep("two", "--sensitive")
    shown = cli.say("stats")
    assert str(cli.home / "memory.db") in shown
    assert "personal  2 memories · 1 sensitive · 0 links · 0 forgotten · 0 earlier states" in shown
    assert {"facts", "people", "p", "no"} <= {line.split()[0] for line in shown.splitlines() if line.startswith("  ")}


def damage(cli: CommandLine) -> None:
    """Take a word out of the index behind the store's back."""
    with closing(sqlite3.connect(cli.home / "memory.db")) as connection, connection:
        connection.execute("DELETE FROM postings WHERE term = 'redi'")


def test_doctor_finds_and_mends(cli: CommandLine) -> None:
    """`doctor` exits with 1 and names the remedy while the index is wrong, and `--mend` sets it right."""
    cli.keep("The cart is stored in Redis.")
    assert cli.say("doctor") == "All is well: 1 memory checked.\n"
    damage(cli)
    shown = cli.say("doctor", code=1)
    assert "are not indexed as they stand" in shown
    assert "`recollect doctor --mend`" in shown
    shown = cli.say("doctor", "--mend")
    assert shown.startswith("Mended ")
    assert shown.endswith("All is well: 1 memory checked.\n")
    assert "Redis" in cli.say("recall", "redis")


def test_a_leg_that_fails_is_said(cli: CommandLine) -> None:
    """When a leg cannot answer, recall still does, with a notice."""
    cli.keep("cart")
    with closing(sqlite3.connect(cli.home / "memory.db")) as connection, connection:
        connection.execute("DROP TABLE postings")
    assert "lexical was left out: it failed" in cli.say("recall", "cart")
    assert "lexical was left out" in cli.data("recall", "cart")["notices"][0]


def test_settings_are_shown_changed_and_reset(cli: CommandLine) -> None:
    """`config` lists all settings, shows one, sets one for the next recall, and goes back to the default."""
    for text in ("cart one", "cart two"):
        cli.keep(text)
    assert "how many memories a recall brings" in cli.say("config")
    assert cli.say("config", "limit") == "10\n"
    assert cli.say("config", "limit", "1") == "limit is now 1.\n"
    assert "1 (default 10)" in cli.say("config")
    assert "1 more found: --limit 2 shows them." in cli.say("recall", "cart")
    assert cli.say("config", "--reset", "limit") == "limit is now 10.\n"


def test_an_empty_store_is_friendly(cli: CommandLine) -> None:
    """With nothing remembered, every command that looks says how to begin, and succeeds."""
    for command in (["recall", "cart"], ["list"], ["stats"]):
        assert '`recollect remember "..."` keeps the first thing' in cli.say(*command)
    assert cli.say("doctor") == "All is well: 0 memories checked.\n"
    assert "nothing to undo" in cli.run("undo", code=3).stderr


def test_an_empty_answer_says_where_it_looked(cli: CommandLine) -> None:
    """When a project has nothing, the answer names the project and what to try."""
    cli.keep("cart", "--project", "other")
    shown = cli.say("recall", "cart", "-p", "shop", "--category", "facts", "--session", "s", "--before", "4")
    assert "Nothing found in shop or in what belongs to no project" in shown
    assert "of category facts, of session s, before place 4" in shown
    assert "--everywhere" in shown
    assert "cart" in cli.say("recall", "cart", "--everywhere")
    assert "`recollect list`" in cli.say("recall", "nothing like it", "-a")
    assert cli.say("list", "-p", "shop") == "Nothing in shop or in what belongs to no project.\n"


def test_what_does_not_fit_is_said(cli: CommandLine) -> None:
    """Memories over the budget or under the floor are counted, not passed over in silence."""
    cli.keep("cart " * 20)
    assert "1 memory found, but over the budget of 3 tokens" in cli.say("recall", "cart", "--budget", "3")
    cli.keep("checkout")
    cli.say("config", "floor.lexical", "0.9")
    assert "2 memories found, but under the relevance floor" in cli.say("recall", "cart checkout")


def test_list_pages(cli: CommandLine) -> None:
    """`list` shows the newest first, a line each, and goes on behind a memory."""
    for number in range(3):
        cli.keep(f"number {number}\nmore", "-t", "n")
    lines = cli.say("list", "--limit", "2").splitlines()
    assert [line.split("  ")[-2] for line in lines] == ["number 2", "number 1"]
    assert "number 0" in cli.say("list", "--after", lines[-1][:8])
    assert cli.data("list", "--limit", "2")["next"].endswith(lines[-1][:8])


def test_the_past_can_be_asked(cli: CommandLine) -> None:
    """`--as-of` shows and recalls what was known then, by the time that `history` gives."""
    identity = cli.keep("cart in Redis")
    cli.say("edit", identity, "--content", "cart in Postgres")
    then = cli.data("history", identity)["states"][0]["updated_at"]
    assert cli.say("show", identity, "--as-of", then).startswith("cart in Redis\n")
    assert "cart in Redis" in cli.say("recall", "cart", "--as-of", then)
    assert cli.say("recall", "cart", "--as-of", "2001-01-01 10:00 UTC").startswith(
        "Nothing found in every project, as of"
    )
    assert "not known yet" in cli.run("show", identity, "--as-of", "2001-01-01", code=3).stderr


def test_sensitive_text_is_shown_to_its_owner_alone_when_asked_for(cli: CommandLine) -> None:
    """A list, a pointer and a message name a sensitive memory without its text; recall and show give it, marked."""
    secret = cli.keep("The password is hunter2.", "--sensitive")
    other = cli.keep("Where the vault is.")
    cli.say("link", other, "see-also", secret)
    assert "sensitive" in cli.say("list")
    for command in (["list"], ["list", "--json"], ["recall", "vault"], ["show", other], ["show", other, "--json"]):
        assert "hunter2" not in cli.say(*command)
    assert "hunter2" not in cli.say("undo", secret) + cli.say("undo", secret)
    assert "· sensitive ·" in cli.say("recall", "password")
    for command in (["recall", "password"], ["show", secret], ["history", secret]):
        assert "hunter2" in cli.say(*command)


def test_help_and_version(cli: CommandLine) -> None:
    """The help names every command, `mcp` too, and `--version` the version."""
    shown = cli.say()
    for command in ("remember", "recall", "why-not", "export", "import", "doctor", "config", "mcp"):
        assert f" {command} " in shown
    assert "MCP" in cli.say("mcp", "--help")
    assert cli.say("--version") == f"recollect {recollect.__version__}\n"


def test_undo_takes_back_a_link_that_was_made_last(cli: CommandLine) -> None:
    """The last change of all may be a link: undo ends it, and again makes it, and says so."""
    one, two = cli.keep("one kiwi"), cli.keep("two kiwi")
    cli.say("link", two, "supersedes", one)
    assert f"Ended: {two[-8:]} supersedes {one[-8:]}" in cli.say("undo")
    assert f"Linked again: {two[-8:]} supersedes {one[-8:]}" in cli.say("undo")
    assert cli.data("undo")["kind"] == "supersedes"
