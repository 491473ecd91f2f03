"""Recalls in, what may be seen of them out: a sensitive memory leaves only its placeholder."""

from dataclasses import asdict
from datetime import datetime
from typing import Any

from recollect.core.hits import Ref
from recollect.core.memory import Memory
from recollect.core.record import to_record
from recollect.core.sensitivity import may_leave
from recollect.core.trace import WhyNot, explain
from recollect.service.recall import Recall, Recalled
from recollect.service.recollect import Recollect


def show_recall(recollect: Recollect, answer: Recall, *, explained: bool) -> dict[str, Any]:
    reasons = list(answer.left_out.values())
    shown: dict[str, Any] = {
        "results": [
            _show_result(recollect, answer, rank, item, explained=explained)
            for rank, item in enumerate(answer.results, 1)
        ],
        "notices": list(answer.notices),
        "left_out": {why: reasons.count(why) for why in dict.fromkeys(reasons)},
        "tokens": answer.tokens,
    }
    if explained:
        shown["stages"] = [
            {"stage": stage.name, "on": stage.on, "milliseconds": round(stage.milliseconds, 3)}
            for stage in answer.trace.stages
        ]
        shown["left_out_ids"] = [{"id": ref.id, "space": ref.space, "why": why} for ref, why in answer.left_out.items()]
    return shown


def show_why_not(memory: Memory, why: WhyNot) -> dict[str, Any]:
    # How many of the query's words a sensitive memory holds is a way to guess them.
    reason = "No leg brought it." if why.stage == "legs" and not may_leave(memory) else why.reason
    return {"id": memory.id, "found": why.found, "stage": why.stage, "reason": reason, "rank": why.rank}


def _show_result(recollect: Recollect, answer: Recall, rank: int, item: Recalled, *, explained: bool) -> dict[str, Any]:
    as_of = answer.query.scope.as_of
    shown = to_record(recollect.redact(item.memory, as_of))
    shown["rank"] = rank
    shown["score"] = item.score
    shown["instead_of"] = [ref.id for ref in item.instead_of]
    shown["answers"] = [to_record(recollect.redact(memory, as_of)) for memory in item.answers]
    shown["pointers"] = [_show_pointer(recollect, how, memory, as_of) for how, memory in item.pointers]
    if explained:
        refs = (Ref(item.memory.space, item.memory.id), *item.instead_of)
        shown["explain"] = [_explain(recollect, answer, ref) for ref in refs]
    return shown


def _show_pointer(recollect: Recollect, how: str, memory: Memory, as_of: datetime | None) -> dict[str, Any]:
    seen = recollect.redact(memory, as_of)
    heading = None if seen.sensitive else seen.heading
    return {"how": how, "id": memory.id, "space": memory.space, "heading": heading}


def _explain(recollect: Recollect, answer: Recall, ref: Ref) -> dict[str, Any]:
    as_of = answer.query.scope.as_of
    memory = recollect.store.memories.get([ref], as_of).get(ref)
    hidden = memory is None or recollect.redact(memory, as_of).sensitive
    evidence = {} if hidden or memory is None else recollect.evidence(answer, memory)
    told = recollect.hide_ways(answer, ref)
    return {
        "id": ref.id,
        "space": ref.space,
        # The stage of the legs has no ranking of its own: each leg has.
        "steps": [asdict(step) for step in explain(told.trace, ref) if step.stage != "legs"],
        "evidence": {
            leg: {"summary": each.summary, "parts": [{"term": term, "adds": adds} for term, adds in each.parts]}
            for leg, each in evidence.items()
        },
        "ways": [
            {
                "id": came.source.id,
                "space": came.source.space,
                "heading": came.source.heading,
                "kind": way.kind,
                "name": way.name,
                "amount": way.amount,
            }
            for came in recollect.ways(told, ref)
            for way in came.ways
        ],
    }
