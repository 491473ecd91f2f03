"""A language model against a server on this machine, and memories for it to read."""

import json
from collections.abc import Callable, Sequence
from typing import Any

from making import make_memory
from provider_server import Provider, Scripted, chat, read_note
from recollect.core.memory import Memory
from recollect.core.ports import Store
from recollect.extractors.llm import LlmExtractor
from recollect.extractors.naming import parse_llm
from recollect.remote.http import Key, Pace

PLENTY = 1_000_000_000


def never_wait() -> Pace:
    """Give time that passes only by waiting, and so at once."""
    now = [0.0]

    def sleep(seconds: float) -> None:
        now[0] += seconds

    return Pace(clock=lambda: now[0], sleep=sleep, chance=lambda: 1.0, date=lambda: now[0])


def open_model(provider: Provider, store: Store, pace: Pace | None = None, model: str = "m") -> LlmExtractor:
    """Open a model that has not been let ask for anything."""
    named = parse_llm(f"openai:{model}@{provider.address}/openai/v1")
    return LlmExtractor(named, Key(named.key_variable, "sk-1"), store.budgets, pace or never_wait())


def let_ask(store: Store, model: LlmExtractor, calls: int = PLENTY, tokens: int = PLENTY) -> LlmExtractor:
    store.concepts.begin(model.name)
    store.budgets.limit(model.name, calls, tokens)
    return model


def add_notes(store: Store, count: int, first: int = 1, **fields: Any) -> list[Memory]:  # noqa: ANN401
    """Keep memories that each name a person of their own, and Rome."""
    memories = [
        make_memory(number, f"Person{number} lives in Rome.", **fields) for number in range(first, first + count)
    ]
    store.memories.add(memories)
    return memories


def answer_with(*notes: object, used: int = 1) -> Scripted:
    """Give an answer that holds these notes, whatever was asked."""
    return answer_text(json.dumps({"notes": notes}), used=used)


def answer_text(content: str, **how: Any) -> Scripted:  # noqa: ANN401
    return Scripted(200, json.dumps(chat(content, **how)).encode(), {"content-type": "application/json"})


def answer_for(texts: Sequence[str], change: Callable[[dict[str, Any]], object] = lambda note: note) -> Scripted:
    """Give what the server would answer for these notes, each changed in some way."""
    return answer_with(*(change(read_note(number, text)) for number, text in enumerate(texts, start=1)))


def waiting_for(store: Store, model: LlmExtractor) -> list[str]:
    """Give the ids of what waits to be read."""
    return [each.memory.id for each in store.concepts.waiting(model.name, 1000)]


def used_by(store: Store, model: LlmExtractor) -> tuple[int, int]:
    """Give the calls and tokens that a model was granted."""
    return next((each.calls, each.tokens) for each in store.concepts.readers() if each.name == model.name)
