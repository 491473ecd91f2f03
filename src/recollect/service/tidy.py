"""Proposals to tidy a store up, and what becomes of one that its owner agrees to. Every deed can be taken back."""

from collections.abc import Callable, Collection

from recollect.core.query import LARGEST_PAGE, Scope
from recollect.core.tidying import Proposal, propose
from recollect.service.recollect import Recollect


def propose_tidying(memory: Recollect, scope: Scope, given: Collection[str] | None = None) -> list[Proposal]:
    """Give what might be tidied up in a scope; nothing sensitive, and nothing that was superseded already."""
    memories = [each for each in memory.page(scope, LARGEST_PAGE) if not each.sensitive]
    proposals = propose(memories, memory.clock(), given)
    touched = [each for proposal in proposals for each in (proposal.drop, proposal.keep) if each is not None]
    superseded = {link.target for link in memory.links(touched) if link.kind == "supersedes"} if touched else set()
    return [each for each in proposals if each.drop.id not in superseded]


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
