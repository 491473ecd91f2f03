"""Answers as JSON: the stable form that docs/json.md describes."""

import json
import sys
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any, Final

from recollect.cli.weigh import Weighed
from recollect.cli.words import heading
from recollect.core.hits import Ref
from recollect.core.memory import Memory, Revision
from recollect.core.ports import Concept
from recollect.core.record import format_time, to_record
from recollect.core.trace import Trace, explain
from recollect.service.graph import Graph
from recollect.service.recall import Recall, Recalled

# JSON leaves these as they are, and a terminal takes some of them for the start of a control sequence.
_CONTROLS: Final = {code: f"\\u{code:04x}" for code in range(0x7F, 0xA0)}


def write_json(value: object) -> None:
    write_utf8(escape(json.dumps(value, ensure_ascii=False, indent=2)))


def write_utf8(line: str) -> None:
    """Write a line of JSON, which is UTF-8 whatever the terminal is set to."""
    sys.stdout.buffer.write(line.encode("utf-8", "backslashreplace") + b"\n")


def escape(line: str) -> str:
    """Give the same JSON with nothing in it that a terminal would obey."""
    return line.translate(_CONTROLS)


def from_recall(answer: Recall, weighed: Mapping[Ref, Weighed] | None = None) -> dict[str, Any]:
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
    """Give one line about a memory that was not asked for itself."""
    return {"how": how, **_named(memory)}


def from_graph(graph: Graph, limit: int) -> dict[str, Any]:
    return {
        **_named(graph.memory),
        "branches": [
            {
                "ties": [{"kind": tie.kind, "name": tie.name} for tie in branch.ties],
                "shared_by": len(branch.others),
                "memories": [_named(other) for other in branch.others[:limit]],
            }
            for branch in graph.branches
        ],
        "further": graph.further,
    }


def from_concept(concept: Concept, memories: Mapping[Ref, Memory], total: int) -> dict[str, Any]:
    """Give a concept as data, with those given of all the memories that mention it."""
    return {
        "name": concept.name,
        "aliases": list(concept.aliases),
        "relations": [
            {
                "source": said.source,
                "relation": said.relation,
                "target": said.target,
                "since": format_time(said.since),
                "until": None if said.until is None else format_time(said.until),
                "evidence": [ref.id for ref in said.evidence],
            }
            for said in concept.relations
        ],
        "mentioned_by": total,
        "memories": [
            {**_named(memory), "kinds": [kind for each, kind in concept.mentions if each == ref]}
            for ref, memory in memories.items()
        ],
    }


def _from_recalled(
    rank: int, result: Recalled, answer: Recall, weighed: Mapping[Ref, Weighed] | None
) -> dict[str, Any]:
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
        data["explain"] = [_explained(answer.trace, ref, weighed[ref]) for ref in refs]
    return data


def _explained(trace: Trace, ref: Ref, weighed: Weighed) -> dict[str, Any]:
    return {
        "id": ref.id,
        # The stage of the legs has no ranking of its own: each leg has.
        "steps": [asdict(step) for step in explain(trace, ref) if step.stage != "legs"],
        "evidence": {
            leg: {"summary": each.summary, "parts": [{"term": term, "adds": adds} for term, adds in each.parts]}
            for leg, each in weighed.evidence.items()
        },
        "ways": [
            {**_named(came.source), "kind": way.kind, "name": way.name, "amount": way.amount}
            for came in weighed.came
            for way in came.ways
        ],
    }


def _named(memory: Memory) -> dict[str, Any]:
    """Give which memory; of a sensitive one, no text."""
    return {"id": memory.id, "heading": None if memory.sensitive else heading(memory)}
