"""The gate: whatever the embedder, no sensitive word reaches it."""

from collections.abc import Iterator

import pytest

from fakes import ToyEmbedder
from making import make_memory
from provider_server import Provider, serve, vector_of
from recollect.core.errors import EmbedderError
from recollect.core.memory import Memory
from recollect.core.ports import Waiting
from recollect.core.vectors import mean
from recollect.embedders.naming import parse_model
from recollect.embedders.openai import open_openai
from recollect.remote.http import Key
from recollect.service.gate import Gate, Gates

PRIVATE = "the safe opens with 7319"


@pytest.fixture
def provider() -> Iterator[Provider]:
    with serve() as serving:
        yield serving


@pytest.fixture
def gate(provider: Provider) -> Gate:
    return Gate(open_openai(parse_model(f"openai:m@{provider.address}/openai/v1"), Key("K")))


def _turn(number: int, content: str, *, sensitive: bool = False) -> Memory:
    return make_memory(number, content, session="s", sensitive=sensitive)


def test_sensitive_text_is_not_in_any_byte_that_is_sent(provider: Provider, gate: Gate) -> None:
    """Neither as a memory nor as what was said before one does a sensitive text leave, whatever else does."""
    before = _turn(1, "What opens the safe?")
    secret = _turn(2, f"Well, {PRIVATE}.", sensitive=True)
    after = _turn(3, "Thanks, it is open now.")
    later = _turn(4, "And closed again.")
    gate.embed([Waiting(after, (before, secret), 1), Waiting(later, (secret, after), 2), Waiting(before, (), 3)])
    with pytest.raises(EmbedderError, match="sensitive"):
        gate.embed([Waiting(later, (), 4), Waiting(secret, (before,), 5)])
    gate.embed_query("How does the safe open?", 30)
    assert b"What opens the safe?" in provider.received
    assert b"it is open now" in provider.received
    for word in ("7319", "opens with", PRIVATE, "Well"):
        assert word.encode() not in provider.received


def test_a_lone_sensitive_neighbour_is_as_none(provider: Provider, gate: Gate) -> None:
    """After nothing but sensitive turns a memory's vector is that of its own text."""
    secret = _turn(1, PRIVATE, sensitive=True)
    assert gate.embed([Waiting(_turn(2, "Thanks."), (secret,), 1)]) == [mean([vector_of("Thanks.")])]
    assert provider.asked[0]["input"] == ["Thanks."]


def test_a_short_turn_stands_between_its_own_words_and_what_was_said_before(provider: Provider, gate: Gate) -> None:
    """The vector is the middle of the text's and of that which it is read together with, in order for each memory."""
    question, answer = _turn(1, "When do we deploy?"), _turn(2, "On Tuesdays.")
    made = gate.embed([Waiting(answer, (question,), 1), Waiting(question, (), 2)])
    together = "When do we deploy?\nOn Tuesdays."
    assert made == [mean([vector_of("On Tuesdays."), vector_of(together)]), mean([vector_of("When do we deploy?")])]
    assert provider.asked[0]["input"] == ["On Tuesdays.", together, "When do we deploy?"]


def test_a_model_is_opened_by_any_of_its_names() -> None:
    """Its gate is then had by the name that it has itself."""
    gates = Gates(lambda _name: ToyEmbedder("toy"))
    assert gates.open("any other") is gates.of("toy")
