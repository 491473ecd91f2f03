"""Import from other systems: what an importer found becomes memories. It can be repeated, and keeps the user's changes.

A thing keeps its id for as long as its source knows it by the same key. If it changed there, the memory is brought up
to date, unless the user changed it here meanwhile: then it stays, and is reported. What the user forgot stays
forgotten, and what is gone from the source stays here.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final, Literal

from recollect.core.errors import RecollectError
from recollect.core.foreign import Foreign, Found, Left, Tie, derive_id
from recollect.core.hits import Ref
from recollect.core.memory import Link, LinkKind, Memory, check
from recollect.core.ports import Clock, Store
from recollect.core.split import split_text
from recollect.service.remember import EDITABLE
from recollect.service.transfer import add_link
from recollect.values import replace, value

FindSecrets = Callable[[str], Sequence[str]]
"""Gives the kinds of secrets that are in a text."""
AS_FOUND: Final = "."
"""Memories belong to the project that their source says."""
_BATCH: Final = 200
_TICK: Final = timedelta(microseconds=1)


@value
class Change:
    what: Literal["added", "updated", "removed"]
    memory: Memory


@dataclass(slots=True)
class TakenIn:
    """What an import from another system did, or would do."""

    changes: list[Change] = field(default_factory=list)
    unchanged: int = 0
    links: int = 0
    sensitive: list[str] = field(default_factory=list)
    """What a secret was found in, and of which kind: it was taken in as sensitive."""
    skipped: list[str] = field(default_factory=list)
    """What was left on purpose, and why."""
    problems: list[str] = field(default_factory=list)
    """What could not be taken in, and why."""

    def count(self, what: str) -> int:
        return sum(change.what == what for change in self.changes)


def take_in(
    store: Store,
    clock: Clock,
    space: str,
    source: str,
    found: Iterable[Found],
    *,
    project: str | None = AS_FOUND,
    find_secrets: FindSecrets = lambda _: (),
    dry_run: bool = False,
) -> TakenIn:
    """Make memories of what was found in a source. `project` puts all of them into one, or with `None` into none."""
    limit = store.settings.read(space).whole("length-limit")
    doing = _Import(store, clock(), space, source, project, find_secrets, dry_run, limit)
    for each in found:
        doing.take(each)
    doing.finish()
    return doing.outcome


@dataclass(slots=True)
class _Import:
    store: Store
    now: datetime
    space: str
    source: str
    project: str | None
    find_secrets: FindSecrets
    dry_run: bool
    limit: int
    outcome: TakenIn = field(default_factory=TakenIn)
    seen: dict[str, Foreign] = field(default_factory=dict)
    waiting: list[tuple[Foreign, list[Memory]]] = field(default_factory=list)
    made: dict[str, datetime] = field(default_factory=dict)
    """When each memory that is there, or is coming, was made."""
    parts: list[tuple[str, str, str]] = field(default_factory=list)
    """Where a part stood, its id, and that of the first part."""
    ties: list[Tie] = field(default_factory=list)

    def take(self, found: Found) -> None:
        if isinstance(found, Tie):
            self.ties.append(found)
        elif isinstance(found, Left):
            (self.outcome.problems if found.wrong else self.outcome.skipped).append(f"{found.where}: {found.why}")
        elif found.key in self.seen:
            if found.content != self.seen[found.key].content:
                self._complain(found.where, f"It has the same name as {self.seen[found.key].where}, which was taken.")
        elif found.needs_project and self.project == AS_FOUND:
            self._complain(found.where, "Its project is not known here: say --project NAME, or --general.")
        else:
            self.seen[found.key] = found
            self._lay_out(found)
            if len(self.waiting) == _BATCH:
                self._load()

    def finish(self) -> None:
        self._load()
        for where, part, whole in self.parts:
            self._add_link(where, part, "part-of", whole)
        for tie in {(tie.source, tie.kind, tie.target): tie for tie in self.ties}.values():
            self._link(tie)

    def _lay_out(self, found: Foreign) -> None:
        """Make the memories that a thing becomes: one, or several where it is too long for one."""
        kinds = self.find_secrets("\n".join((found.content, *found.tags, *found.keywords)))
        updated = min(found.updated_at or found.created_at or self.now, self.now)
        whole = Memory(
            id=derive_id(self.source, found.key),
            space=self.space,
            content=found.content,
            created_at=min(found.created_at or updated, updated),
            updated_at=updated,
            category=found.category,
            tags=found.tags,
            keywords=found.keywords,
            importance=found.importance,
            project=found.project if self.project == AS_FOUND else self.project,
            session=found.session,
            sensitive=found.sensitive or bool(kinds),
            action="imported",
        )
        texts = split_text(found.content, self.limit) if found.content.strip() else [found.content]
        parts = [
            replace(whole, id=derive_id(self.source, found.key, number), content=text)
            for number, text in enumerate(texts)
        ]
        try:
            for part in parts:
                check(part, self.limit)
        except RecollectError as error:
            self._complain(found.where, str(error))
            return
        if kinds:
            self.outcome.sensitive.append(f"{found.where}: {', '.join(kinds)}")
        self.parts += [(found.where, part.id, whole.id) for part in parts[1:]]
        self.waiting.append((found, parts))

    def _load(self) -> None:
        """Write what is new or changed, a batch in one transaction."""
        refs = {Ref(self.space, part.id) for _, parts in self.waiting for part in parts}
        refs |= {Ref(self.space, derive_id(self.source, found.key, len(parts))) for found, parts in self.waiting}
        present = self.store.memories.get(refs)
        changes: list[tuple[Foreign, Change, list[Memory]]] = []
        for found, parts in self.waiting:
            for part in parts:
                self.made[part.id] = part.created_at
                changes += self._compare(found, part, present)
            changes += self._remove_rest(found, len(parts), present)
        self.waiting = []
        loaded = self.store.memories.load([states for _, _, states in changes], dry_run=self.dry_run)
        for (found, change, _), result in zip(changes, loaded, strict=True):
            if result == "conflict":
                self._complain(found.where, "It was changed here at this very moment: import again.")
            else:
                self.outcome.changes.append(change)

    def _compare(
        self, found: Foreign, part: Memory, present: dict[Ref, Memory]
    ) -> Iterator[tuple[Foreign, Change, list[Memory]]]:
        """Tell what a memory that comes changes about the one that is here."""
        ref = Ref(self.space, part.id)
        if ref not in present:
            yield found, Change("added", part), [part]
            return
        history = [revision.memory for revision in self.store.memories.history(ref)]
        now = history[-1]
        self.made[part.id] = now.created_at
        imported = next((state for state in reversed(history) if state.action == "imported"), None)
        if _same(now, part) or (imported is not None and _same(imported, part)):
            self.outcome.unchanged += 1
        elif now.action == "imported":
            came = replace(
                part,
                created_at=now.created_at,
                updated_at=max(part.updated_at, now.updated_at + _TICK),
                version=now.version + 1,
            )
            yield found, Change("updated", came), [*history, came]
        elif now.deleted_at is not None:
            self.outcome.unchanged += 1
        else:
            self._complain(
                found.where,
                f"It changed there, and {now.short_id} was changed here: yours was kept. `recollect edit` it, or "
                f"`recollect forget --purge {now.short_id}` and import again.",
            )

    def _remove_rest(
        self, found: Foreign, many: int, present: dict[Ref, Memory]
    ) -> Iterator[tuple[Foreign, Change, list[Memory]]]:
        """Take away the parts that a text no longer has; the first of them is among those looked up already."""
        ref = Ref(self.space, derive_id(self.source, found.key, many))
        while rest := present.get(ref):
            if rest.deleted_at is None and rest.action == "imported":
                at = max(self.now, rest.updated_at + _TICK)
                gone = replace(rest, version=rest.version + 1, updated_at=at, deleted_at=at)
                history = [revision.memory for revision in self.store.memories.history(ref)]
                yield found, Change("removed", gone), [*history, gone]
            elif rest.deleted_at is None:
                self._complain(found.where, f"It became shorter there; {rest.short_id} was changed here and was kept.")
            many += 1
            ref = Ref(self.space, derive_id(self.source, found.key, many))
            present = self.store.memories.get([ref])

    def _link(self, tie: Tie) -> None:
        source, target = derive_id(self.source, tie.source), derive_id(self.source, tie.target)
        if source in self.made and target in self.made:
            self._add_link(tie.where, source, tie.kind, target)
        else:
            missing = tie.target if source in self.made else tie.source
            self.outcome.skipped.append(f"{tie.where}: {missing} was not taken in, so there is no link to it.")

    def _add_link(self, where: str, source: str, kind: LinkKind, target: str) -> None:
        """Link two memories since the first was made, so that a link that the user ended is not made again."""
        if source == target:
            return
        link = Link(self.space, source, kind, target, self.made[source])
        coming = {Ref(self.space, identity) for identity in (source, target)} if self.dry_run else None
        try:
            self.outcome.links += add_link(self.store, link, coming)
        except RecollectError as error:
            self._complain(where, str(error))

    def _complain(self, where: str, why: str) -> None:
        self.outcome.problems.append(f"{where}: {why}")


def _same(one: Memory, other: Memory) -> bool:
    return all(getattr(one, name) == getattr(other, name) for name in (*EDITABLE, "deleted_at"))
