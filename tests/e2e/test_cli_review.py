"""`recollect review`: what was learned, and the owner's word on it."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from command_line import CommandLine
from making import at, id_of
from recollect.core.review import Pending
from recollect.journal.candidates import JournalQueue
from recollect.journal.file import Journal

PORT = "The staging database listens on port 5433."
CENTS = "Money is stored in integer cents."
ULIDS = "Order ids are ULIDs."


@pytest.fixture
def cli(tmp_path: Path) -> CommandLine:
    return CommandLine(tmp_path / "home")


@pytest.fixture
def queue(cli: CommandLine) -> Iterator[JournalQueue]:
    journal = Journal(str(cli.home / "memory.journal.db"))
    yield JournalQueue(journal)
    journal.close()


def learn(queue: JournalQueue, number: int, content: str, supersedes: str | None = None) -> str:
    pending = Pending(
        id_of(0xABCD0000 + number), at(number), "personal", content, "facts", 0.7, "request", supersedes=supersedes
    )
    assert queue.add(pending)
    return pending.short_id


def kept(cli: CommandLine) -> dict[str, str]:
    """Give the memories that a recall may find, and the ids of those learned from."""
    return {each["content"]: each["id"] for each in cli.data("list", "-a")["memories"]}


def test_nothing_waits(cli: CommandLine) -> None:
    """Where nothing was learned, that is said."""
    assert cli.say("review", "--list") == "Nothing waits for review.\n"
    assert cli.data("review", "--list") == {"waiting": []}
    assert cli.say("review", "--accept-all") == "Nothing waits for review.\n"
    assert "Nothing waits" in cli.terminal("review")


def test_the_list_says_what_waits(cli: CommandLine, queue: JournalQueue) -> None:
    """Every candidate is listed with its id, its rule and whether it contradicts something."""
    old = cli.keep("The staging database listens on port 5432.")
    learn(queue, 1, CENTS)
    learn(queue, 2, PORT, supersedes=old)
    listed = cli.say("review", "--list").splitlines()
    assert [line.split()[0] for line in listed] == ["abcd0001", "abcd0002"]
    assert "contradict" in listed[1]
    first, second = cli.data("review", "--list")["waiting"]
    assert (first["content"], first["rule"], first["supersedes"]) == (CENTS, "request", None)
    assert second["supersedes"] == old


def test_a_candidate_is_accepted_or_rejected_by_its_id(cli: CommandLine, queue: JournalQueue) -> None:
    """What is accepted is a memory with the candidate's id and the tag learned; what is rejected is gone."""
    accepted, rejected = learn(queue, 1, CENTS), learn(queue, 2, ULIDS)
    said = cli.data("review", "--accept", accepted, "--reject", rejected)
    assert said == {"kept": [id_of(0xABCD0001)], "rejected": [id_of(0xABCD0002)], "left": 0}
    memory = cli.data("show", accepted)
    assert (memory["content"], memory["tags"], memory["importance"]) == (CENTS, ["learned"], 0.7)
    assert list(kept(cli)) == [CENTS]
    assert cli.data("review")["waiting"] == []


def test_all_but_contradictions_are_accepted(cli: CommandLine, queue: JournalQueue) -> None:
    """`--accept-all` leaves what seems to contradict a memory; `--supersede` puts it in that one's place."""
    old = cli.keep("The staging database listens on port 5432.")
    learn(queue, 1, CENTS)
    port = learn(queue, 2, PORT, supersedes=old)
    assert "1 seems to contradict a memory and waits" in cli.say("review", "--accept-all")
    assert cli.data("review")["waiting"][0]["content"] == PORT
    cli.say("review", "--supersede", port)
    (found,) = [each for each in cli.data("recall", "staging port")["results"] if "5433" in each["content"]]
    assert found["instead_of"] == [old]


