"""Proposals to tidy a store up, and what becomes of one that its owner agrees to. Every deed can be taken back."""

from collections.abc import Callable, Collection
from typing import Final

from recollect.core.hits import Ref
from recollect.core.links import newest_of
from recollect.core.query import LARGEST_PAGE, Scope
from recollect.core.tidying import Proposal, propose
from recollect.service.recollect import Recollect

_AT_ONCE: Final = 1000
"""Memories whose links are looked up at once."""


def propose_tidying(memory: Recollect, scope: Scope, given: Collection[str] | None = None) -> list[Proposal]:
    """Give what might be tidied up in a scope; nothing sensitive, and nothing that is superseded already."""
    memories = memory.page(scope, LARGEST_PAGE)
    present = {Ref(each.space, each.id): each for each in memories}
    links = (memory.links(memories[place : place + _AT_ONCE]) for place in range(0, len(memories), _AT_ONCE))
    superseded = newest_of({link for some in links for link in some}, present)
    current = [each for ref, each in present.items() if not (each.sensitive or ref in superseded)]
    return propose(current, memory.clock(), given)


def follow(memory: Recollect, proposal: Proposal) -> Callable[[], None]:
    """Do what is proposed, and give what takes it back."""
    drop, keep = proposal.drop, proposal.keep
    if keep is not None:
        memory.link(keep.id, "supersedes", drop.id)
    if proposal.kind != "contradiction":
        memory.forget(drop.id)

    def take_back() -> None:
        if proposal.kind != "contradiction":
            memory.restore(drop.id)
        if keep is not None:
            memory.unlink(keep.id, "supersedes", drop.id)

    return take_back
