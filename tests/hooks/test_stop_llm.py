"""A language model reads conversations: only if asked to, within its budget, and nothing secret."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from provider_server import Provider, Scripted, chat, serve
from recollect.config import Config
from recollect.hooks.clients import STOP, Event
from recollect.hooks.stop import learn_from
from recollect.journal.candidates import JournalQueue
from recollect.journal.file import Journal
from recollect.values import replace
from recollect.wiring import open_extractor, open_file

SAID = "The invoices go out on the first of the month. Oh, and Priya is on leave until 14 June, ask Jonas instead."
UNTOLD = "By the way the vault password is hunter2-blue."
SENSITIVE = "My salary is 61,000 euros a year."


@pytest.fixture
def provider() -> Iterator[Provider]:
    with serve() as serving:
        yield serving


class Session:
    def __init__(self, folder: Path, provider: Provider) -> None:
        self.path = folder / "session.jsonl"
        self.config = Config(
            store=str(folder / "memory.db"),
            space="personal",
            folder=str(folder),
            project="",
            extractor=f"openai:m@{provider.address}/openai/v1",
        )
        with open_file(self.config.store) as memory:
            memory.set("learn-by", "llm")

    def say(self, *texts: str) -> None:
        with self.path.open("a", encoding="utf-8") as file:
            for text in texts:
                file.write(json.dumps({"type": "user", "message": {"content": text}}) + "\n")

    def allow(self, calls: int, tokens: int) -> None:
        with open_file(self.config.store) as memory:
            model = open_extractor(memory.store.budgets, self.config)
            assert model is not None
            memory.store.concepts.begin(model.name)
            memory.store.budgets.limit(model.name, calls, tokens)

    def stop(self) -> list[str]:
        learn_from(Event("claude-code", STOP, session="s", transcript=str(self.path)), self.config)
        journal = Journal(self.config.journal)
        try:
            return [each.content for each in JournalQueue(journal).waiting("personal")]
        finally:
            journal.close()


@pytest.fixture
def session(tmp_path: Path, provider: Provider) -> Session:
    return Session(tmp_path, provider)


def answer(*contents: object) -> Scripted:
    memories: Sequence[object] = [
        {"content": each, "category": "facts"} if isinstance(each, str) else each for each in contents
    ]
    return Scripted(body=json.dumps(chat(json.dumps({"memories": memories}))).encode())


def test_what_a_model_finds_waits_for_review(session: Session, provider: Provider) -> None:
    """What the model finds in the conversation's own words is learned, and not twice."""
    session.allow(10, 100_000)
    session.say(SAID)
    provider.answer_next(answer("Invoices go out on the first of the month.", "Priya is on leave until 14 June."))
    learned = ["Invoices go out on the first of the month.", "Priya is on leave until 14 June."]
    assert session.stop() == learned
    assert session.stop() == learned
    assert len(provider.asked) == 1


def test_what_it_makes_up_is_refused(session: Session, provider: Provider) -> None:
    """What no turn says is not learned: another number, another name, a word too many, no sentence, no text."""
    session.allow(10, 100_000)
    session.say(SAID)
    provider.answer_next(
        answer(
            "Priya is on leave until 15 June.",
            "Maria is on leave until 14 June.",
            "Invoices go out on the first of the month and customers complain loudly.",
            "It is so.",
            "Are invoices sent on the first of the month?",
            {"content": 7},
            {"category": "facts"},
            "not even an object",
        )
    )
    assert session.stop() == []


@pytest.mark.parametrize(
    "scripted",
    [
        Scripted(status=400, body=b"{}"),
        Scripted(status=401, body=b"{}"),
        Scripted(body=b"not json"),
        Scripted(body=json.dumps(chat("no object here")).encode()),
        Scripted(body=json.dumps(chat('{"memories": 7}')).encode()),
        Scripted(body=json.dumps(chat("", refusal="no")).encode()),
    ],
)
def test_a_model_that_fails_teaches_nothing(session: Session, provider: Provider, scripted: Scripted) -> None:
    """Whatever is wrong with the answer, nothing is learned and nobody is told."""
    session.allow(10, 100_000)
    session.say(SAID)
    provider.answer_next(scripted)
    assert session.stop() == []


def test_without_a_budget_nothing_is_sent(session: Session, provider: Provider) -> None:
    """No limit set, or none left, or no model named: nothing leaves, nothing is learned, not by rules either."""
    session.say(f"Remember that invoices go out monthly. {SAID}")
    assert session.stop() == []
    session.allow(0, 100_000)
    session.say(SAID)
    assert session.stop() == []
    # Neither no model at all nor one that is not named rightly.
    for extractor in ("", "the best one"):
        session.config = replace(session.config, extractor=extractor)
        session.say(SAID)
        assert session.stop() == []
    assert provider.received == b""


def test_secrets_and_sensitive_memories_are_not_sent(session: Session, provider: Provider) -> None:
    """A turn with a secret, one that repeats a sensitive memory, and what hooks injected never leave."""
    session.allow(10, 100_000)
    with open_file(session.config.store) as memory:
        memory.remember(SENSITIVE, sensitive=True)
        memory.remember("Invoices are sent by Jonas, and the salary by the bank.")
    block = "<recalled-memory>\nThe cellar key is under the mat.\n</recalled-memory>"
    session.say(UNTOLD, "Well, my salary is 61,000 euros a year, as I said.", f"{block} {SAID}")
    provider.answer_next(answer())
    session.stop()
    (asked,) = provider.asked
    sent = json.loads(asked["messages"][-1]["content"])["turns"]
    assert [turn["text"] for turn in sent] == [SAID]
    for kept in (b"hunter2", b"61,000", b"cellar"):
        assert kept not in provider.received


def test_what_is_not_to_be_kept_is_not_sent(session: Session, provider: Provider) -> None:
    """A turn that is off the record leaves as little as it is learned."""
    session.allow(10, 100_000)
    session.say("Off the record: the Berlin office closes in March.", SAID)
    provider.answer_next(answer("The Berlin office closes in March."))
    assert session.stop() == []
    assert b"Berlin" not in provider.received


def test_only_what_is_sent_is_looked_through(
    session: Session, provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A long conversation is not searched for secrets where the model does not get to read it."""
    from recollect.secrets import detect

    searched: list[str] = []

    def find_none(text: str) -> tuple[str, ...]:
        searched.append(text)
        return ()

    monkeypatch.setattr(detect, "find_secrets", find_none)
    session.allow(10, 100_000)
    session.say(*["An hour of talk. " * 100] * 100, SAID)
    provider.answer_next(answer())
    session.stop()
    assert SAID in searched
    assert sum(map(len, searched)) <= 16_000


def test_the_budget_is_the_extractors(session: Session, provider: Provider) -> None:
    """A call takes from the very budget that reading concepts has, and is settled by what the server says."""
    session.allow(1, 100_000)
    session.say(SAID)
    provider.answer_next(answer())
    session.stop()
    with open_file(session.config.store) as memory:
        (reader,) = [each for each in memory.store.concepts.readers() if each.name.startswith("llm")]
    assert (reader.calls, reader.tokens) == (1, 1)
    session.say(f"Again: {SAID}")
    assert session.stop() == []
    assert len(provider.asked) == 1
