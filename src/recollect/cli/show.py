"""Memories and answers as a person reads them."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Final

from rich.text import Text

from recollect.cli.paper import DIM, HANDLE, NOTICE, STRONG, Paper, label, plain
from recollect.cli.words import SENSITIVE, ago, count, heading, project_name, when, where
from recollect.core.hits import Ref
from recollect.core.memory import Memory, Revision
from recollect.core.pack import LeftOutWhy
from recollect.service.recall import Recall, Recalled
from recollect.service.remember import EDITABLE

_WIDEST_CATEGORY: Final = 16


def details(
    memory: Memory, now: datetime | None = None, score: float | None = None, instead_of: Sequence[Ref] = ()
) -> list[Text]:
    """Give the parts of the one dim line under a memory."""
    parts = [plain(memory.short_id, HANDLE), label(memory.category, DIM)]
    if memory.sensitive:
        parts.insert(1, Text(SENSITIVE, NOTICE))
    if memory.tags:
        parts.append(label(" ".join(f"#{tag}" for tag in memory.tags), DIM))
    if memory.project:
        parts.append(label(project_name(memory.project), DIM))
    if now is not None:
        parts.append(Text(ago(memory.created_at, now), DIM))
    if score is not None:
        parts.append(Text(f"{score:.3f}", DIM))
    if instead_of:
        parts.append(Text("in place of " + ", ".join(short(ref) for ref in instead_of), DIM))
    return parts


def short(ref: Ref) -> str:
    return ref.id[-8:]


def show_answer(
    paper: Paper, answer: Recall, now: datetime, explain: Callable[[Recalled, int], None] | None = None
) -> None:
    """Write every result, then what the reader should know about how they came about."""
    margin = len(str(len(answer.results))) + 2
    for rank, result in enumerate(answer.results, start=1):
        if rank > 1:
            paper.write()
        paper.write(result.memory.content, plain(f"{rank:<{margin}}", STRONG))
        blank = " " * margin
        paper.flow(details(result.memory, now, result.score, result.instead_of), blank)
        for each in result.answers:
            paper.write(each.content, f"{blank}↳ ")
            paper.flow(details(each, now), f"{blank}  ")
        for how, each in result.pointers:
            paper.write(pointer_line(how, each), blank, cut=True)
        if explain is not None:
            explain(result, margin)
    _show_rest(paper, answer)


def line(memory: Memory, style: str = DIM) -> Text:
    """Give one line about a memory that was not asked for itself."""
    gone = " (forgotten)" if memory.deleted_at else ""
    return Text.assemble((memory.short_id, HANDLE), "  ", label(heading(memory) + gone, style))


def pointer_line(how: str, memory: Memory) -> Text:
    return Text.assemble((f"{how.replace('-', ' ')} ", DIM), line(memory))


def show_memory(paper: Paper, memory: Memory, now: datetime, links: Sequence[tuple[str, Memory]]) -> None:
    """Write a memory with all its fields and links."""
    paper.write(memory.content)
    paper.write()
    fields: list[tuple[str, str | Text]] = [("id", memory.id), ("category", memory.category)]
    fields += [
        (name, value)
        for name, value in (
            ("tags", ", ".join(memory.tags)),
            ("keywords", ", ".join(memory.keywords)),
            ("project", memory.project or ""),
            ("session", memory.session or ""),
            ("place", "" if memory.place is None else str(memory.place)),
        )
        if value
    ]
    fields += [
        ("importance", f"{memory.importance:g}"),
        ("remembered", _moment(memory.created_at, now)),
    ]
    if memory.version > 1:
        fields.append((memory.action, f"{_moment(memory.updated_at, now)}, version {memory.version}"))
    if memory.sensitive:
        fields.append((SENSITIVE, Text("agents are shown a placeholder", NOTICE)))
    if memory.deleted_at:
        fields.append(("forgotten", Text(f"`recollect undo {memory.short_id}` brings it back", NOTICE)))
    if memory.space != "personal":
        fields.append(("space", memory.space))
    paper.columns(
        [(Text(name, DIM), value if isinstance(value, Text) else plain(value)) for name, value in fields], indent=2
    )
    if links:
        paper.write()
        for how, other in links:
            paper.write(pointer_line(how, other), "  ", cut=True)


def show_list(paper: Paper, memories: Sequence[Memory], now: datetime) -> None:
    """Write one line a memory, of a sensitive one without its text."""
    rows = []
    for memory in memories:
        words = Text(SENSITIVE, NOTICE) if memory.sensitive else label(heading(memory))
        if memory.tags and not memory.sensitive:
            words.append("  ").append_text(label(" ".join(f"#{tag}" for tag in memory.tags), DIM))
        category = label(memory.category, DIM)
        if paper.is_terminal:
            category.truncate(_WIDEST_CATEGORY, overflow="ellipsis")
        rows.append((Text(memory.short_id, HANDLE), Text(ago(memory.created_at, now), DIM), category, words))
    paper.columns(rows, right={1}, cut=True)


def show_history(paper: Paper, history: Sequence[Revision]) -> None:
    """Write every state of a memory, oldest first, each with what changed."""
    before: Memory | None = None
    for revision in history:
        memory = revision.memory
        changes = [] if before is None else _changes(before, memory)
        first = Text.assemble((f"{memory.version}", STRONG), ("  ", ""), (when(memory.updated_at), DIM), "  ")
        paper.flow([plain(part) for part in (memory.action, *changes)], first)
        if before is None or before.content != memory.content:
            paper.write(memory.content, "   ")
        before = memory


def _changes(before: Memory, after: Memory) -> list[str]:
    """Say what an edit changed, other than the text, which is written out."""
    return [
        f"{name} {_value(getattr(before, name))} → {_value(getattr(after, name))}"
        for name in EDITABLE
        if name != "content" and getattr(before, name) != getattr(after, name)
    ]


def _value(value: object) -> str:
    if isinstance(value, tuple):
        return ", ".join(value) or "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "none" if value is None else str(value)


def _show_rest(paper: Paper, answer: Recall) -> None:
    if not (answer.results or answer.left_out):
        paper.write(f"Nothing found {where(answer.query.scope)}.")
    rest = [words for why in _REST if (words := _left_out(answer, why))]
    if rest and answer.results:
        paper.write()
    for words in rest:
        paper.write(Text(words, DIM))
    for notice in answer.notices:
        paper.write(plain(notice, NOTICE))


_REST: Final[tuple[LeftOutWhy, ...]] = ("over the limit", "over the budget", "under the floor")


def _left_out(answer: Recall, why: LeftOutWhy) -> str:
    many = sum(each == why for each in answer.left_out.values())
    if not many:
        return ""
    if why == "over the limit":
        return f"{many:,} more found: --limit {len(answer.results) + many} shows them."
    found = f"{count(many, 'memory', 'memories')} found, but"
    if why == "over the budget":
        return f"{found} over the budget of {answer.query.budget:,} tokens: --budget takes more."
    return f"{found} under the relevance floor: `recollect config` shows it."


def _moment(moment: datetime, now: datetime) -> str:
    return f"{when(moment)}, {ago(moment, now)}"
