"""Concepts and who reads them, as a person reads it."""

from collections.abc import Mapping, Sequence
from typing import Final

from rich.text import Text

from recollect.cli.paper import DIM, HANDLE, NOTICE, STRONG, Paper, label
from recollect.cli.show import line, short
from recollect.cli.words import count, when
from recollect.core.hits import Ref
from recollect.core.memory import Memory
from recollect.core.ports import Common, Concept, Reader, Said

_BAR: Final = 24
_MOST_EVIDENCE: Final = 3


def show_readers(paper: Paper, readers: Sequence[Reader]) -> None:
    """List who reads: how far each is and, of one that has a budget, how much of it is used."""
    paper.columns([(label(each.name, STRONG), Text(" · ".join(_standing(each)), DIM)) for each in readers])
    if any(each.waiting and each.most_calls is not None for each in readers):
        paper.write(Text("`recollect concepts extract --calls N --tokens N` lets a language model use more.", DIM))


def show_common(paper: Paper, common: Sequence[Common], most: int) -> None:
    """Write the concepts that most memories mention; what more than `most` share tells nothing."""
    paper.write()
    if not common:
        paper.write("No two memories mention the same yet.")
        return
    longest = common[0].memories
    rows = []
    for each in common:
        bar = Text("▪" * max(1, round(each.memories / longest * _BAR)), DIM)
        words = bar if each.memories <= most else Text("too common to tell anything", DIM)
        rows.append((label(each.name), Text(f"{each.memories:,}"), words))
    paper.columns(rows, indent=2, right={1}, cut=True)


def show_concept(paper: Paper, concept: Concept, memories: Mapping[Ref, Memory], total: int) -> None:
    """Write all that is known of a concept; of the memories that mention it, those given."""
    paper.write(label(concept.name, STRONG))
    if concept.aliases:
        paper.write(label(", ".join(concept.aliases)), Text("also called ", DIM))
    if concept.relations:
        paper.write()
        for said in concept.relations:
            _show_said(paper, said)
    kinds: dict[Ref, list[str]] = {}
    for ref, kind in concept.mentions:
        kinds.setdefault(ref, []).append(kind)
    paper.write()
    paper.write(Text(f"mentioned by {count(total, 'memory', 'memories')}", DIM))
    for ref, memory in memories.items():
        others = [kind for kind in kinds[ref] if kind != "name"]
        how = Text(f"  as {' and '.join(others)}" if others else "", DIM)
        paper.write(Text.assemble(line(memory, ""), how), "  ", cut=True)
    if more := total - len(memories):
        paper.write(Text(f"  {more:,} more: --limit {total} shows them.", DIM))


def _show_said(paper: Paper, said: Said) -> None:
    words = Text.assemble(label(said.source), (f"  {said.relation}  ", DIM), label(said.target))
    paper.write(words, "  ")
    parts = [Text(f"since {when(said.since)}", DIM)]
    if said.until is not None:
        parts.append(Text(f"until {when(said.until)}", NOTICE))
    parts += [Text(short(ref), HANDLE) for ref in said.evidence[:_MOST_EVIDENCE]]
    if (more := len(said.evidence) - _MOST_EVIDENCE) > 0:
        parts.append(Text(f"and {more:,} more", DIM))
    paper.flow(parts, "    ")


def _standing(reader: Reader) -> list[str]:
    waiting = f"{count(reader.waiting, 'memory waits', 'memories wait')}" if reader.waiting else "nothing waits"
    used = ((reader.calls, reader.most_calls, "calls"), (reader.tokens, reader.most_tokens, "tokens"))
    return [waiting, *(f"{many:,} of {most:,} {what}" for many, most, what in used if most is not None)]
