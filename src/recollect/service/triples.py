"""Triples that somebody else read out of memories are taken in: one JSON object a line, safe to repeat.

A line names the memory by its id and says what that states: {"memory": …, "subject": …, "relation": …, "object": …}.
What was taken in of a memory before, under the same name, gives way to what comes now.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from recollect.core.concepts import Extraction, Relation, one_line
from recollect.core.errors import Refused
from recollect.core.hits import Ref
from recollect.core.memory import check_label, is_id
from recollect.core.ports import Store
from recollect.core.record import read_object
from recollect.core.sensitivity import may_leave
from recollect.service.resolve import Resolver

NAME: Final = "import"
"""Whose triples these are, if nobody says."""
_TAKEN: Final = ("rules ", "llm ")
_BATCH: Final = 200
"""Memories in one transaction: enough that the disk's syncs do not dominate."""


@dataclass(slots=True)
class Imported:
    """What an import of triples did."""

    memories: int = 0
    triples: int = 0
    problems: list[str] = field(default_factory=list)
    """What was not taken in, by line, and why."""


def import_triples(store: Store, space: str, lines: Iterable[str], *, name: str = NAME) -> Imported:
    """Take in triples of a space's memories, in the name of whoever made them. What cannot be is reported."""
    check_label("name", name)
    if name.startswith(_TAKEN):
        raise Refused(f"{name!r} is the name of an extractor of Recollect's own: give the triples another.")
    outcome = Imported()
    found: dict[Ref, list[tuple[int, Relation]]] = {}
    for number, line in enumerate(lines, start=1):
        if line.strip():
            try:
                memory, relation = _parse(line)
                found.setdefault(Ref(space, memory), []).append((number, relation))
            except Refused as error:
                outcome.problems.append(f"line {number}: {error}")
    resolver = Resolver(store.concepts, space)
    refs = list(found)
    for start in range(0, len(refs), _BATCH):
        _load(store, name, {ref: found[ref] for ref in refs[start : start + _BATCH]}, resolver, outcome)
    return outcome


def _load(
    store: Store, name: str, found: dict[Ref, list[tuple[int, Relation]]], resolver: Resolver, outcome: Imported
) -> None:
    here = store.memories.get(found)
    read: dict[Ref, Extraction] = {}
    for ref, stated in found.items():
        memory = here.get(ref)
        if memory is not None and memory.deleted_at is None and may_leave(memory):
            read[ref] = resolver.resolve(Extraction((), tuple(relation for _, relation in stated)))
            outcome.triples += len(stated)
        else:
            # A sensitive memory is not told from one that is not there: nothing is read in either.
            outcome.problems.append(f"line {stated[0][0]}: There is no memory {ref.id} that may be read.")
    outcome.memories += store.concepts.load(name, read)


def _parse(line: str) -> tuple[str, Relation]:
    record = read_object(line)
    parts = [record.get(part) for part in ("memory", "subject", "relation", "object")]
    if not all(isinstance(part, str) for part in parts):
        raise Refused("It lacks its memory, subject, relation or object, or one is no text.")
    memory, *said = map(str, parts)
    if not is_id(memory):
        raise Refused(f"{memory!r:.60} is no memory's id: give it in full.")
    subject, relation, object_ = map(one_line, said)
    for label, part in (("subject", subject), ("relation", relation), ("object", object_)):
        check_label(label, part)
    return memory, Relation(subject, relation, object_)
