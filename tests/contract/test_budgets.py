"""What a language model may use, and what it answered, as every store keeps both."""

import threading

import pytest

from making import change_memory, forget_memory, make_memory, ref_of
from recollect.core.concepts import Extraction, Mention, Relation
from recollect.core.errors import NotFound, Refused
from recollect.core.ports import Store

MODEL, OTHER = "llm 1 openai:m", "llm 1 openai:other"
READ = Extraction((Mention("Ada"), Mention("née Byron", "keyword")), (Relation("Ada", "works with", "Babbage"),))
TEXT = "Ada, née Byron, met Babbage."


@pytest.fixture(autouse=True)
def _begin(store: Store) -> None:
    store.memories.add([make_memory(1, TEXT), make_memory(2, TEXT, space="ours")])
    store.concepts.begin(MODEL)
    store.concepts.begin(OTHER)


def _used(store: Store, model: str = MODEL) -> tuple[int, int, int | None, int | None]:
    reader = next(each for each in store.concepts.readers() if each.name == model)
    return reader.calls, reader.tokens, reader.most_calls, reader.most_tokens


def _remember(store: Store, text: str = TEXT, space: str = "personal", model: str = MODEL) -> None:
    store.budgets.claim(model, space, [text])
    store.budgets.remember(model, space, {text: READ})


def test_without_a_limit_nothing_is_granted(store: Store) -> None:
    """A model that nobody let ask may not, nor one that is not there."""
    assert not store.budgets.grant(MODEL, 1)
    assert not store.budgets.grant("nobody", 1)
    assert _used(store) == (0, 0, None, None)


def test_a_limit_is_shown_and_kept_to_the_last_token(store: Store) -> None:
    """What is granted adds up to the limit and never over it, in calls and in tokens."""
    store.budgets.limit(MODEL, 3, 100)
    assert store.budgets.grant(MODEL, 60)
    assert not store.budgets.grant(MODEL, 41)
    assert store.budgets.grant(MODEL, 40)
    assert _used(store) == (2, 100, 3, 100)
    store.budgets.settle(MODEL, 50)
    assert store.budgets.grant(MODEL, 0)
    assert not store.budgets.grant(MODEL, 0)
    assert _used(store) == (3, 50, 3, 100)
    assert _used(store, OTHER) == (0, 0, None, None)


def test_a_limit_that_is_raised_goes_on_where_it_stood(store: Store) -> None:
    """A limit counts all that was used so far; one that is lowered under that stops the model."""
    store.budgets.limit(MODEL, 1, 10)
    assert store.budgets.grant(MODEL, 10)
    store.budgets.limit(MODEL, 2, 15)
    assert not store.budgets.grant(MODEL, 6)
    assert store.budgets.grant(MODEL, 5)
    store.budgets.limit(MODEL, 9, 3)
    assert not store.budgets.grant(MODEL, 0)


def test_a_limit_needs_an_extractor_and_a_number(store: Store) -> None:
    """Nobody's limit is an error, and so is one that no column holds."""
    with pytest.raises(NotFound, match="recollect concepts"):
        store.budgets.limit("nobody", 1, 1)
    for calls, tokens in ((-1, 1), (1, -1), (1 << 60, 1)):
        with pytest.raises(Refused, match="from 0 up"):
            store.budgets.limit(MODEL, calls, tokens)


def test_more_than_was_granted_counts_too(store: Store) -> None:
    """What a server used beyond what was foreseen is counted, whatever the number, and never less than nothing."""
    store.budgets.limit(MODEL, 10, 100)
    assert store.budgets.grant(MODEL, 50)
    store.budgets.settle(MODEL, -70)
    assert _used(store)[1] == 120
    store.budgets.settle(MODEL, 10**40)
    assert _used(store)[1] == 0
    store.budgets.settle(MODEL, -(10**40))
    assert not store.budgets.grant(MODEL, 1)
    assert not store.budgets.grant(MODEL, 10**40)


