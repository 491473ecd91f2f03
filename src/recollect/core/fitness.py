"""Whether a sentence can be kept for itself: it says something, of something named, and not only of this moment."""

import re
from typing import Final, Literal

from recollect.core.analysis import analyse

Rule = Literal["request", "preference", "decision", "correction", "finding", "model"]

FEWEST_WORDS: Final = 4
FEWEST_TERMS: Final = 3
_FEWEST_ASKED_FOR: Final = 2
"""Terms of what somebody asks to be remembered: they know why."""
LONGEST: Final = 500
"""Characters of a sentence, or of two: more is a text that somebody pasted."""
_FEWEST_IN_FINDING: Final = 8
_LEAST_LETTERS: Final = 0.7
_ENOUGH_TO_REFER: Final = 8
"""Words of a sentence that may end in a pronoun: what it stands for is then in the sentence."""

_ASIDES: Final = r"(?:(?:and|but|so|ok|well|hm+),? )?"
OTHERWISE: Final = re.compile(
    rf"^{_ASIDES}(?:imagine|suppose|assume|assuming|pretend|let's (?:say|pretend)|what if|if|would|could|"
    r"should|shall|do|does|did|is|are|was|were|can|may|might|maybe|perhaps|why|what|when|who|where|which|how|unless)\b"
    r"(?!.*\b(?:remember|note) that\b(?!.*\?$))",
    re.IGNORECASE,
)
"""How a question, a condition or a thought begins."""
_DOUBTFUL: Final = re.compile(
    r"\b(?:maybe|perhaps|might|not sure|i guess|i think|i wonder|i suppose|probably|one day|hypothetically|what if|"
    r"if we|if i|seems?|i wish|could be|i need to check)\b",
    re.IGNORECASE,
)
_PASSING: Final = re.compile(
    r"\b(?:this (?:file|function|line|test|one|time|case|branch|commit|pr|mr|change|class|method|variable|button|way|"
    r"query|page|component|session|run|task|ticket|issue|error|module|script|endpoint|diff|"
    r"answer|reply|response|message)|"
    r"that (?:way|one|file|function|line|test)|for now|right now|just now|today|tonight|tomorrow|for the moment|"
    r"temporarily|for a moment|above|below|option [\da-c]|for this(?= since| because|,|$)|"
    r"like (?:that|this)|the existing|keep (?:going|trying)|"
    r"the (?:build|pipeline|tests?|server|site|app) (?:is|are) (?:red|green|down|broken|up)|"
    r"the (?:first|second|third|last|other|former|latter|same) (?:one|option|approach|way|variant|idea|version))\b",
    re.IGNORECASE,
)
"""Of this moment, or of something that is not named."""
_HERE: Final = re.compile(r"\bhere\b", re.IGNORECASE)
_PRONOUN: Final = re.compile(
    r"^(?:it|this|that|these|those|they|them|he|she|its|such|there|so|both|neither|one)(?:'\w+)?\b"
    r"(?! (?:repo(?:sitory)?|project|codebase|team|company|service|api|database|library|app|package)\b)",
    re.IGNORECASE,
)
_DANGLING: Final = re.compile(
    r"\b(?:it|that|this|them|those|these|so|the same|ones?|there|do|did|again|too|either)[.!]*$", re.IGNORECASE
)
_UNNAMED: Final = re.compile(
    r"^(?:(?:i|we) (?:always|never|prefer) (?:\w+ )?|let's \w+ (?:\w+ )?|we(?:'ll| will) \w+ (?:with )?|"
    r"(?:always|never) \w+ |use |please use )(?:it|that|this|them|those|these|one)\b",
    re.IGNORECASE,
)
"""A wish about something that is not named."""
_TURNED_OUT: Final = re.compile(
    r"^(?:as )?it turn(?:s|ed) out,? that (?!(?:it|this|that|they|there|i|we|you)\b)", re.IGNORECASE
)
_SELF: Final = re.compile(r"\b(?:i|i'\w+|me|my|let me|you|your)\b", re.IGNORECASE)
_TELLING: Final = re.compile(r"\d|[A-Za-z]\w*[_./-]\w|`|\w[A-Z]|(?<=\w )[A-Z]\w")


def is_fit(text: str, rule: Rule) -> bool:
    """Whether a sentence, or two, may be kept that a rule found."""
    bare = text.strip().rstrip(".! ")
    if not (_is_sentence(text, rule) and _stands_alone(bare, rule)):
        return False
    if rule == "finding":
        return _is_found_out(text)
    return rule in {"request", "model"} or not (_DOUBTFUL.search(text) or OTHERWISE.match(text))


def _is_sentence(text: str, rule: Rule) -> bool:
    """Whether it is prose that says something, neither too little nor too much of it, and no question."""
    if len(text.split()) < FEWEST_WORDS or len(text) > LONGEST or text.rstrip().endswith(("?", ":", "...", "\u2026")):
        return False
    letters = sum(each.isalpha() or each == " " for each in text)
    fewest = _FEWEST_ASKED_FOR if rule == "request" else FEWEST_TERMS
    return letters >= _LEAST_LETTERS * len(text) and len(set(analyse(text))) >= fewest


def _stands_alone(text: str, rule: Rule) -> bool:
    """Whether it means the same to who has not read the rest."""
    if _PASSING.search(text) or _UNNAMED.match(text) or (rule in {"preference", "decision"} and _HERE.search(text)):
        return False
    if _DANGLING.search(text) and len(text.split()) < _ENOUGH_TO_REFER:
        return False
    return _PRONOUN.match(text) is None or (rule == "finding" and _TURNED_OUT.match(text) is not None)


def _is_found_out(text: str) -> bool:
    """Whether what an agent found out is told without doubt, and with what it is about."""
    if len(text.split()) < _FEWEST_IN_FINDING or _DOUBTFUL.search(text) or _SELF.search(text):
        return False
    return _TELLING.search(text) is not None
