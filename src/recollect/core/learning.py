"""A conversation's turns in, what is worth knowing from now on out: by rules, without any model.

Better to miss something than to keep junk: what is learned comes back as a memory, and a wrong one is read again and
again. So a rule takes whole sentences that somebody wrote themselves, that say on their face that they are meant to
last, and that mean something alone (`fitness`); nothing is reworded but for the first and the last character.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final, Literal, Protocol

from recollect.core import phrases
from recollect.core.fitness import OTHERWISE, Rule, is_fit
from recollect.core.prose import Paragraph, injected_in, read_prose, without_injected
from recollect.core.statements import Statement, adds_nothing, digest, read_statement
from recollect.values import value

Role = Literal["user", "assistant", "injected"]
LEARNED: Final = "learned"
"""The tag of a memory that was learned, so that it can be told from what somebody stored."""


@value
class Turn:
    """What one side said at once. `injected` is what a hook put before the agent."""

    role: Role
    text: str


@value
class Candidate:
    """Something that may be worth remembering."""

    content: str
    category: str
    importance: float
    rule: Rule
    context: str = ""
    """The paragraph that it stood in: a secret there is one too many."""


MOST_FOR_MODEL: Final = 16_000
"""Characters of a conversation that a model is given: what was said last."""


class Learner(Protocol):
    """A language model that may read a conversation, within its budget."""

    def learn(self, turns: Sequence[Turn], seconds: float) -> list[Candidate]:
        """Give what it finds worth keeping, all of it in the conversation's own words."""


_IMPORTANCE: Final[dict[Rule, float]] = {
    "request": 0.7,
    "decision": 0.6,
    "preference": 0.6,
    "correction": 0.6,
    "finding": 0.5,
}

Found = tuple[Rule, str] | None
"""The rule that something falls under, and what it says without its introduction."""


def learn_from_turns(turns: Sequence[Turn]) -> list[Candidate]:
    """Give what a conversation says that is worth keeping, each once, in the order in which it was said."""
    injected = [
        read_statement(line) for turn in turns for text in _injected(turn) for line in text.splitlines() if line.strip()
    ]
    found: dict[bytes, Candidate] = {}
    before: Role | None = None
    for turn in turns:
        if turn.role == "injected":
            continue
        for candidate in _learn(turn, before):
            if not _repeats(candidate, injected):
                found.setdefault(digest(candidate.content), candidate)
        if without_injected(turn.text).strip():
            before = turn.role
    return list(found.values())


def last_turns(turns: Sequence[Turn], most: int) -> list[Turn]:
    """Give what was said last, in so many characters at most, without what was injected."""
    said: list[Turn] = []
    for turn in reversed(turns):
        text = "" if turn.role == "injected" else without_injected(turn.text).strip()
        most -= len(text)
        if most < 0:
            break
        if text:
            said.append(Turn(turn.role, text))
    return said[::-1]


def is_not_to_be_kept(turn: Turn) -> bool:
    """Whether somebody says of what they say that it is not to be kept, or not meant."""
    own = without_injected(turn.text)
    return turn.role == "user" and (phrases.PRIVATE.search(own) or phrases.JOKING.search(own)) is not None


def _injected(turn: Turn) -> list[str]:
    return [turn.text] if turn.role == "injected" else injected_in(turn.text)


def _repeats(candidate: Candidate, injected: Sequence[Statement]) -> bool:
    said = read_statement(candidate.content)
    return any(adds_nothing(said, each) for each in injected)


def _learn(turn: Turn, before: Role | None) -> Iterator[Candidate]:
    if is_not_to_be_kept(turn):
        return
    listing = False
    for paragraph in read_prose(turn.text):
        context = " ".join(each.text for each in paragraph)
        for place, sentence in enumerate(paragraph):
            if turn.role == "assistant":
                found = _match_finding(sentence.text)
            elif sentence.item and listing:
                found = ("request", sentence.text)
            else:
                listing = phrases.LISTING.search(sentence.text) is not None
                found = _match_user(sentence.text, follows_agent=before == "assistant" and place <= 1)
            if found is None:
                continue
            rule, text = found
            if not is_fit(text, rule):
                continue
            whole = _finish(text)
            if not sentence.item and (more := _continuation(text, paragraph, place)):
                whole = f"{whole} {_finish(more)}"
            yield Candidate(whole, _category(rule, text), _IMPORTANCE[rule], rule, context)
        if paragraph[-1].item:
            listing = False


