"""The path of a memory: checked, then stored with its terms and its place in the outbox, then acknowledged."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from recollect.core.errors import Conflict, NotFound, Refused
from recollect.core.hits import Ref
from recollect.core.memory import LINK_KINDS, Action, Link, LinkKind, Memory, check
from recollect.core.ports import Clock, Store
from recollect.values import replace

EDITABLE: Final = (
    "content", "category", "tags", "keywords", "importance", "project", "session", "place", "sensitive",
)  # fmt: skip


def remember(store: Store, memory: Memory) -> tuple[Memory, bool]:
    """Keep a memory, and say whether that was new.

    The same id and body again gives what is there; another body is a conflict.
    """
    check(memory, store.settings.read(memory.space).whole("length-limit"))
    try:
        store.memories.add([memory])
    except Conflict:
        ref = Ref(memory.space, memory.id)
        first = store.memories.history(ref)[0].memory
        if _body(first) != _body(memory):
            raise
        present = store.memories.get([ref])[ref]
        if present.deleted_at is not None:
            raise Conflict(
                f"{memory.id} was stored before and forgotten since: `recollect undo {memory.short_id}` brings it "
                "back. To store it anew, leave the id out."
            ) from None
        return present, False
    return memory, True


def edit(store: Store, clock: Clock, ref: Ref, changes: Mapping[str, Any], version: int | None = None) -> Memory:
    """Change some fields; the state before stays in the history. `version` refuses to overwrite a newer one."""
    memory = _present(store, ref)
    if version is not None and memory.version != version:
        raise Conflict(
            f"{ref.id} is at version {memory.version} and you changed version {version}: look at it again first."
        )
    unknown = sorted(changes.keys() - set(EDITABLE))
    if unknown:
        raise Refused(f"{', '.join(unknown)} cannot be edited; {', '.join(EDITABLE)} can.")
    labels = {name: tuple(changes[name]) for name in ("tags", "keywords") if name in changes}
    changed = replace(memory, **{**changes, **labels})
    if changed == memory:
        return memory
    changed = _next(changed, "edited", clock)
    check(changed, store.settings.read(memory.space).whole("length-limit"))
    store.memories.change(changed)
    return changed


def forget(store: Store, clock: Clock, ref: Ref) -> Memory:
    """Take a memory out of every recall; it can be brought back until it is purged."""
    memory = _present(store, ref)
    gone = _next(memory, "forgotten", clock)
    gone = replace(gone, deleted_at=gone.updated_at)
    store.memories.change(gone)
    return gone


def undo(store: Store, clock: Clock, ref: Ref) -> Memory:
    """Bring a memory back to what it was before its last change; of one just remembered nothing is left.

    Undoing is itself a change, so undoing twice brings back what was undone.
    """
    history = store.memories.history(ref)
    if not history:
        raise NotFound(f"There is no memory {ref.id} to undo a change of.")
    present = history[-1].memory
    if len(history) == 1:
        return forget(store, clock, ref)
    before = history[-2].memory
    restored = _next(replace(before, version=present.version, updated_at=present.updated_at), "restored", clock)
    store.memories.change(restored)
    return restored


def restore(store: Store, clock: Clock, ref: Ref) -> Memory:
    """Bring a forgotten memory back to what it was last."""
    history = store.memories.history(ref)
    if not history:
        raise NotFound(f"There is no memory {ref.id}: `recollect list` shows what there is.")
    present = history[-1].memory
    if present.deleted_at is None:
        raise Conflict(f"{ref.id} is not forgotten: there is nothing to bring back.")
    last = next((each.memory for each in reversed(history) if each.memory.deleted_at is None), None)
    if last is None:
        raise Conflict(f"{ref.id} was forgotten in all of its past: there is nothing to bring back.")
    restored = _next(replace(last, version=present.version, updated_at=present.updated_at), "restored", clock)
    store.memories.change(restored)
    return restored


def link(store: Store, clock: Clock, source: Ref, kind: str, target: Ref) -> Link:
    """Link two memories of one space; linking them again changes nothing."""
    if source.space != target.space:
        raise Refused("Both memories of a link belong to one space: copy one of them first.")
    if source == target:
        raise Refused("A memory cannot be linked to itself: give two different ids.")
    _present(store, source)
    _present(store, target)
    made = Link(source.space, source.id, link_kind(kind), target.id, clock())
    return made if store.links.add(made) else _holding(store, made)


def unlink(store: Store, clock: Clock, source: Ref, kind: str, target: Ref) -> Link:
    at = clock()
    held = _holding(store, Link(source.space, source.id, link_kind(kind), target.id, at))
    store.links.end(held, at)
    return replace(held, ended_at=at)


def undo_link(store: Store, clock: Clock, last: Link) -> Link:
    """End a link that was made, or make one again that was ended."""
    at = clock()
    if last.ended_at is None:
        store.links.end(last, at)
        return replace(last, ended_at=at)
    again = replace(last, created_at=max(at, last.ended_at), ended_at=None)
    store.links.add(again)
    return again


def _holding(store: Store, like: Link) -> Link:
    """Give the link of this kind between these memories that holds now."""
    for held in store.links.all_of(Ref(like.space, like.source)):
        if (held.kind, held.target, held.ended_at) == (like.kind, like.target, None):
            return held
    raise NotFound(f"There is no link {like.source} {like.kind} {like.target}.")


def link_kind(kind: str) -> LinkKind:
    for known in LINK_KINDS:
        if kind == known:
            return known
    raise Refused(f"A link is one of {', '.join(LINK_KINDS)}, not {kind!r}.")


def _present(store: Store, ref: Ref) -> Memory:
    memory = store.memories.get([ref]).get(ref)
    if memory is None:
        raise NotFound(f"There is no memory {ref.id}: `recollect list` shows what there is.")
    if memory.deleted_at is not None:
        raise NotFound(f"{ref.id} was forgotten: `recollect undo {memory.short_id}` brings it back.")
    return memory


def _next(memory: Memory, action: Action, clock: Clock) -> Memory:
    """Give the following version, later than the one before even if the clock went back."""
    now: datetime = max(clock(), memory.updated_at + timedelta(microseconds=1))
    return replace(memory, version=memory.version + 1, updated_at=now, action=action)


def _body(memory: Memory) -> Memory:
    """Give a memory without its times, which differ between two attempts to store it."""
    return replace(memory, created_at=datetime.min, updated_at=datetime.min)  # noqa: DTZ901 - no time is meant
