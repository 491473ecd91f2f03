"""Memories in, proposals to tidy them up out: what says the same, what contradicts, what has run out. Pure.

Not every memory is compared with every other. Two that say the same, or differ in a value, share nearly all of their
terms, and so at least one of the few rarest of each: only those are compared (prefix filtering, Chaudhuri et al. 2006).
"""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final, Literal

from recollect.core.memory import PINNED, Memory
from recollect.core.statements import SAME, Statement, contradicts, read_statement, says_same
from recollect.values import replace, value

Kind = Literal["duplicate", "contradiction", "stale"]

PASSING_DAYS: Final = 90
"""After which what was said of a passing moment has passed."""
UNUSED_DAYS: Final = 365
"""After which what no prompt was ever given has no use."""
_IMPORTANT: Final = 0.8
"""From which importance on a memory is kept for itself."""
_MOST_DIFFERING: Final = 3
"""Terms that each of two contradicting statements has in place of the other's, at most."""
_COMMONEST: Final = 400
"""Memories that may share a term for it to bring two together: what more have is no subject."""

_MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH: Final = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*"
_UNTIL: Final = re.compile(
    rf"(?i)\b(?:until|till|through|expires?(?: on| in)?|ends? (?:on|in)|valid to|due (?:on|by)|deadline(?: is)?:?)"
    rf" (?:the )?(?:end of )?(?:(?P<year>20\d\d)(?:-(?P<month>\d\d)(?:-(?P<day>\d\d))?)?"
    rf"|(?:(?P<first>\d{{1,2}})\.? )?(?P<name>{_MONTH})(?: (?P<last>\d{{1,2}})(?:st|nd|rd|th)?,?)? (?P<named>20\d\d))\b"
)
_PASSING: Final = re.compile(
    r"\b(?:TODO|FIXME|WIP)\b|(?i:\b(?:for now|temporar(?:y|ily)|this (?:week|month|sprint)|next (?:week|month|sprint)|"
    r"right now|at the moment|tomorrow|in progress)\b)"
)


@value
class Proposal:
    """What might be done: `drop` is forgotten, or superseded by `keep`."""

    kind: Kind
    drop: Memory
    why: str
    keep: Memory | None = None


def propose(memories: Sequence[Memory], now: datetime, given: Collection[str] | None = None) -> list[Proposal]:
    """Give what might be tidied up, each memory dropped once at most.

    `given` are the ids of what prompts were given for long enough to tell what is of no use; `None` if nobody knows.
    """
    found: dict[str, Proposal] = {}
    for one, other, same in _pairs([each for each in memories if not each.content.rstrip().endswith("?")]):
        proposal = _of_two(one, other, same=same)
        if proposal is None:
            continue
        if proposal.drop.id not in found and (proposal.keep is None or proposal.keep.id not in found):
            found[proposal.drop.id] = proposal
    found = {identity: replace(each, keep=_last(found, each.keep)) for identity, each in found.items()}
    for memory in memories:
        why = _run_out(memory, now, given)
        if why and memory.id not in found:
            found[memory.id] = Proposal("stale", memory, why)
    order: tuple[Kind, ...] = ("duplicate", "contradiction", "stale")
    return sorted(found.values(), key=lambda each: (order.index(each.kind), each.drop.id))


def _last(found: Mapping[str, Proposal], keep: Memory | None) -> Memory | None:
    """Give what is left in the end where what is to be kept is to be forgotten itself, for what says the same."""
    while keep is not None and keep.id in found and found[keep.id].kind == "duplicate":
        keep = found[keep.id].keep
    return keep


def _of_two(one: Memory, other: Memory, *, same: bool) -> Proposal | None:
    older, newer = sorted((one, other), key=lambda each: (each.updated_at, each.id))
    if not same:
        return Proposal("contradiction", older, "a newer one says something else", newer)
    # Of two that say the same, what is longer says more.
    keep, drop = (newer, older) if len(newer.content) >= len(older.content) else (older, newer)
    if not _stands_for(keep, drop):
        keep, drop = drop, keep
    return Proposal("duplicate", drop, "another one says the same", keep) if _stands_for(keep, drop) else None


def _stands_for(keep: Memory, drop: Memory) -> bool:
    """Whether nobody misses one that goes: what stays is known in every project that it was, and pinned if it was."""
    return keep.project in {None, drop.project} and (PINNED in keep.tags or PINNED not in drop.tags)


def _pairs(memories: Sequence[Memory]) -> Iterator[tuple[Memory, Memory, bool]]:
    """Give every two that say the same, or contradict each other, and which of both it is."""
    statements = [read_statement(memory.content) for memory in memories]
    counts = Counter(term for statement in statements for term in statement.terms)
    sharing: dict[str, list[int]] = {}
    for place, statement in enumerate(statements):
        compared: set[int] = set()
        for term in _rarest(statement, counts):
            others = sharing.setdefault(term, [])
            compared.update(others)
            others.append(place)
        for other in sorted(compared):
            if _may_meet(memories[place], memories[other]):
                yield from _compare(memories[other], memories[place], statements[other], statement)


def _rarest(statement: Statement, counts: Counter[str]) -> list[str]:
    """Give the terms at least one of which is among those of any statement that is nearly the same."""
    terms = sorted(statement.terms, key=lambda term: (counts[term], term))
    return [term for term in terms[: _differing(len(terms)) + 1] if 1 < counts[term] <= _COMMONEST]


def _may_meet(one: Memory, other: Memory) -> bool:
    """Whether a recall may bring both, and they are no turns of one conversation."""
    if one.place is not None and one.session == other.session:
        return False
    return one.space == other.space and (one.project == other.project or None in {one.project, other.project})


def _compare(one: Memory, other: Memory, ours: Statement, theirs: Statement) -> Iterator[tuple[Memory, Memory, bool]]:
    longer = max(len(ours.terms), len(theirs.terms))
    if len(ours.terms & theirs.terms) < longer - _differing(longer):
        return
    if says_same(ours, theirs):
        yield one, other, True
    elif contradicts(ours, theirs):
        yield one, other, False


def _differing(terms: int) -> int:
    """Say how many of so many terms may differ in statements that say the same, or contradict each other."""
    return max(_MOST_DIFFERING, terms - int(SAME * terms))


def _run_out(memory: Memory, now: datetime, given: Collection[str] | None) -> str:
    """Say why a memory has had its time, if it has."""
    for until in _UNTIL.finditer(memory.content):
        end = _end_of(until)
        if end is not None and end <= now:
            return f"it says {until.group().lower()!r}, which is over"
    age = now - memory.updated_at
    passing = _PASSING.search(memory.content)
    if passing and age > timedelta(days=PASSING_DAYS):
        return f"it says {passing.group()!r}, {age.days} days ago"
    if given is None or memory.id in given or memory.importance >= _IMPORTANT:
        return ""
    return "no prompt was given it for a year" if age > timedelta(days=UNUSED_DAYS) else ""


def _end_of(until: re.Match[str]) -> datetime | None:
    """Give the first moment after a day, a month or a year that something lasts until."""
    year = int(until["year"] or until["named"])
    month = int(until["month"]) if until["month"] else 0
    if until["name"]:
        month = _MONTHS.index(until["name"][:3].lower()) + 1
    day = int(until["day"] or until["first"] or until["last"] or 0)
    try:
        if day:
            return datetime(year, month, day, tzinfo=UTC) + timedelta(days=1)
        if month:
            return datetime(year + month // 12, month % 12 + 1, 1, tzinfo=UTC)
        return datetime(year + 1, 1, 1, tzinfo=UTC)
    except ValueError:
        return None
