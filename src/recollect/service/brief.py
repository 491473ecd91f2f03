"""From a project to what an agent is told when a session begins: what is pinned, decided lately, and still open."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

from recollect.core.hits import Ref
from recollect.core.injection import frame_tokens, word_heading, word_memory, wrap
from recollect.core.links import newest_of
from recollect.core.memory import PINNED
from recollect.core.pack import count_tokens
from recollect.core.query import Query, Scope
from recollect.service.inject import Injection
from recollect.service.nearest import find_by_words
from recollect.service.recall import find_linked
from recollect.values import replace

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recollect.core.memory import Link, Memory
    from recollect.core.ports import Store

DECISIONS: Final = "decisions"
QUESTIONS: Final = "questions"
"""The category of what is not settled; one that is resolved by another memory no longer is."""
TOKENS: Final = 600
_LATELY: Final = timedelta(days=30)
_MOST_EACH: Final = 5
_LOOKED_THROUGH: Final = 200
_SECONDS: Final = 0.5


def brief(store: Store, scope: Scope, held: frozenset[str], now: datetime) -> Injection | None:
    """Give the briefing, but for what the session has in sight already."""
    pinned, decisions, questions = _pinned(store, scope), _of(store, scope, DECISIONS), _of(store, scope, QUESTIONS)
    links, present = find_linked(store, scope, {_ref(each): each for each in (*pinned, *decisions, *questions)})
    newest = newest_of(links, present)
    decided = [each for each in _newest(decisions, newest, present) if now - each.updated_at <= _LATELY]
    settled = {Ref(link.space, link.source) for link in links if _resolves(link, present)} | newest.keys()
    open_ = [memory for memory in questions if _ref(memory) not in settled]
    parts: list[str] = []
    told: list[Memory] = []
    room = TOKENS - frame_tokens(0)
    for title, memories, whole in (
        ("Pinned:", _newest(pinned, newest, present), True),
        ("Decided lately (by heading; memory_get reads one):", decided, False),
        ("Open questions (by heading):", open_, False),
    ):
        lines: list[str] = []
        for memory in memories:
            if memory.id in held or memory in told or len(lines) == _MOST_EACH:
                continue
            line = word_memory(memory, now) if whole else word_heading(memory, now)
            cost = count_tokens(line) + 2
            if cost <= room:
                room -= cost
                lines.append(line)
                # Of what is shown by its heading, the rest may still be given with a prompt.
                told += [memory] * whole
        if lines:
            parts.append("\n".join((title, *lines)))
    if not parts:
        return None
    text = wrap(parts)
    return Injection(text, tuple(told), count_tokens(text))


def _pinned(store: Store, scope: Scope) -> list[Memory]:
    """Find by the words index, which holds tags too, instead of reading every memory."""
    found = find_by_words(store, Query(PINNED, scope), _LOOKED_THROUGH, _SECONDS)
    tagged = [memory for memory in found if PINNED in memory.tags and scope.admits(memory)]
    return sorted(tagged, key=lambda memory: (-memory.importance, memory.created_at))


def _of(store: Store, scope: Scope, category: str) -> list[Memory]:
    return store.memories.page(replace(scope, categories=frozenset({category})), _LOOKED_THROUGH)


def _newest(memories: Sequence[Memory], newest: Mapping[Ref, Ref], present: Mapping[Ref, Memory]) -> list[Memory]:
    """Tell in place of what was superseded what supersedes it, as a recall does: it need not be tagged again."""
    told = dict.fromkeys(newest.get(ref, ref) for ref in map(_ref, memories))
    return [present[ref] for ref in told]


def _resolves(link: Link, present: Mapping[Ref, Memory]) -> bool:
    return link.kind == "resolved-by" and Ref(link.space, link.target) in present


def _ref(memory: Memory) -> Ref:
    return Ref(memory.space, memory.id)
