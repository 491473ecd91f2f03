"""A memory among others as Graphviz draws it: memories are boxes, what they share stands between them."""

from collections.abc import Iterator
from typing import Final

from recollect.cli.paper import clean
from recollect.cli.words import heading
from recollect.core.memory import Memory
from recollect.core.telling import telling
from recollect.service.graph import Graph

_LONGEST: Final = 60
"""Characters of a heading: a box is no place for a whole memory."""
# Graphviz takes a backslash for the start of an escape and an ampersand for that of an entity.
_ESCAPES: Final = str.maketrans({"\\": r"\\", '"': r"\"", "&": "&amp;"})


def to_dot(graph: Graph, limit: int) -> str:
    return "\n".join(["graph recollect {", *(f"  {line};" for line in _lines(graph, limit)), "}"])


def _lines(graph: Graph, limit: int) -> Iterator[str]:
    yield "rankdir=LR"
    yield 'node [fontname="sans-serif", shape=box, style=rounded]'
    yield f"{_node(graph.memory)}, penwidth=2]"
    drawn = {graph.memory.id}
    for place, branch in enumerate(graph.branches):
        tie = f"tie{place}"
        names = r"\n".join(_escape(each.name) for each in telling(branch.ties))
        yield f'{tie} [label="{names}", shape=plain]'
        yield f'"{graph.memory.id}" -- {tie}'
        for other in branch.others[:limit]:
            if other.id not in drawn:
                yield f"{_node(other)}]"
                drawn.add(other.id)
            yield f'{tie} -- "{other.id}"'


def _node(memory: Memory) -> str:
    words = heading(memory)
    words = words if len(words) <= _LONGEST else words[: _LONGEST - 1] + "…"
    return f'"{memory.id}" [label="{_escape(words)}\\n{memory.short_id}"'


def _escape(text: str) -> str:
    return clean(" ".join(text.split())).translate(_ESCAPES)
