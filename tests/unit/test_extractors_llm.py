"""A language model against a real server on this machine: what is sent, what comes back, what it costs."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from provider_server import Provider, Scripted, notes_of, serve
from reading import PLENTY, answer_for, answer_text, answer_with, let_ask, never_wait, open_model, used_by
from recollect.core.concepts import Extraction, Mention, Relation, Unread
from recollect.core.errors import BudgetSpent, ExtractorBusy, ExtractorError
from recollect.core.ports import Store
from recollect.extractors.llm import MOST_CHARACTERS, MOST_NOTES, LlmExtractor
from recollect.extractors.naming import parse_llm
from recollect.remote.http import TRIES, Key, Pace
from recollect.stores.sqlite.store import SqliteStore


@pytest.fixture
def provider() -> Iterator[Provider]:
    with serve() as serving:
        yield serving


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = SqliteStore(str(tmp_path / "memory.db"))
    yield opened
    opened.close()


@pytest.fixture
def model(provider: Provider, store: Store) -> LlmExtractor:
    return let_ask(store, open_model(provider, store))


def _texts(count: int) -> list[str]:
    return [f"Person{number} lives in Rome." for number in range(count)]


def _expect(text: str) -> Extraction:
    person = text.split(maxsplit=1)[0]
    return Extraction((Mention(person), Mention("Rome")), (Relation(person, "knows", "Rome"),))


def test_notes_go_several_a_call_and_come_back_in_order(provider: Provider, model: LlmExtractor) -> None:
    """Each text gets what was read in it, whatever the order of the answer, over as few calls as may be."""
    texts = _texts(20)
    assert model.read(texts) == [_expect(text) for text in texts]
    assert [len(notes_of(body)) for body in provider.asked] == [MOST_NOTES, MOST_NOTES, 4]
    assert {headers["authorization"] for headers in provider.headers} == {"Bearer sk-1"}
    assert model.read([]) == []


def test_a_call_is_bounded_by_characters_too(provider: Provider, model: LlmExtractor) -> None:
    """Long notes go a few at a time, and one that is over the bound goes alone."""
    lengths = [MOST_CHARACTERS // 2, MOST_CHARACTERS // 2, 1, MOST_CHARACTERS * 2, 1]
    model.read(["a" * length for length in lengths])
    assert [[len(note) for note in notes_of(body)] for body in provider.asked] == [
        lengths[:2],
        lengths[2:3],
        lengths[3:4],
        lengths[4:],
    ]


def test_without_a_limit_nothing_is_sent(provider: Provider, store: Store) -> None:
    """A model that nobody gave a budget asks nothing, and says why."""
    model = open_model(provider, store)
    for _ in range(2):
        with pytest.raises(BudgetSpent, match="or none is set"):
            model.read(_texts(1))
        store.concepts.begin(model.name)
    assert provider.received == b""


def test_what_is_used_is_what_the_server_says(
    provider: Provider, store: Store, model: LlmExtractor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before a call the most that it could take is taken; afterwards what was not used is given back."""
    grant, taken = store.budgets.grant, []

    def spy(name: str, tokens: int) -> bool:
        taken.append(tokens)
        return grant(name, tokens)

    monkeypatch.setattr(store.budgets, "grant", spy)
    provider.answer_next(answer_for(_texts(1)), answer_with(used=700))
    model.read(_texts(1))
    assert used_by(store, model) == (1, 1)
    model.read(_texts(1))
    assert used_by(store, model) == (2, 701)
    sent = bytes(provider.received).rpartition(b"\r\n\r\n")[2]
    assert taken == [len(sent) + provider.asked[0]["max_tokens"]] * 2