def test_many_who_ask_at_once_are_granted_the_limit_together(store: Store, other: Store) -> None:
    """Eight threads over two stores get exactly what there is, to the last call."""
    store.budgets.limit(MODEL, 100, 10_000)
    granted: list[int] = []
    begin = threading.Barrier(8)

    def ask(budgets: Store) -> None:
        begin.wait()
        while budgets.budgets.grant(MODEL, 90):
            granted.append(90)
            budgets.budgets.settle(MODEL, 10)

    threads = [threading.Thread(target=ask, args=(each,)) for each in (store, other) * 4]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(granted) == 100
    assert _used(store)[:2] == (100, 8_000)


def test_an_answer_is_recalled_by_text_space_and_model(store: Store) -> None:
    """What was answered is there for the very same text, in its own space and for its own model, and for no other."""
    assert store.budgets.recalled(MODEL, "personal", [TEXT, "else"]) == {}
    _remember(store)
    assert store.budgets.recalled(MODEL, "personal", [TEXT, "else"]) == {TEXT: READ}
    assert store.budgets.recalled(MODEL, "ours", [TEXT]) == {}
    assert store.budgets.recalled(OTHER, "personal", [TEXT]) == {}
    assert store.budgets.recalled(MODEL, "personal", [TEXT.lower()]) == {}


def test_only_one_asks_about_a_text(store: Store, other: Store) -> None:
    """What one has claimed nobody else gets, until it is released; what is answered is never asked again."""
    assert store.budgets.claim(MODEL, "personal", ["one", "two"]) == {"one", "two"}
    assert other.budgets.claim(MODEL, "personal", ["two", "three"]) == {"three"}
    assert other.budgets.claim(OTHER, "personal", ["one"]) == {"one"}
    assert other.budgets.recalled(MODEL, "personal", ["one"]) == {}
    store.budgets.remember(MODEL, "personal", {"one": READ})
    store.budgets.release(MODEL, "personal", ["one", "two"])
    assert other.budgets.claim(MODEL, "personal", ["one", "two"]) == {"two"}
    assert other.budgets.recalled(MODEL, "personal", ["one", "two"]) == {"one": READ}


def test_many_who_claim_at_once_share_the_texts(store: Store, other: Store) -> None:
    """However the texts are ordered, each is claimed once, and nobody waits for ever."""
    texts = [f"text {number}" for number in range(60)]
    claimed: list[str] = []
    begin = threading.Barrier(8)

    def claim(mine: Store, step: int) -> None:
        begin.wait()
        for start in range(0, 60, 10):
            claimed.extend(mine.budgets.claim(MODEL, "personal", texts[start : start + 10][::step]))

    threads = [
        threading.Thread(target=claim, args=(mine, step)) for mine in (store, other) for step in (1, -1) for _ in "12"
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(claimed) == sorted(texts)


def test_nothing_is_kept_of_a_text_that_is_gone(store: Store) -> None:
    """A purged memory takes along what was answered for any text that it had, also what comes back only then."""
    memory = make_memory(5, "first text")
    store.memories.add([memory])
    store.memories.change(change_memory(memory, 50, content="second text"))
    _remember(store, "second text")
    _remember(store)
    assert store.budgets.claim(MODEL, "personal", ["first text"])
    store.memories.purge(ref_of(5))
    store.budgets.remember(MODEL, "personal", {"first text": READ, "second text": READ})
    assert store.budgets.recalled(MODEL, "personal", ["first text", "second text", TEXT]) == {TEXT: READ}


def test_marking_a_memory_forgets_its_answer_at_once(store: Store) -> None:
    """A text that has become sensitive is not in the cache any more; one that was only forgotten still is."""
    _remember(store)
    store.memories.change(forgotten := forget_memory(make_memory(1, TEXT), 40))
    assert store.budgets.recalled(MODEL, "personal", [TEXT])
    store.memories.change(change_memory(forgotten, 50, deleted_at=None, sensitive=True))
    assert store.budgets.recalled(MODEL, "personal", [TEXT]) == {}


def test_a_dropped_extractor_takes_all_along(store: Store) -> None:
    """After a drop nothing of it is left: neither its answers nor its limit."""
    store.budgets.limit(MODEL, 5, 5)
    _remember(store)
    store.concepts.drop(MODEL)
    with pytest.raises(NotFound):
        store.budgets.recalled(MODEL, "personal", [TEXT])
    store.concepts.begin(MODEL)
    assert store.budgets.recalled(MODEL, "personal", [TEXT]) == {}
    assert _used(store) == (0, 0, None, None)
