"""From a prompt to what the agent is given with it: a few whole memories that speak to it, or nothing.

The recall is the same as any other. What is different is that nobody asked: so nothing is given unless one memory has
enough evidence (`core/relevance.py`), what has far less is left out, and so is what the session has in sight already.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from recollect.core.analysis import analyse_query
from recollect.core.hits import Ref
from recollect.core.injection import frame_tokens, word_memories
from recollect.core.pack import count_tokens
from recollect.core.query import Query, Scope
from recollect.core.relevance import PART, weigh
from recollect.service.recall import Recall, Recalled, recall
from recollect.values import value

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from recollect.core.memory import Memory
    from recollect.core.ports import Store

_LONG: Final = 1000
"""Characters from either end of a long prompt that are asked for: what it is about stands before or after what was
pasted."""
# Compiled when there is something to take out, which a prompt seldom has.
_TAGGED: Final = r"(?s)<(system-reminder|recalled-memory|(?:local-)?command-[a-z]+)\b.*?</\1>"


@value
class Injection:
    text: str
    memories: tuple[Memory, ...]
    tokens: int


def inject(store: Store, query: Query, now: datetime) -> Injection | None:
    """Give what an agent should know with a prompt, if there is anything."""
    answer = recall(store, query)
    floor = store.settings.read(query.scope.spaces[0]).number("prompt.floor")
    memories = tuple(memory for result in choose(answer, floor) for memory in (result.memory, *result.answers))
    if not memories:
        return None
    text = word_memories(memories, now)
    return Injection(text, memories, count_tokens(text))


def choose(answer: Recall, floor: float = 1.0) -> tuple[Recalled, ...]:
    """Give those of the results that are worth bringing up unasked: all with enough of evidence, or none."""
    terms = len(analyse_query(answer.query.text).terms)
    by_meaning = any(leg.leg == "dense" and leg.failure is None for leg in answer.trace.answers)
    evidence = _evidence(answer)

    def weight(result: Recalled) -> float:
        # What took the place of an older memory was found by that one's words.
        refs = (Ref(result.memory.space, result.memory.id), *result.instead_of)
        return max(weigh(evidence.get(ref, {}), terms, by_meaning=by_meaning) for ref in refs)

    weights = [weight(result) for result in answer.results]
    if not weights or max(weights) < floor:
        return ()
    return tuple(result for result, weight in zip(answer.results, weights, strict=True) if weight >= floor * PART)


def read_prompt(prompt: str, scope: Scope, *, memories: int, tokens: int, held: frozenset[str]) -> Query | None:
    """Give what to recall for a prompt; nothing where it has no telling word."""
    asked = ask_of(prompt)
    if not analyse_query(asked).terms:
        return None
    room = max(1, tokens - frame_tokens(memories))
    return Query(asked, scope, limit=memories, budget=room, exclude=held)


def ask_of(prompt: str) -> str:
    """Give what is asked for in a prompt: not what a client put into it, and of a very long one the ends."""
    asked = (re.sub(_TAGGED, " ", prompt) if "<" in prompt else prompt).strip()
    if asked.startswith("/"):
        # A command of the client, of which only what follows it is the user's own.
        asked = asked.partition(" ")[2]
    return asked if len(asked) <= 2 * _LONG else f"{asked[:_LONG]}\n{asked[-_LONG:]}"


def _evidence(answer: Recall) -> Mapping[Ref, Mapping[str, float]]:
    evidence: dict[Ref, dict[str, float]] = {}
    for leg in answer.trace.answers:
        for hit in leg.hits:
            evidence.setdefault(hit.ref, {})[leg.leg] = hit.evidence
    return evidence
