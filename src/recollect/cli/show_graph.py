"""A memory among others as a tree: under it what it shares, under that with whom."""

from collections.abc import Sequence
from typing import Final

from rich.text import Text

from recollect.cli.paper import DIM, NOTICE, STRONG, Paper, label
from recollect.cli.show import line
from recollect.core.memory import Memory
from recollect.core.spread import Tie
from recollect.core.telling import telling
from recollect.service.graph import Graph

_BRANCH: Final = ("├─ ", "│  ")
_LAST: Final = ("└─ ", "   ")
_NAME: Final = "green"
"""What memories share, which is told from the memories by its colour."""


def show_graph(paper: Paper, graph: Graph, limit: int) -> None:
    paper.write(line(graph.memory, STRONG), cut=True)
    if not graph.branches:
        paper.write(Text(_say_none(graph.memory), NOTICE if graph.memory.sensitive else DIM))
    for place, branch in enumerate(graph.branches, start=1):
        stem, below = _LAST if place == len(graph.branches) else _BRANCH
        paper.write(_name(branch.ties), Text(stem, DIM), cut=True)
        leaves = [line(other, "") for other in branch.others[:limit]]
        if more := len(branch.others) - len(leaves):
            leaves.append(Text(f"and {more:,} more", DIM))
        for number, leaf in enumerate(leaves, start=1):
            paper.write(leaf, Text(below + (_LAST if number == len(leaves) else _BRANCH)[0], DIM), cut=True)
    if graph.further:
        paper.write(Text(f"{graph.further:,} more in common, with more memories: no score flows along these.", DIM))


def _name(ties: Sequence[Tie]) -> Text:
    """Give all that leads to the same memories on one line: links first, rare words last."""
    told = telling(ties)
    parts = [Text.assemble(("linked, ", DIM), label(tie.name.replace("-", " "))) for tie in told if tie.kind == "links"]
    parts += [label(tie.name, _NAME) for kind in ("relations", "names") for tie in told if tie.kind == kind]
    if words := [label(tie.name) for tie in told if tie.kind == "terms"]:
        parts.append(Text.assemble(("word " if len(words) == 1 else "words ", DIM), Text(", ").join(words)))
    return Text.assemble((" · ", DIM)).join(parts)


def _say_none(memory: Memory) -> str:
    if memory.sensitive:
        return "Nothing ties it to others: what is sensitive is read by nobody."
    return "Nothing ties it to others: no link, and no name or rare word that only few have in common."
