"""Asks a cross-encoder about the top of a ranking, in its own time: one that fails or is late has no say."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from recollect.core.hits import Ref
from recollect.core.sensitivity import may_leave
from recollect.values import field, value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recollect.core.memory import Memory
    from recollect.core.ports import Reranker


@value
class Opinions:
    scores: dict[Ref, float] = field(default_factory=dict)
    failure: str | None = None


def ask_reranker(reranker: Reranker, query: str, memories: Sequence[Memory], seconds: float) -> Opinions:
    """Score memories against the query. A sensitive one is shown to no model, this one included."""
    shown = [memory for memory in memories if may_leave(memory)]
    scores: list[float] = []
    failure: list[str] = []

    def score() -> None:
        try:
            scores.extend(reranker.score(query, [memory.content for memory in shown]))
        except Exception as error:  # noqa: BLE001 - whatever is wrong with it, the fused order stands
            failure.append(str(error).rstrip(".") or type(error).__name__)

    thread = threading.Thread(target=score, name="rerank", daemon=True)
    thread.start()
    thread.join(seconds)
    if thread.is_alive():
        return Opinions(failure=f"it took longer than {seconds * 1000:.0f} ms")
    if failure or len(scores) != len(shown):
        return Opinions(failure=failure[0] if failure else f"it gave {len(scores)} scores for {len(shown)} memories")
    return Opinions({Ref(memory.space, memory.id): score for memory, score in zip(shown, scores, strict=True)})
