"""What the stop hook learns from thirty conversations, and what it rightly leaves alone.

They were written before the rules were. Two of them speak of what is known, which `expected.json` says under `known`.
"""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from recollect.config import Config
from recollect.core.learning import LEARNED
from recollect.core.review import Pending
from recollect.hooks.clients import STOP, Event
from recollect.hooks.stop import learn_from
from recollect.journal.candidates import JournalQueue
from recollect.journal.file import Journal
from recollect.wiring import open_file

SAMPLES = Path(__file__).parents[1] / "samples" / "transcripts"
EXPECTED: dict[str, Any] = json.loads((SAMPLES / "expected.json").read_text(encoding="utf-8"))


class Home:
    """A store with its journal, and a session whose transcript is a copy of a sample."""

    def __init__(self, folder: Path, name: str) -> None:
        self.config = Config(store=str(folder / "memory.db"), space="personal", folder=str(folder), project="")
        self.transcript = folder / f"{name}.jsonl"
        shutil.copy(SAMPLES / f"{name}.jsonl", self.transcript)
        self.known: dict[str, str] = {}
        with open_file(self.config.store) as memory:
            for content in EXPECTED[name].get("known", ()):
                self.known[memory.remember(content).id] = content

    def stop(self) -> None:
        event = Event("claude-code", STOP, session="s", folder=self.config.folder, transcript=str(self.transcript))
        learn_from(event, self.config)

    def set(self, name: str, value: str) -> None:
        with open_file(self.config.store) as memory:
            memory.set(name, value)

    def waiting(self) -> list[Pending]:
        journal = Journal(self.config.journal)
        try:
            return JournalQueue(journal).waiting("personal")
        finally:
            journal.close()

    def learned(self) -> list[dict[str, str]]:
        """Give what waits, as `expected.json` words it."""
        return [
            {"content": each.content, "category": each.category, "rule": each.rule}
            | ({"supersedes": self.known[each.supersedes]} if each.supersedes else {})
            for each in self.waiting()
        ]

    def memories(self) -> list[str]:
        with open_file(self.config.store) as memory:
            return sorted(each.content for each in memory.page(memory.scope(project=None), 100))


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_what_is_learned(name: str, tmp_path: Path) -> None:
    """Each conversation teaches what it should and nothing else, also if it is read again from its start."""
    home = Home(tmp_path, name)
    home.stop()
    assert home.learned() == EXPECTED[name]["learned"]
    home.stop()
    journal = Journal(home.config.journal)
    with journal.write() as connection:
        connection.execute("DELETE FROM transcripts")
    journal.close()
    home.stop()
    assert home.learned() == EXPECTED[name]["learned"]
    assert home.memories() == sorted(EXPECTED[name].get("known", []))


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_what_is_kept_directly(name: str, tmp_path: Path) -> None:
    """Told to keep it directly, the hook keeps the same once, but for what seems to contradict a memory: that waits."""
    home = Home(tmp_path, name)
    home.set("learn", "directly")
    home.stop()
    kept = [each["content"] for each in EXPECTED[name]["learned"] if "supersedes" not in each]
    assert home.memories() == sorted([*EXPECTED[name].get("known", []), *kept])
    assert home.learned() == [each for each in EXPECTED[name]["learned"] if "supersedes" in each]
    with open_file(home.config.store) as memory:
        found = memory.page(memory.scope(project=None), 100)
    assert all((LEARNED in each.tags) == (each.content in kept) for each in found)
    home.transcript.write_bytes(home.transcript.read_bytes() * 2)
    home.stop()
    assert len(home.memories()) == len(found)


def test_thirty_conversations() -> None:
    """There are thirty of them, ten with nothing to learn."""
    assert len(EXPECTED) == len(list(SAMPLES.glob("*.jsonl"))) == 30
    assert sum(not each["learned"] for each in EXPECTED.values()) == 10


def test_nothing_is_learned_when_switched_off(tmp_path: Path) -> None:
    """With learning off nothing waits and nothing is kept, nor later what was said meanwhile."""
    home = Home(tmp_path, "01-remember-the-port")
    home.set("learn", "off")
    home.stop()
    home.set("learn", "review")
    home.stop()
    assert home.waiting() == []


def test_what_holds_again_is_learned(tmp_path: Path) -> None:
    """Who says what a superseded memory says goes back to it: that waits, and names what it would replace."""
    home = Home(tmp_path, "01-remember-the-port")
    (expected,) = EXPECTED["01-remember-the-port"]["learned"]
    with open_file(home.config.store) as memory:
        old = memory.remember(expected["content"])
        new = memory.remember("The staging database listens on port 5432.")
        memory.link(new.id, "supersedes", old.id)
    home.stop()
    assert [(each.content, each.supersedes) for each in home.waiting()] == [(expected["content"], new.id)]


def test_what_was_rejected_is_not_learned_again(tmp_path: Path) -> None:
    """Of what was rejected only the digest is left, and that is enough never to ask again."""
    home = Home(tmp_path, "01-remember-the-port")
    home.stop()
    journal = Journal(home.config.journal)
    queue = JournalQueue(journal)
    (pending,) = queue.waiting("personal")
    queue.settle(pending, "rejected")
    with journal.read() as connection:
        assert connection.execute("SELECT state, content FROM candidates").fetchall() == [("rejected", "")]
    journal.close()
    home.transcript.write_bytes(home.transcript.read_bytes().replace(b"staging database", b"Staging  Database") * 2)
    home.stop()
    assert home.waiting() == []


def test_what_another_hook_learned_meanwhile_is_not_learned_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two clients may run the hook for one transcript at once: the one that comes second adds nothing."""
    name = next(name for name, expected in EXPECTED.items() if expected["learned"])
    home = Home(tmp_path, name)
    home.stop()
    learned = home.learned()
    journal = Journal(home.config.journal)
    with journal.write() as connection:
        connection.execute("DELETE FROM transcripts")
    journal.close()
    # As if the other had not been there yet when this one looked.
    monkeypatch.setattr(JournalQueue, "has_learned", lambda *_: False)
    monkeypatch.setattr(JournalQueue, "waiting", lambda *_: [])
    home.stop()
    monkeypatch.undo()
    assert home.learned() == learned != []