def _match_user(sentence: str, *, follows_agent: bool) -> Found:
    """Give the rule that a sentence of the user's, or a part of it that stands alone, falls under."""
    if OTHERWISE.match(sentence):
        return None
    bare = phrases.ASKING.sub("", phrases.OPENER.sub("", sentence))
    starts = [0, *(each.end() for each in phrases.INSIDE.finditer(bare))]
    for start in starts:
        part = phrases.OPENER.sub("", bare[start:]).strip()
        if bare[:start].count('"') % 2:
            # Somebody else's words.
            continue
        for match in _USER_RULES:
            if found := match(part):
                return found
    return _match_correction(bare) if follows_agent else None


def _match_request(part: str) -> Found:
    if phrases.LASTING.match(part):
        return "request", part
    asked = phrases.REQUEST.match(part)
    if asked is None or phrases.TASK.match(asked["rest"]) or not phrases.VERB.search(asked["rest"]):
        return None
    return "request", asked["rest"]


def _match_preference(part: str) -> Found:
    return ("preference", part) if phrases.PREFERENCE.match(part) else None


def _match_decision(part: str) -> Found:
    return ("decision", part) if phrases.DECISION.match(part) else None


_USER_RULES: Final[tuple[Callable[[str], Found], ...]] = (
    _match_request,
    _match_preference,
    _match_decision,
)


def _match_correction(sentence: str) -> Found:
    """Give what somebody says is so, in place of what the agent said."""
    stated = phrases.ACTUALLY.sub("", phrases.WRONG.sub("", sentence))
    if not phrases.STATED.match(stated):
        return None
    denied = phrases.WRONG.match(sentence) is not None
    return ("correction", stated) if denied or phrases.CONTRAST.search(stated) else None


def _match_finding(sentence: str) -> Found:
    return ("finding", sentence) if phrases.FINDING.match(sentence) else None


def _continuation(text: str, paragraph: Paragraph, place: int) -> str:
    """Give the sentence behind one if it goes on with the same: it begins with a pronoun, or with what was named."""
    if place + 1 >= len(paragraph) or paragraph[place + 1].item:
        return ""
    following = paragraph[place + 1].text
    first = re.match(r"[\w/-]+", following)
    named = first is not None and first.group() in re.findall(r"[\w/-]+", text) and len(first.group()) > 2  # noqa: PLR2004
    goes_on = named or phrases.FOLLOWS.match(following) is not None
    return following if goes_on and is_fit(f"{_finish(text)} {following}", "request") else ""


def _category(rule: Rule, text: str) -> str:
    if rule == "decision" or (rule == "request" and _match_decision(text)):
        return "decisions"
    if rule == "preference" or (rule == "request" and (phrases.LASTING.match(text) or _match_preference(text))):
        return "preferences"
    return "facts"


def _finish(text: str) -> str:
    """Give a sentence with a capital at its start, if that is a plain word, and a mark at its end."""
    text = text.strip().rstrip(",;:\u2014- ")
    first = text.split(" ", 1)[0]
    if first.replace("'", "").isalpha() and first.islower() and first not in _LOWER_NAMES:
        text = text[0].upper() + text[1:]
    return text if text.endswith((".", "!", "?")) else f"{text}."


_LOWER_NAMES: Final = frozenset(
    ("npm", "pnpm", "git", "npx", "pip", "uv", "kubectl", "psql", "ssh", "mypy", "ruff", "pytest")
)
"""Names of tools that are written small, also where a sentence begins."""
