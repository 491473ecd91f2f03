"""From a prompt to what the agent is given with it: a few whole memories that speak to it, or nothing.

The recall is the same as any other. What is different is that nobody asked: so nothing is given unless one memory has
enough evidence (`core/relevance.py`), what has far less is left out, and so is what the session has in sight already.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from recollect.core.analysis import analyse, analyse_query
from recollect.core.hits import Ref
from recollect.core.injection import frame_tokens, word_memories
from recollect.core.pack import count_tokens
from recollect.core.query import Query, Scope
from recollect.core.relevance import stand, weigh
from recollect.service.recall import Recall, recall
from recollect.values import value

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from recollect.core.memory import Memory
    from recollect.core.ports import Store
    from recollect.core.settings import Value

HURRIED: Final[Mapping[str, Value]] = {"depth": 30, "spread": 0.0, "rerank": 0}
"""The settings of a recall that has no time: what spread brings seldom stands above the floor, and five memories come
from the best thirty as well as from the best hundred (decision 15)."""
_LONG: Final = 1000
"""Characters from either end of a long prompt that are asked for: what it is about stands before or after what was
pasted."""
_FEWEST_LETTERS: Final = 5
"""Of all telling words of a prompt together: "go on", "run it" and "fix" are about what is at hand."""
_TAG: Final = r"<(system-reminder|recalled-memory|(?:local-)?command-[a-z]+)\b"


@value
class Injection:
    text: str
    memories: tuple[Memory, ...]
    tokens: int


def inject(store: Store, query: Query, now: datetime) -> Injection | None:
    """Give what an agent should know with a prompt, if there is anything."""
    answer = recall(store, query)
    floor = store.settings.read(query.scope.spaces[0]).number("prompt.floor")
    standing = stand(weigh_results(store, answer), floor)
    chosen = [result for result, stands in zip(answer.results, standing, strict=True) if stands]
    memories = _fit([memory for result in chosen for memory in (result.memory, *result.answers)], query, now)
    if not memories:
        return None
    text = word_memories(memories, now)
    return Injection(text, memories, count_tokens(text))


def _fit(memories: Sequence[Memory], query: Query, now: datetime) -> tuple[Memory, ...]:
    """Hold to the number and the tokens that a prompt may be given.

    A recall's answers come beyond its limit, each with a head of its own here, and a placeholder may be longer than
    what it hides.
    """
    fitting = tuple(memories[: query.limit])
    if query.budget is not None:
        room = query.budget + frame_tokens(query.limit or len(memories))
        while fitting and count_tokens(word_memories(fitting, now)) > room:
            fitting = fitting[:-1]
    return fitting


def weigh_results(store: Store, answer: Recall) -> list[float]:
    """Say how much speaks for each result. One that took an older memory's place was found by that one's words."""
    asked = frozenset(analyse_query(answer.query.text).terms)
    meaning = next((leg for leg in answer.trace.answers if leg.leg == "dense" and leg.failure is None), None)
    cosines = {hit.ref: hit.evidence for hit in meaning.hits} if meaning else {}
    older = store.memories.get([ref for result in answer.results for ref in result.instead_of])

    def weigh_one(ref: Ref, memory: Memory) -> float:
        return weigh(len(asked & _words_of(memory)), len(asked), cosines.get(ref, 0.0) if meaning else None)

    return [
        max(
            weigh_one(Ref(result.memory.space, result.memory.id), result.memory),
            *(weigh_one(ref, older[ref]) for ref in result.instead_of if ref in older),
            0.0,
        )
        for result in answer.results
    ]


def read_prompt(prompt: str, scope: Scope, *, memories: int, tokens: int, held: frozenset[str]) -> Query | None:
    """Give what to recall for a prompt; nothing where it has no telling word."""
    asked = ask_of(prompt)
    if sum(map(len, analyse_query(asked).terms)) < _FEWEST_LETTERS:
        return None
    room = max(1, tokens - frame_tokens(memories))
    return Query(asked, scope, limit=memories, budget=room, exclude=held)


def ask_of(prompt: str) -> str:
    """Give what is asked for in a prompt: not what a client put into it, and of a very long one the ends."""
    if "<" in prompt:
        # Only where there may be something to take out, which a prompt seldom has.
        from recollect.core.tags import cut_tagged

        prompt = cut_tagged(_TAG, prompt, " ")
    asked = prompt.strip()
    if asked.startswith("/"):
        # A command of the client, of which only what follows it is the user's own.
        asked = asked.partition(" ")[2]
    return asked if len(asked) <= 2 * _LONG else f"{asked[:_LONG]}\n{asked[-_LONG:]}"


def _words_of(memory: Memory) -> set[str]:
    return set(analyse("\n".join((memory.content, *memory.tags, *memory.keywords))))
