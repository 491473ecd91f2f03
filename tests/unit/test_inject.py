"""From a prompt to what the agent is given with it, over a real store."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from making import START, StandingClock, at, make_link, make_memory, open_recollect, ref_of
from recollect.core.pack import count_tokens
from recollect.core.query import Scope
from recollect.service.inject import ask_of, inject, read_prompt
from recollect.service.recollect import Recollect

SCOPE = Scope(("personal",))


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Recollect]:
    with open_recollect(tmp_path / "memory.db", StandingClock()) as opened:
        opened.store.memories.add(
            [
                make_memory(1, "The staging database is Postgres 16 on port 5433."),
                make_memory(2, "Deploys run from the main branch every Tuesday."),
                make_memory(3, "Ana prefers tabs over spaces in Go.", project="github.com/acme/shop"),
                *(make_memory(10 + number, f"Note {number} about the weather in town.") for number in range(30)),
            ]
        )
        yield opened


def _given(memory: Recollect, prompt: str, *, held: frozenset[str] = frozenset(), scope: Scope = SCOPE) -> list[str]:
    query = read_prompt(prompt, scope, memories=5, tokens=1000, held=held)
    found = None if query is None else inject(memory.store, query, START)
    return [each.id for each in found.memories] if found else []


def test_a_prompt_is_given_what_speaks_to_it(memory: Recollect) -> None:
    """Of all that is known, the agent gets what the prompt is about."""
    assert _given(memory, "Which port does the staging database use?") == [ref_of(1).id]


@pytest.mark.parametrize(
    "prompt",
    [
        "",
        "go on",
        "yes please",
        "/compact",
        "Write a haiku about the sea and lonely whales.",
        "<system-reminder>port of the staging database</system-reminder>",
    ],
)
def test_a_prompt_about_nothing_known_is_given_nothing(memory: Recollect, prompt: str) -> None:
    """Without a telling word that is known, there is silence; what the client put into the prompt does not count."""
    assert _given(memory, prompt) == []


def test_what_the_session_has_is_left_out(memory: Recollect) -> None:
    """What was given before is not given again, whatever speaks for it."""
    assert _given(memory, "staging database port", held=frozenset({ref_of(1).id})) == []


def test_only_the_project_is_looked_at(memory: Recollect) -> None:
    """Another project's memory stays there."""
    prompt = "tabs or spaces in Go, what does Ana prefer?"
    assert _given(memory, prompt, scope=Scope(("personal",), "github.com/acme/shop")) == [ref_of(3).id]
    assert _given(memory, prompt, scope=Scope(("personal",), "github.com/acme/other")) == []


def test_the_newer_memory_is_found_by_the_older_ones_words(memory: Recollect) -> None:
    """What supersedes another takes its place, even if it shares no word with the prompt."""
    memory.store.memories.add([make_memory(4, "It moved to MariaDB on 3306.")])
    memory.store.links.add(make_link(4, "supersedes", 1))
    assert _given(memory, "Which port does the staging database use?") == [ref_of(4).id]


def test_the_floor_is_a_setting(memory: Recollect) -> None:
    """A higher floor says less, a floor of 0 gives whatever is found."""
    memory.set("prompt.floor", "10")
    assert _given(memory, "Which port does the staging database use?") == []
    memory.set("prompt.floor", "0")
    assert _given(memory, "the weather, and much else that nobody ever wrote down in any of these memories")


def test_the_budget_holds_with_all_that_frames_it(memory: Recollect) -> None:
    """What is given stays within the tokens, by whole memories."""
    long = [make_memory(100 + number, f"Kestrel fact {number}. " + "word " * 200) for number in range(6)]
    memory.store.memories.add(long)
    query = read_prompt("which kestrel?", SCOPE, memories=5, tokens=700, held=frozenset())
    assert query is not None
    found = inject(memory.store, query, at(1))
    assert found is not None
    assert 1 <= len(found.memories) < 5
    assert found.tokens == count_tokens(found.text) <= 700


@pytest.mark.parametrize(("most", "tokens"), [(5, 1000), (1, 1000), (5, 250)])
def test_what_comes_along_counts_too(memory: Recollect, most: int, tokens: int) -> None:
    """Answers that hang on what was found are memories like any other: no more are given than may be."""
    for number in range(200, 240, 4):
        memory.store.memories.add([make_memory(number, f"Kestrel fails on arm, case {number}.")])
        for answer in range(number + 1, number + 4):
            memory.store.memories.add([make_memory(answer, f"Answer {answer}. " + "word " * 20)])
            memory.store.links.add(make_link(number, "resolved-by", answer))
    query = read_prompt("kestrel fails on arm", SCOPE, memories=most, tokens=tokens, held=frozenset())
    assert query is not None
    found = inject(memory.store, query, START)
    assert found is not None
    assert len(found.memories) <= most
    assert found.tokens <= tokens


def test_placeholders_count_as_long_as_they_are(memory: Recollect) -> None:
    """What hides a short secret is longer than the secret, and stays within the tokens all the same."""
    memory.store.memories.add([make_memory(300 + number, f"Kestrel {number}", sensitive=True) for number in range(5)])
    query = read_prompt("kestrel", SCOPE, memories=5, tokens=140, held=frozenset())
    assert query is not None
    found = inject(memory.store, query, START)
    assert found is not None
    assert found.tokens <= 140


def test_of_a_very_long_prompt_the_ends_are_asked() -> None:
    """What a prompt is about stands before or after what was pasted into it."""
    asked = ask_of("first " + "x" * 50_000 + " last")
    assert asked.startswith("first")
    assert asked.endswith("last")
    assert len(asked) < 3000