@pytest.mark.parametrize("usage", [None, {}, {"total_tokens": None}, {"total_tokens": -5}, {"total_tokens": True}, 7])
def test_a_server_that_does_not_say_what_was_used_is_charged_all(
    provider: Provider, store: Store, model: LlmExtractor, usage: object
) -> None:
    """Without a number to believe, the call counts as the most that it could have used."""
    answer = json.loads(answer_for(_texts(1)).body)
    provider.answer_next(Scripted(200, json.dumps({**answer, "usage": usage}).encode()))
    assert model.read(_texts(1)) == [_expect(text) for text in _texts(1)]
    calls, tokens = used_by(store, model)
    assert calls == 1
    assert tokens > provider.asked[0]["max_tokens"]


def test_a_server_that_says_it_used_more_is_believed(provider: Provider, store: Store, model: LlmExtractor) -> None:
    """Whatever was used counts, also what nobody could foresee, and stops the next call."""
    store.budgets.limit(model.name, 10, 20_000)
    provider.answer_next(answer_with(used=10**30))
    model.read(_texts(1))
    with pytest.raises(BudgetSpent):
        model.read(_texts(1))
    assert len(provider.asked) == 1


@pytest.mark.parametrize(
    ("answer", "charged"),
    [
        (Scripted(429), False),
        (Scripted(503), True),
        (Scripted(408), True),
        (Scripted(drop=True), True),
    ],
)
def test_every_try_is_a_call_of_the_budget(
    provider: Provider, store: Store, model: LlmExtractor, answer: Scripted, charged: bool
) -> None:
    """A try that fails is a call; its tokens count unless the server turned it away."""
    provider.answer_next(answer, answer, answer_for(_texts(1)))
    model.read(_texts(1))
    calls, tokens = used_by(store, model)
    assert (calls, tokens > 1000) == (3, charged)


def test_tries_end_with_the_budget(provider: Provider, store: Store, model: LlmExtractor) -> None:
    """A server that stays down is asked again only as long as calls are left."""
    store.budgets.limit(model.name, 3, PLENTY)
    provider.answer_next(*[Scripted(500)] * TRIES)
    with pytest.raises(BudgetSpent):
        model.read(_texts(1))
    assert len(provider.asked) == 3 < TRIES


def test_a_server_that_stays_down_is_busy(provider: Provider, model: LlmExtractor) -> None:
    """What may pass is waited out, then told as such."""
    provider.answer_next(*[Scripted(500, b'{"error": {"message": "the cat sits on it"}}')] * TRIES)
    with pytest.raises(ExtractorBusy, match="does not read now: status 500, 'the cat sits on it'"):
        model.read(_texts(1))
    assert len(provider.asked) == TRIES


def test_a_wait_that_is_asked_for_is_kept(provider: Provider, store: Store) -> None:
    """Retry-After is waited out exactly, and one that is too long is told."""
    waits: list[float] = []
    pace = Pace(clock=lambda: 0.0, sleep=waits.append)
    model = let_ask(store, open_model(provider, store, pace))
    provider.answer_next(Scripted(429, headers={"Retry-After": "7"}))
    assert model.read(_texts(1)) == [_expect(_texts(1)[0])]
    assert waits == [7.0]
    provider.answer_next(Scripted(429, headers={"Retry-After": "3600"}))
    with pytest.raises(ExtractorBusy, match="asks to wait 3600 s"):
        model.read(_texts(1))


