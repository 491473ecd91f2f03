"""Export and import: one JSON object a line, nothing lost, safe to repeat.

The first line says what the file is. Then every memory with all its states, oldest first, and every link.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from recollect.core.errors import NotFound, RecollectError, Refused
from recollect.core.hits import Ref
from recollect.core.memory import Link, Memory, check, check_label, is_id
from recollect.core.ports import Store
from recollect.core.record import from_history, parse_time, read_object, to_history, to_link_record
from recollect.service.remember import link_kind
from recollect.values import replace

FORMAT: Final = 1
_HEADER: Final = {"recollect": "export", "format": FORMAT}
_BATCH: Final = 200
"""Memories in one transaction: enough that the disk's syncs do not dominate."""
_ANY_LENGTH: Final = 1_000_000
"""An import takes what was once accepted, whatever the limit is now."""


@dataclass(slots=True)
class Imported:
    """What an import did, or would do."""

    added: int = 0
    updated: int = 0
    unchanged: int = 0
    links: int = 0
    problems: list[str] = field(default_factory=list)
    """What was not taken in, by line, and why."""


def export_lines(
    store: Store, spaces: Sequence[str] = (), carry: Callable[[Ref], None] = lambda _: None
) -> Iterator[str]:
    """Give everything, or all of some spaces; `carry` hears of each memory before its line is given."""
    yield _dump(_HEADER)
    carried: dict[Ref, None] = {}
    for ref in store.memories.walk(spaces):
        # Others go on writing: what was purged meanwhile is not carried, nor a link to what came later.
        if history := store.memories.history(ref):
            carried[ref] = None
            carry(ref)
            yield _dump({"type": "memory", **to_history(history)})
    for ref in carried:
        for link in store.links.all_of(ref):
            if Ref(link.space, link.target) in carried:
                yield _dump({"type": "link", **to_link_record(link)})


def import_lines(
    store: Store,
    lines: Iterable[str],
    *,
    into: str | None = None,
    dry_run: bool = False,
    progress: Callable[[int], None] = lambda _: None,
) -> Imported:
    """Take in an export. What cannot be taken in is reported, and the rest is.

    Records go to the spaces that they name, or all `into` one.
    """
    outcome = Imported()
    waiting: list[tuple[int, list[Memory]]] = []
    links: list[tuple[int, Link]] = []
    coming: set[Ref] = set()
    rest = iter(lines)
    header = next(rest, "")
    _check_header(header)
    progress(len(header))
    for number, line in enumerate(rest, start=2):
        progress(len(line))
        try:
            record = read_object(line) if line.strip() else {}
            if record.get("type") == "memory":
                states = _memory(record, into)
                waiting.append((number, states))
                coming.add(Ref(states[0].space, states[0].id))
            elif record.get("type") == "link":
                links.append((number, _link(record, into)))
            elif record:
                raise Refused(f"It is neither a memory nor a link but {record.get('type')!r}.")
        except RecollectError as error:
            outcome.problems.append(f"line {number}: {error}")
        if len(waiting) == _BATCH:
            _load(store, waiting, outcome, dry_run=dry_run)
            waiting = []
    _load(store, waiting, outcome, dry_run=dry_run)
    for number, link in links:
        try:
            outcome.links += add_link(store, link, coming if dry_run else None)
        except RecollectError as error:
            outcome.problems.append(f"line {number}: {error}")
    return outcome


def _load(store: Store, waiting: Sequence[tuple[int, list[Memory]]], outcome: Imported, *, dry_run: bool) -> None:
    loaded = store.memories.load([states for _, states in waiting], dry_run=dry_run)
    for (number, states), result in zip(waiting, loaded, strict=True):
        if result == "conflict":
            outcome.problems.append(
                f"line {number}: {states[0].id} is here already with another past. Purge one side, or import into "
                "a store of its own."
            )
        else:
            setattr(outcome, result, getattr(outcome, result) + 1)


def add_link(store: Store, link: Link, coming: set[Ref] | None) -> bool:
    """Add a link, or with what is coming along given, tell whether it would be added."""
    try:
        return store.links.add(link, dry_run=coming is not None)
    except NotFound:
        ends = {Ref(link.space, link.source), Ref(link.space, link.target)} - (coming or set())
        if coming is None or len(store.memories.get(ends)) < len(ends):
            raise
        return True


def _check_header(line: str) -> None:
    try:
        header = json.loads(line)
    except (ValueError, RecursionError):
        header = None
    if not isinstance(header, dict) or header.get("recollect") != "export":
        raise Refused("This is not a Recollect export: its first line does not say so.")
    if header.get("format") != FORMAT:
        raise Refused(f"This export has format {header.get('format')!r}; this Recollect reads {FORMAT}. Upgrade it.")


def _memory(record: dict[str, Any], into: str | None) -> list[Memory]:
    states = from_history(record)
    if into is not None:
        states = [replace(state, space=into) for state in states]
    for state in states:
        check(state, _ANY_LENGTH)
    return states


def _link(record: dict[str, Any], into: str | None) -> Link:
    if into is not None:
        record = {**record, "space": into}
    ends = [record.get(name) for name in ("space", "source", "kind", "target")]
    if not all(isinstance(end, str) for end in ends):
        raise Refused("The link lacks its space, source, kind or target.")
    space, source, kind, target = map(str, ends)
    check_label("space", space)
    if not (is_id(source) and is_id(target)):
        raise Refused("The link's ends are no memory's ids.")
    ended = record.get("ended_at")
    return Link(
        space,
        source,
        link_kind(kind),
        target,
        parse_time(record.get("created_at")),
        None if ended is None else parse_time(ended),
    )


def _dump(record: dict[str, Any]) -> str:
    return json.dumps(record, ensure_ascii=False, separators=(",", ":"))
