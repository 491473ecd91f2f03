"""A language model reads what waits: within its budget, never twice, never what is sensitive, and nothing is lost."""

import json
import re
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pytest

from making import change_memory, id_of, make_memory, ref_of
from provider_server import Provider, Scripted, notes_of, serve
from reading import add_notes, answer_for, answer_text, answer_with, let_ask, open_model, used_by, waiting_for
from recollect.core.concepts import Extraction, Mention, Unread
from recollect.core.errors import BudgetSpent, ExtractorBusy, ExtractorError
from recollect.core.memory import Memory
from recollect.core.ports import Queued, Store, Waiting
from recollect.extractors.llm import LlmExtractor
from recollect.remote.http import TRIES
from recollect.service.extract_llm import BATCH, Extracted, extract_by_model
from recollect.service.resolve import Resolver


@pytest.fixture
def provider() -> Iterator[Provider]:
    with serve() as serving:
        yield serving


@pytest.fixture
def model(provider: Provider, store: Store) -> LlmExtractor:
    return let_ask(store, open_model(provider, store))


def _sent(provider: Provider) -> list[str]:
    return [text for body in provider.asked for text in notes_of(body)]


def _mentions(store: Store, name: str, space: str = "personal") -> set[str]:
    concept = store.concepts.find(space, name)
    return set() if concept is None else {ref.id for ref, _ in concept.mentions}


def test_all_that_waits_is_read_and_kept(provider: Provider, store: Store, model: LlmExtractor) -> None:
    """Every memory is read once, its names and relations are kept, and its place in the queue is gone."""
    memories = add_notes(store, 20)
    told: list[tuple[int, int]] = []
    read = extract_by_model(store, model, progress=lambda done, total: told.append((done, total)))
    assert (read.kept, read.unread) == (20, ())
    assert told == [(8, 20), (16, 20), (20, 20)]
    assert _sent(provider) == [memory.content for memory in memories]
    assert waiting_for(store, model) == []
    assert _mentions(store, "Rome") == {memory.id for memory in memories}
    concept = store.concepts.find("personal", "Person7")
    assert concept is not None
    assert [(said.source, said.relation, said.target, said.evidence) for said in concept.relations] == [
        ("Person7", "knows", "Rome", (ref_of(7),))
    ]
    assert extract_by_model(store, model).kept == 0
    assert len(provider.asked) == 3


def test_it_stops_between_two_calls(provider: Provider, store: Store, model: LlmExtractor) -> None:
    """Whoever is told to stop leaves the rest queued."""
    add_notes(store, 20)
    assert extract_by_model(store, model, stop=lambda: bool(provider.asked)).kept == BATCH
    assert len(waiting_for(store, model)) == 20 - BATCH