def test_what_makes_no_sense_is_refused_before_anything_happens(cli: CommandLine, queue: JournalQueue) -> None:
    """Unknown ids, one thing said twice, and nothing to supersede: nothing is settled."""
    one = learn(queue, 1, CENTS)
    cli.run("review", "--accept", one, "--accept", "ffffffff", code=3)
    cli.run("review", "--accept", "abc", code=3)
    cli.run("review", "--accept", one, "--reject", one, code=2)
    cli.run("review", "--supersede", one, code=2)
    two = learn(queue, 2, ULIDS)
    cli.run("review", "--accept", one[-4:-1], code=3)
    assert {each["id"][-8:] for each in cli.data("review")["waiting"]} == {one, two}


def test_without_a_terminal_it_says_what_to_do(cli: CommandLine, queue: JournalQueue) -> None:
    """A pipe cannot press keys: it is told of the options."""
    learn(queue, 1, CENTS)
    assert "--accept-all" in cli.run("review", code=2).stderr


def test_one_key_each(cli: CommandLine, queue: JournalQueue) -> None:
    """In a terminal each candidate is shown beside what it contradicts, and a key settles it."""
    old = cli.keep("The staging database listens on port 5432.")
    learn(queue, 1, CENTS)
    learn(queue, 2, PORT, supersedes=old)
    learn(queue, 3, ULIDS)
    learn(queue, 4, "Invoices go out on the first of the month.")
    shown = cli.talk("review", keys="as r")
    assert "1 of 4" in shown
    assert shown.index(PORT) < shown.index("seems to contradict") < shown.index("port 5432")
    assert "1 still waits." in shown
    assert {CENTS, PORT} <= kept(cli).keys()
    assert [each["content"] for each in cli.data("review")["waiting"]] == [ULIDS]
    assert cli.data("show", old)["links"][0]["id"] == kept(cli)[PORT]


def test_a_key_that_means_nothing_is_passed_over(cli: CommandLine, queue: JournalQueue) -> None:
    """Only the keys that are shown do something; quitting leaves the rest as it is."""
    learn(queue, 1, CENTS)
    assert "1 still waits." in cli.talk("review", keys="q")
    # No memory is like it, so there is none to supersede or to merge into.
    assert "merge" not in cli.talk("review", keys="\x1b")
    assert cli.data("review")["waiting"][0]["content"] == CENTS


def test_undo_goes_back(cli: CommandLine, queue: JournalQueue) -> None:
    """What a key did is taken back by the next, whatever it was, and the candidate is shown again."""
    old = cli.keep("The staging database listens on port 5432.")
    learn(queue, 1, CENTS)
    learn(queue, 2, PORT, supersedes=old)
    learn(queue, 3, ULIDS)
    cli.talk("review", keys="auasuruq")
    assert set(kept(cli)) == {CENTS, "The staging database listens on port 5432."}
    assert {each["content"] for each in cli.data("review")["waiting"]} == {PORT, ULIDS}
    assert cli.data("show", old)["links"] == []


def test_edit_and_merge_open_the_editor(cli: CommandLine, queue: JournalQueue, tmp_path: Path) -> None:
    """Editing keeps other words; merging changes the memory that is like it, and makes none."""
    editor = tmp_path / "editor.py"
    editor.write_text(
        "import sys\np = sys.argv[1]\nt = open(p).read()\nopen(p, 'w').write(t.replace('\\n\\n', ' ') + ' Always.')\n"
    )
    similar = cli.keep("Order ids are sortable strings.")
    learn(queue, 1, CENTS)
    learn(queue, 2, ULIDS)
    cli.talk("review", keys="em", EDITOR=f"{sys.executable} {editor}")
    assert set(kept(cli)) == {f"{CENTS} Always.", f"Order ids are sortable strings. {ULIDS} Always."}
    assert cli.data("show", similar)["version"] == 2
    assert cli.data("review")["waiting"] == []


def test_an_editor_that_fails_leaves_it_waiting(cli: CommandLine, queue: JournalQueue) -> None:
    """What cannot be edited is said, and asked about again."""
    learn(queue, 1, CENTS)
    shown = cli.talk("review", keys="eq", EDITOR="false")
    assert "nothing was changed" in shown
    assert shown.count(CENTS) == 2