@pytest.mark.parametrize("hang", [Scripted(hold=True), Scripted(drip=True)])
def test_a_server_that_hangs_is_left(
    provider: Provider, store: Store, hang: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Silence, or an answer that drips, ends with the time; what it may have used stays taken."""
    monkeypatch.setattr("recollect.extractors.llm.SECONDS_A_CALL", 0.3)
    model = let_ask(store, open_model(provider, store, Pace()))
    provider.answer_next(hang)
    with pytest.raises(ExtractorBusy):
        model.read(_texts(1))
    calls, tokens = used_by(store, model)
    assert calls == 1
    assert tokens > provider.asked[0]["max_tokens"]


BAD = [
    answer_text("I would rather not."),
    answer_text('{"notes": ['),
    answer_text('{"notes": []', reason="length"),
    answer_text("", refusal="I cannot help with that."),
    answer_text("", reason="content_filter"),
    Scripted(400, b'{"error": {"message": "too much text"}}'),
    Scripted(413),
    Scripted(200, json.dumps({"choices": [{"message": {"content": None}}]}).encode()),
]


@pytest.mark.parametrize("bad", BAD)
def test_a_batch_that_fails_is_asked_one_by_one(provider: Provider, model: LlmExtractor, bad: Scripted) -> None:
    """One text that a model cannot read, or that breaks its answer, does not hold up the others."""
    texts = _texts(3)
    provider.answer_next(bad, answer_for(texts[:1]), bad)
    first, second, third = model.read(texts)
    assert (first, third) == (_expect(texts[0]), _expect(texts[2]))
    assert isinstance(second, Unread)
    assert second.reason
    assert [notes_of(body) for body in provider.asked] == [texts, texts[:1], texts[1:2], texts[2:]]


def test_a_half_answer_is_half_read(provider: Provider, model: LlmExtractor) -> None:
    """What an answer leaves out, or has malformed, is told, and nothing is asked again for it."""
    texts = _texts(3)
    provider.answer_next(answer_for(texts, lambda note: note if note["number"] == 2 else {"number": 9}))
    first, second, third = model.read(texts)
    assert isinstance(first, Unread)
    assert second == _expect(texts[1])
    assert isinstance(third, Unread)
    assert len(provider.asked) == 1


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (Scripted(401), "refused the key that is set by RECOLLECT_EXTRACTOR_KEY"),
        (Scripted(404, b'{"error": "no such model"}'), "refused to read: status 404, 'no such model'"),
        (Scripted(307, headers={"Location": "http://127.0.0.1:1/"}), "sends on to another address"),
        (Scripted(200, b"<html>"), "did not answer in JSON"),
        (Scripted(200, b"{}"), "did not answer as OpenAI does"),
        (Scripted(200, b'{"choices": []}'), "did not answer as OpenAI does"),
        (Scripted(200, b'{"choices": [{"message": "hello"}]}'), "did not answer as OpenAI does"),
    ],
)
def test_what_no_text_can_help_ends_the_matter(
    provider: Provider, model: LlmExtractor, answer: Scripted, says: str
) -> None:
    """A wrong key, address or server is an error that says what to do, after one call."""
    provider.answer_next(answer)
    with pytest.raises(ExtractorError, match=says):
        model.read(_texts(3))
    assert len(provider.asked) == 1


def test_no_error_shows_the_key(provider: Provider, model: LlmExtractor) -> None:
    """Whatever a server repeats, the key is in no message."""
    provider.answer_next(Scripted(404, b'{"error": "sk-1 is bad"}'))
    with pytest.raises(ExtractorError) as raised:
        model.read(_texts(1))
    assert "sk-1" not in str(raised.value)


def test_two_names_are_compared_within_the_budget(provider: Provider, store: Store, model: LlmExtractor) -> None:
    """A yes is a yes; whatever is none, a refusal too, is a no; and each question is a call."""
    assert model.is_same("waterfall", "waterfalls")
    provider.answer_next(
        answer_text('{"same": false}'), answer_text("yes"), answer_text("", refusal="no"), Scripted(400)
    )
    assert not any(model.is_same("Albert", "Alberta") for _ in range(4))
    assert used_by(store, model)[0] == 5
    assert json.loads(provider.asked[0]["messages"][1]["content"]) == {"names": ["waterfall", "waterfalls"]}
    store.budgets.limit(model.name, 5, PLENTY)
    with pytest.raises(BudgetSpent):
        model.is_same("one", "two")


def test_openai_wants_its_key(store: Store) -> None:
    """Without a key OpenAI's own address is not even asked."""
    with pytest.raises(ExtractorError, match="openai:m needs a key: set OPENAI_API_KEY"):
        LlmExtractor(parse_llm("openai:m"), Key("OPENAI_API_KEY"), store.budgets, never_wait())