def test_a_call_has_memories_of_one_space_only(provider: Provider, store: Store, model: LlmExtractor) -> None:
    """What is in one space never stands beside what is in another; and one space can be read alone."""
    add_notes(store, 3)
    add_notes(store, 3, first=11, space="ours")
    assert extract_by_model(store, model, space="ours").kept == 3
    assert extract_by_model(store, model).kept == 3
    assert [{int(note[6:8]) // 10 for note in notes_of(body)} for body in provider.asked] == [{1}, {0}]
    assert _mentions(store, "Rome", "ours") == {id_of(number) for number in (11, 12, 13)}


def test_sensitive_text_is_in_no_request(provider: Provider, store: Store, model: LlmExtractor) -> None:
    """Of what was sensitive when a model was asked, not one byte left: not alone, in a batch, or as another's name."""
    marked, edited, *_ = add_notes(store, 12)
    read = make_memory(20, "Zebedee lives in Rome.")
    store.memories.add([read])
    store.memories.add([make_memory(number, f"Hunter{number} is the Password.", sensitive=True) for number in (30, 31)])
    store.memories.change(change_memory(marked, 50, sensitive=True))
    store.memories.change(change_memory(edited, 51, content="Person2 has a Password", sensitive=True))
    assert not {marked.id, edited.id, id_of(30), id_of(31)} & set(waiting_for(store, model))
    assert extract_by_model(store, model, tie_break=True).kept == 11
    assert len(provider.received) > 1000
    assert not re.findall(rb"(?i)hunter|password|person[12]\b", provider.received)
    # What was read before it became sensitive is not even something to compare another name with, though it has a name
    # that somebody gave it.
    store.concepts.alias("personal", "Zebedee", "Zeb the Fisher")
    store.memories.change(change_memory(read, 60, sensitive=True))
    before = len(provider.received)
    store.memories.add([make_memory(40, "Zebedees live in Rome.")])
    assert extract_by_model(store, model, tie_break=True).kept == 1
    assert b"Zebedees" in provider.received[before:]
    assert not re.findall(rb"(?i)hunter|password|person[12]\b|zebedee\b|fisher", provider.received[before:])


def test_a_queue_that_is_wrong_lets_nothing_out(
    provider: Provider, store: Store, model: LlmExtractor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even if a store queued a sensitive memory, it would not be sent."""
    waiting = [Waiting(make_memory(1, "Hunter2.", sensitive=True), (), 1), Waiting(make_memory(2, "Ada."), (), 1)]
    add_notes(store, 1)
    monkeypatch.setattr(store.concepts, "waiting", lambda *_: [waiting.pop() for _ in waiting[:]])
    extract_by_model(store, model)
    assert _sent(provider) == ["Ada."]


def test_the_same_text_is_sent_once(provider: Provider, store: Store, model: LlmExtractor) -> None:
    """Two memories of one text cost one note; an edit back costs nothing; another space pays for itself."""
    first = make_memory(1, "Ada lives in Rome.")
    store.memories.add([first, make_memory(2, first.content), make_memory(3, first.content, space="ours")])
    assert extract_by_model(store, model).kept == 3
    assert _sent(provider) == [first.content] * 2
    edited = change_memory(first, 50, content="Ada lives in Bern.")
    store.memories.change(edited)
    assert extract_by_model(store, model).kept == 1
    store.memories.change(change_memory(edited, 60, content=first.content))
    before = used_by(store, model)
    assert extract_by_model(store, model).kept == 1
    assert used_by(store, model) == before
    assert _sent(provider) == [first.content, first.content, edited.content]
    assert _mentions(store, "Rome") == {first.id, id_of(2)}
    assert _mentions(store, "Bern") == set()


@dataclass
class _Meddled:
    """A model while whose first answer is on its way memories are changed."""

    model: LlmExtractor
    store: Store
    changes: list[Memory]

    @property
    def name(self) -> str:
        return self.model.name

    def read(self, texts: Sequence[str]) -> list[Extraction | Unread]:
        read = self.model.read(texts)
        while self.changes:
            self.store.memories.change(self.changes.pop())
        return read

    def is_same(self, name: str, other: str) -> bool:
        return self.model.is_same(name, other)


def test_what_changes_while_it_is_read_stays_queued(provider: Provider, store: Store, model: LlmExtractor) -> None:
    """An answer for an older text is not kept for the newer one, nor for a memory that is sensitive by then."""
    first, second, third = add_notes(store, 3)
    changes = [change_memory(first, 50, content="Eve lives in Bern."), change_memory(second, 51, sensitive=True)]
    assert extract_by_model(store, _Meddled(model, store, changes)).kept == 2
    assert _mentions(store, "Person1") == _mentions(store, "Person2") == set()
    assert _mentions(store, "Eve") == {first.id}
    assert _mentions(store, "Person3") == {third.id}
    assert waiting_for(store, model) == []
    assert len(provider.asked) == 2


BROKEN: Sequence[tuple[Sequence[Scripted], type[ExtractorError]]] = [
    ([Scripted(429)] * TRIES, ExtractorBusy),
    ([Scripted(429, headers={"Retry-After": "3600"})], ExtractorBusy),
    ([Scripted(500)] * TRIES, ExtractorBusy),
    ([Scripted(drop=True)] * TRIES, ExtractorBusy),
    ([Scripted(401)], ExtractorError),
    ([Scripted(200, b"<html>")], ExtractorError),
    ([Scripted(200, b"{}")], ExtractorError),
]
UNREADABLE: Sequence[Sequence[Scripted]] = [
    [answer_text("Sure! Here you go:")] * (1 + BATCH),
    [answer_text('{"notes": [{"number": 1, "ent', reason="length")] * (1 + BATCH),
    [answer_text("", refusal="I cannot help with that.")] * (1 + BATCH),
    [Scripted(400, b'{"error": "max_tokens is not supported"}')] * (1 + BATCH),
    [answer_with(*[{"number": number} for number in range(1, 1 + BATCH)])],
]


def _answer_first(provider: Provider, memories: Sequence[Memory]) -> None:
    provider.answer_next(answer_for([memory.content for memory in memories[:BATCH]]))


def _check(provider: Provider, store: Store, model: LlmExtractor, memories: Sequence[Memory]) -> None:
    """See that only the last of some memories wait, that nothing is wrong, and that the next run reads those."""
    read, waiting = memories[:-BATCH], memories[-BATCH:]
    assert not provider.script
    assert waiting_for(store, model) == [memory.id for memory in waiting]
    assert _mentions(store, "Rome") == {memory.id for memory in read}
    assert not store.examine(lambda _done, _total: None)
    provider.asked.clear()
    assert extract_by_model(store, model).kept == BATCH
    assert _sent(provider) == [memory.content for memory in waiting]
    assert _mentions(store, "Rome") == {memory.id for memory in memories}


@pytest.mark.parametrize(("answers", "error"), BROKEN)
def test_a_server_in_trouble_leaves_all_as_it_was_and_queued(
    provider: Provider, store: Store, model: LlmExtractor, answers: Sequence[Scripted], error: type[ExtractorError]
) -> None:
    """What was kept before the trouble stays, the rest waits, and the next run reads it."""
    memories = add_notes(store, 2 * BATCH)
    _answer_first(provider, memories)
    provider.answer_next(*answers)
    with pytest.raises(error):
        extract_by_model(store, model)
    _check(provider, store, model, memories)


@pytest.mark.parametrize("answers", UNREADABLE)
def test_a_model_that_reads_nothing_is_an_error(
    provider: Provider, store: Store, model: LlmExtractor, answers: Sequence[Scripted]
) -> None:
    """If not one of many texts can be read it is not the texts: it stops after those, and all wait."""
    memories = add_notes(store, BATCH)
    provider.answer_next(*answers)
    unread: dict[Queued, str] = {(ref_of(99), 1): "read before"}
    with pytest.raises(ExtractorError):
        extract_by_model(store, model, unread=unread)
    assert list(unread) == [(ref_of(99), 1)]
    _check(provider, store, model, memories)


@pytest.mark.parametrize("answers", UNREADABLE)
def test_texts_that_cannot_be_read_are_told_and_wait(
    provider: Provider, store: Store, model: LlmExtractor, answers: Sequence[Scripted]
) -> None:
    """If others could be read it is the texts: each is named with a reason, and the others are kept."""
    memories = add_notes(store, 2 * BATCH)
    _answer_first(provider, memories)
    provider.answer_next(*answers)
    read = extract_by_model(store, model)
    assert (read.kept, [ref.id for ref, _ in read.unread]) == (BATCH, [memory.id for memory in memories[BATCH:]])
    assert all(reason for _, reason in read.unread)
    _check(provider, store, model, memories)


def test_half_an_answer_is_kept_and_the_rest_waits(provider: Provider, store: Store, model: LlmExtractor) -> None:
    """What a model left out is told and not asked again, until it changes or somebody asks anew."""
    memories = add_notes(store, 3)
    provider.answer_next(answer_for([memory.content for memory in memories][:1]))
    unread: dict[Queued, str] = {}
    read = extract_by_model(store, model, unread=unread)
    assert (read.kept, [ref.id for ref, _ in read.unread]) == (1, [memories[1].id, memories[2].id])
    assert {reason for _, reason in read.unread} == {"the model left it out of its answer"}
    assert waiting_for(store, model) == [memories[1].id, memories[2].id]
    assert extract_by_model(store, model, unread=unread).kept == 0
    assert len(provider.asked) == 1
    store.memories.change(change_memory(memories[1], 50, content="Eve lives in Rome."))
    assert extract_by_model(store, model, unread=unread).kept == 1
    assert [ref.id for ref, _ in unread] == [memories[2].id]
    assert extract_by_model(store, model).kept == 1


def test_the_budget_ends_the_reading_and_nothing_is_lost(provider: Provider, store: Store, model: LlmExtractor) -> None:
    """With the last call that is allowed it stops and says so; with more it goes on where it stood."""
    add_notes(store, 20)
    store.budgets.limit(model.name, 2, 10**9)
    with pytest.raises(BudgetSpent, match="recollect concepts"):
        extract_by_model(store, model)
    assert (len(provider.asked), len(waiting_for(store, model))) == (2, 4)
    store.budgets.limit(model.name, 3, 10**9)
    assert extract_by_model(store, model).kept == 4


def _work(stores: Sequence[Store], provider: Provider) -> list[Extracted | ExtractorError]:
    """Have eight read at once."""
    came: list[Extracted | ExtractorError] = []
    begin = threading.Barrier(8)

    def work(store: Store) -> None:
        model = open_model(provider, store)
        begin.wait()
        try:
            came.append(extract_by_model(store, model))
        except ExtractorError as error:
            came.append(error)

    threads = [threading.Thread(target=work, args=(store,)) for store in stores]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(came) == 8
    return came


def test_eight_who_read_at_once_send_each_text_once(provider: Provider, store: Store, other: Store) -> None:
    """However many ask, every text is paid for once, and every memory is kept once."""
    model = let_ask(store, open_model(provider, store))
    memories = add_notes(store, 150)
    came = _work([store, other] * 4, provider)
    assert sum(each.kept for each in came if isinstance(each, Extracted)) == 150
    assert not [each for each in came if isinstance(each, ExtractorError)]
    assert Counter(_sent(provider)) == Counter(memory.content for memory in memories)
    assert waiting_for(store, model) == []


@pytest.mark.parametrize(("calls", "tokens"), [(7, 10**9), (10**9, 60_000)])
def test_eight_who_read_at_once_never_exceed_the_budget(
    provider: Provider, store: Store, other: Store, calls: int, tokens: int
) -> None:
    """By the server's own count, all of them together stay within the calls and the tokens; the rest stays queued."""
    model = let_ask(store, open_model(provider, store), calls, tokens)
    add_notes(store, 400)
    used: list[int] = []
    provider.answered = lambda answer: used.append(answer["usage"]["total_tokens"])
    came = _work([store, other] * 4, provider)
    assert [each for each in came if isinstance(each, BudgetSpent)]
    assert 0 < len(provider.asked) <= calls
    assert 0 < sum(used) <= tokens
    assert used_by(store, model) == (len(used), sum(used))
    assert len(waiting_for(store, model)) == 400 - len(_sent(provider))
    assert len(_mentions(store, "Rome")) == len(_sent(provider))


def test_names_come_to_the_concept_that_they_mean(provider: Provider, store: Store, model: LlmExtractor) -> None:
    """The same words lead to the concept that is there; another form only if a model may be asked and says yes."""
    add_notes(store, 1)
    store.memories.add([make_memory(2, "Ada saw the Niagara-Falls and Waterfall.")])
    extract_by_model(store, model)
    first = store.memories.get([ref_of(2)])[ref_of(2)]
    assert _mentions(store, "Waterfall") == {first.id}
    for number, tie_break, text in ((3, False, "Waterfalls roar."), (4, True, "Waterfalls, Ada, Rom roar.")):
        provider.asked.clear()
        store.memories.add([make_memory(number, text)])
        extract_by_model(store, model, tie_break=tie_break)
    assert _mentions(store, "Waterfalls") == {id_of(3), id_of(4)}
    store.memories.purge(ref_of(3))
    store.memories.purge(ref_of(4))
    store.memories.add([make_memory(5, "Waterfalls, Ada roar.")])
    provider.asked.clear()
    extract_by_model(store, model, tie_break=True)
    assert _mentions(store, "Waterfall") == {first.id, id_of(5)}
    assert [json.loads(body["messages"][1]["content"]).get("names") for body in provider.asked] == [
        None,
        ["Waterfalls", "waterfall"],
    ]
    assert Resolver(store.concepts, "personal").resolve(
        Extraction((Mention("the Rome"), Mention("ada"), Mention("***")))
    ) == Extraction((Mention("rome"), Mention("ada"), Mention("***")))


def test_a_tie_is_left_undecided_without_an_answer(provider: Provider, store: Store, model: LlmExtractor) -> None:
    """If a model cannot say whether two names are the same, they are two, and the reading goes on."""
    store.memories.add([make_memory(1, "Waterfall and River.")])
    extract_by_model(store, model)
    store.memories.add([make_memory(2, "Waterfalls and Rivers.")])
    provider.answer_next(answer_for(["Waterfalls and Rivers."]), Scripted(404))
    assert extract_by_model(store, model, tie_break=True).kept == 1
    assert len(provider.asked) == 3
    assert _mentions(store, "Waterfalls") == _mentions(store, "Rivers") == {id_of(2)}
