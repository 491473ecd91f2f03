"""Memories in, what an agent may see of them out: the only place where a memory turns into a result.

An agent's context goes to a hosted model, so every memory passes `_see` on its way out and a sensitive one
leaves only its placeholder.
"""

from datetime import datetime
from typing import Final, cast

from recollect.core.age import word_age
from recollect.core.hits import Ref
from recollect.core.links import read_link
from recollect.core.memory import Memory
from recollect.core.record import format_time
from recollect.core.sensitivity import may_leave
from recollect.core.telling import describe_ways
from recollect.core.trace import Step, WhyNot, explain, is_hit
from recollect.mcp.results import (
    DeleteResult,
    GetResult,
    KeptResult,
    ListedMemory,
    Pointer,
    RecalledMemory,
    RecallResult,
    ShownMemory,
    WhyNotResult,
)
from recollect.service.recall import Recall, Recalled
from recollect.service.recollect import Recollect

ORDINARY_IMPORTANCE: Final = 0.5
LONGEST_HEADING: Final = 160
"""Room for a placeholder."""


class Showing:
    def __init__(self, recollect: Recollect) -> None:
        self._recollect = recollect

    def recall(self, answer: Recall, *, explained: bool) -> RecallResult:
        shown: RecallResult = {"memories": [self._recalled(answer, item, explained) for item in answer.results]}
        if answer.left_out:
            reasons = list(answer.left_out.values())
            shown["left_out"] = {why: reasons.count(why) for why in dict.fromkeys(reasons)}
        if answer.notices:
            shown["notices"] = list(answer.notices)
        return shown

    def get(self, memory: Memory) -> GetResult:
        seen = self._see(memory)
        shown = cast("GetResult", {**self._memory(memory), "version": seen.version})
        if seen.updated_at != seen.created_at:
            shown["updated"] = format_time(seen.updated_at)
        if seen.deleted_at is not None:
            shown["forgotten"] = format_time(seen.deleted_at)
        if seen.keywords:
            shown["keywords"] = list(seen.keywords)
        if seen.session is not None:
            shown["session"] = seen.session
        if seen.place is not None:
            shown["place"] = seen.place
        if links := self._links(memory):
            shown["links"] = links
        return shown

    def kept(self, memory: Memory) -> KeptResult:
        seen = self._see(memory)
        shown: KeptResult = {
            "id": seen.id,
            "version": seen.version,
            "heading": self._heading(memory),
            "category": seen.category,
        }
        if seen.project is not None:
            shown["project"] = seen.project
        if seen.sensitive:
            shown["sensitive"] = True
        return shown

    def deleted(self, memory: Memory, undo: str) -> DeleteResult:
        return {"id": memory.id, "heading": self._heading(memory), "undo": undo.format(id=memory.short_id)}

    def listed(self, memory: Memory) -> ListedMemory:
        seen = self._see(memory)
        shown: ListedMemory = {
            "id": seen.id,
            "heading": self._heading(memory),
            "category": seen.category,
            "created": f"{seen.created_at:%Y-%m-%d}",
        }
        if seen.project is not None:
            shown["project"] = seen.project
        return shown

    def why_not(self, memory: Memory, why: WhyNot) -> WhyNotResult:
        # How many of the query's words a sensitive memory holds is a way to guess them.
        reason = "No leg brought it." if why.stage == "legs" and not may_leave(memory) else why.reason
        shown: WhyNotResult = {"id": memory.id, "found": why.found, "stage": why.stage, "reason": reason}
        if why.rank is not None:
            shown["rank"] = why.rank
        return shown

    def _see(self, memory: Memory, as_of: datetime | None = None) -> Memory:
        return self._recollect.redact(memory, as_of)

    def _heading(self, memory: Memory, as_of: datetime | None = None) -> str:
        heading = self._see(memory, as_of).heading
        return heading if len(heading) <= LONGEST_HEADING else heading[: LONGEST_HEADING - 1] + "…"

    def _memory(self, memory: Memory, as_of: datetime | None = None) -> ShownMemory:
        seen = self._see(memory, as_of)
        shown: ShownMemory = {
            "id": seen.id,
            "content": seen.content,
            "category": seen.category,
            "created": f"{seen.created_at:%Y-%m-%d}",
            "age": word_age(seen.created_at, self._recollect.clock()),
        }
        if seen.tags:
            shown["tags"] = list(seen.tags)
        if seen.importance != ORDINARY_IMPORTANCE:
            shown["importance"] = seen.importance
        if seen.project is not None:
            shown["project"] = seen.project
        if seen.sensitive:
            shown["sensitive"] = True
        return shown

    def _recalled(self, answer: Recall, item: Recalled, explained: bool) -> RecalledMemory:
        as_of = answer.query.scope.as_of
        shown = cast("RecalledMemory", {**self._memory(item.memory, as_of), "score": round(item.score, 3)})
        if item.instead_of:
            shown["instead_of"] = [ref.id for ref in item.instead_of]
        if item.answers:
            shown["answers"] = [self._memory(memory, as_of) for memory in item.answers]
        if item.pointers:
            shown["pointers"] = [
                {"how": how, "id": memory.id, "heading": self._heading(memory, as_of)} for how, memory in item.pointers
            ]
        if explained:
            shown["explanation"] = self._explanation(answer, item)
        return shown

    def _explanation(self, answer: Recall, item: Recalled) -> list[str]:
        """Give its way through the stages in a line, the ways of those it stands in for, and the words that matched."""
        own = Ref(item.memory.space, item.memory.id)
        lines = [_way(explain(answer.trace, own))]
        lines += [f"{ref.id[-8:]}: {_way(explain(answer.trace, ref))}" for ref in item.instead_of]
        if self._see(item.memory, answer.query.scope.as_of).sensitive:
            return lines
        lines += self._spread(answer, own)
        for leg, evidence in self._recollect.evidence(answer, item.memory).items():
            matched = ", ".join(f"{term} {points:.2f}" for term, points in evidence.parts)
            lines.append(f"{leg}: {evidence.summary}" + f" ({matched})" * bool(matched))
        return lines

    def _spread(self, answer: Recall, ref: Ref) -> list[str]:
        """Say from which memories score came to one, and by what they share."""
        words = [
            f"by {describe_ways(came.ways)} from {came.source.short_id} ({self._heading(came.source)})"
            for came in self._recollect.ways(self._recollect.hide_ways(answer, ref), ref)
        ]
        if not words:
            return []
        return [f"spread: {'' if is_hit(answer.trace, ref) else 'found by no leg; '}came {', '.join(words)}"]

    def _links(self, memory: Memory) -> list[Pointer]:
        pointers: list[Pointer] = []
        for link in self._recollect.links([memory]):
            if memory.id not in {link.source, link.target}:
                continue
            outgoing = link.source == memory.id
            other = self._recollect.get(link.target if outgoing else link.source)
            if other.deleted_at is None:
                how = read_link(link.kind, outgoing=outgoing)
                pointers.append({"how": how, "id": other.id, "heading": self._heading(other)})
        return pointers


def _way(steps: tuple[Step, ...]) -> str:
    return " > ".join(
        f"{step.stage} #{step.rank} {step.score:.3f}"
        for step in steps
        if step.rank is not None and step.score is not None and step.note != "off"
    )
