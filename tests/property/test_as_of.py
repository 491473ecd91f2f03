"""A recall as of a moment is the recall of that moment."""

import tempfile
from pathlib import Path

from hypothesis import example, given, settings

from making import StandingClock, open_recollect
from recollect.core.hits import Ref
from strategies import Deed, lives, recalls


@settings(max_examples=30)
@given(lives)
@example([Deed("remember", words=("the",), label="own"), Deed("forget"), Deed("undo"), Deed("edit", words=("kiwi",))])
@example(
    [Deed("remember", words=("kiwi",)), Deed("edit", words=("melon",)), Deed("edit", words=("kiwi",)), Deed("undo")]
)
@example(
    # What two shared then, though one has other words now, and fewer may share it.
    [
        Deed("remember", words=("kiwi", "melon")),
        Deed("remember", words=("kiwi", "figs")),
        Deed("see-also", 0, 1),
        Deed("edit", 0, words=("plum_pie",)),
        Deed("weigh", 1, flag=True),
        Deed("forget", 1),
    ]
)
def test_what_was_answered_then_is_answered_as_of_then(life: list[Deed]) -> None:
    """After any remembering, editing, forgetting, undoing and linking, every past answer comes again exactly: ids,
    texts, scores; the index agrees with the rows; and one built anew gives the same answers.
    """
    with tempfile.TemporaryDirectory() as folder:
        clock = StandingClock()
        with open_recollect(Path(folder) / "memory.db", clock) as memory:
            memory.set("weight.exact", "0.5")
            so_far: list[str] = []
            noted = [(clock.now, recalls(memory))]
            for deed in life:
                moment = clock.move()
                deed.do(memory, so_far)
                noted.append((moment, recalls(memory)))
            for moment, answers in noted:
                assert recalls(memory, moment) == answers
            assert memory.store.examine(lambda _done, _total: None) == []
            memory.store.mend()
            assert memory.store.examine(lambda _done, _total: None) == []
            for moment, answers in noted[::3]:
                assert recalls(memory, moment) == answers
            assert recalls(memory) == noted[-1][1]


@settings(max_examples=20)
@given(lives)
def test_what_was_purged_was_never_there(life: list[Deed]) -> None:
    """Purging everything, in any state, leaves a store that counts, finds and holds nothing, and is healthy."""
    with tempfile.TemporaryDirectory() as folder:
        clock = StandingClock()
        with open_recollect(Path(folder) / "memory.db", clock) as memory:
            so_far: list[str] = []
            for deed in life:
                clock.move()
                deed.do(memory, so_far)
            for identity in so_far:
                memory.purge(identity)
                assert memory.store.examine(lambda _done, _total: None) == []
            (count,) = memory.store.count()
            assert (count.memories, count.forgotten, count.revisions, count.links, count.waiting) == (0, 0, 0, 0, 0)
            assert memory.store.memories.get([Ref("personal", identity) for identity in so_far]) == {}
            assert not any(answer[:-1] for answer in recalls(memory))
