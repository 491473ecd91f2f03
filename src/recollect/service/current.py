"""Memories in, those of them that still stand out: what another one took the place of is left out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recollect.core.hits import Ref
from recollect.core.links import newest_of
from recollect.service.recall import find_linked

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recollect.core.memory import Memory
    from recollect.core.ports import Store
    from recollect.core.query import Scope


def leave_superseded(store: Store, scope: Scope, memories: Sequence[Memory]) -> list[Memory]:
    """Leave out what is superseded by a memory in the scope: one of another project takes no place in this one."""
    links, present = find_linked(store, scope, {Ref(each.space, each.id): each for each in memories})
    superseded = newest_of(links, {ref: each for ref, each in present.items() if scope.admits(each)})
    return [each for each in memories if Ref(each.space, each.id) not in superseded]
