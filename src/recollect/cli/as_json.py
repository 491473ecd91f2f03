"""Answers as JSON: the stable form that docs/json.md describes."""

import json
import sys
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any, Final

from recollect.cli.words import heading
from recollect.core.hits import Ref
from recollect.core.memory import Memory, Revision
from recollect.core.ports import Evidence
from recollect.core.record import format_time, to_record
from recollect.core.trace import Trace, explain
from recollect.service.recall import Recall, Recalled

# JSON leaves these as they are, and a terminal takes some of them for the start of a control sequence.
_CONTROLS: Final = {code: f"\\u{code:04x}" for code in range(0x7F, 0xA0)}

Weighed = Mapping[Ref, Mapping[str, Evidence]]
"""For each memory that is explained, what each leg says about it."""


def write_json(value: object) -> None:
    write_utf8(escape(json.dumps(value, ensure_ascii=False, indent=2)))


def write_utf8(line: str) -> None:
    """Write a line of JSON, which is UTF-8 whatever the terminal is set to."""
    sys.stdout.buffer.write(line.encode("utf-8", "backslashreplace") + b"\n")


def escape(line: str) -> str:
    """Give the same JSON with nothing in it that a terminal would obey."""
    return line.translate(_CONTROLS)


def from_recall(answer: Recall, weighed: Weighed | None = None) -> dict[str, Any]:
    """Give an answer as data; with `weighed`, explained."""
    data: dict[str, Any] = {
        "query": answer.query.text,
        "results": [_from_recalled(rank, result, answer, weighed) for rank, result in enumerate(answer.results, 1)],
        "notices": list(answer.notices),
        "left_out": [{"id": ref.id, "why": why} for ref, why in answer.left_out.items()],
        "tokens": answer.tokens,
    }
    if weighed is not None:
        data["stages"] = [
            {"stage": stage.name, "on": stage.on, "milliseconds": round(stage.milliseconds, 3)}
            for stage in answer.trace.stages
        ]
    return data


def from_history(history: Iterable[Revision]) -> dict[str, Any]:
    return {
        "states": [
            {**to_record(revision.memory), "until": None if revision.until is None else format_time(revision.until)}
            for revision in history
        ]
    }


def pointer(how: str, memory: Memory) -> dict[str, Any]:
    """Give one line about a memory that was not asked for itself; of a sensitive one, no text."""
    return {"how": how, "id": memory.id, "heading": None if memory.sensitive else heading(memory)}


def _from_recalled(rank: int, result: Recalled, answer: Recall, weighed: Weighed | None) -> dict[str, Any]:
    data: dict[str, Any] = {
        "rank": rank,
        **to_record(result.memory),
        "score": result.score,
        "instead_of": [ref.id for ref in result.instead_of],
        "answers": [to_record(each) for each in result.answers],
        "pointers": [pointer(how, each) for how, each in result.pointers],
    }
    if weighed is not None:
        refs = (Ref(result.memory.space, result.memory.id), *result.instead_of)
        data["explain"] = [_explained(answer.trace, ref, weighed.get(ref, {})) for ref in refs]
    return data


def _explained(trace: Trace, ref: Ref, evidence: Mapping[str, Evidence]) -> dict[str, Any]:
    return {
        "id": ref.id,
        # The stage of the legs has no ranking of its own: each leg has.
        "steps": [asdict(step) for step in explain(trace, ref) if step.stage != "legs"],
        "evidence": {
            leg: {"summary": each.summary, "parts": [{"term": term, "adds": adds} for term, adds in each.parts]}
            for leg, each in evidence.items()
        },
    }
