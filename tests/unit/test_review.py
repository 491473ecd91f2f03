"""What becomes of a candidate that somebody else has settled meanwhile."""

from collections.abc import Callable
from pathlib import Path

import pytest

from making import StandingClock, at, id_of, open_recollect
from recollect.core.errors import Conflict
from recollect.core.review import Pending, Queue
from recollect.journal.candidates import JournalQueue
from recollect.journal.file import Journal
from recollect.service.recollect import Recollect
from recollect.service.review import Settled, accept, merge, reject

PENDING = Pending(id_of(9), at(1), "personal", "Deploys run on Tuesdays at ten.", "facts", 0.5, "request")

Deed = Callable[[Recollect, Queue], Settled]


@pytest.mark.parametrize(
    "deed",
    [
        lambda memory, queue: accept(memory, queue, PENDING),
        lambda memory, queue: accept(memory, queue, PENDING, "Deploys run on Mondays at ten."),
        lambda memory, queue: merge(memory, queue, PENDING, memory.get(id_of(1)), "Deploys run daily."),
        lambda _, queue: reject(queue, PENDING),
    ],
)
@pytest.mark.parametrize("accepted", [True, False])
def test_the_first_of_two_reviews_counts(deed: Deed, tmp_path: Path, *, accepted: bool) -> None:
    """What one review settled, another neither keeps nor rejects nor says that it did."""
    with (
        open_recollect(tmp_path / "memory.db", StandingClock()) as memory,
        Journal(str(tmp_path / "journal.db")) as journal,
    ):
        queue = JournalQueue(journal)
        queue.add(PENDING)
        memory.remember("Deploys are run by Anna.", id=id_of(1))
        if accepted:
            accept(memory, queue, PENDING)
        else:
            reject(queue, PENDING)
        before = memory.page(memory.scope(), 10)
        with pytest.raises(Conflict, match="settled meanwhile"):
            deed(memory, queue)
        assert memory.page(memory.scope(), 10) == before
