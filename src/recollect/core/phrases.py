"""How people say what is to last: the beginnings of sentences that the rules of `learning` know.

Each pattern stands at the start of a sentence, or of a part of one that stands alone; apostrophes are straight.
"""

import re
from typing import Final


def _begins(*patterns: str) -> re.Pattern[str]:
    return re.compile(f"(?:{'|'.join(patterns)})", re.IGNORECASE)


def _one_of(*words: str) -> str:
    return f"(?:{'|'.join(words)})"


_THIS: Final = r"(?:this|that|it|any of (?:this|that|it)|what i (?:just )?(?:say|said|tell|told))"
PRIVATE: Final = re.compile(
    r"\b(?:(?:do not|don't|no need to|never|please not|must not|mustn't|should not|shouldn't) (?:\w+ ){0,2}?(?:"
    r"(?:remember|memori[sz]e|note|save|store|keep a note|write (?:this|that|it) down)\b(?! to\b)"
    rf"|(?:record|learn|learn from|retain|keep) {_THIS}\b(?! \w+ing\b)"
    rf"|(?:add|put|commit|write) (?:{_THIS} )?(?:down )?(?:in|into|to) (?:\w+ )?(?:memory|memories|recollect)\b)"
    r"|(?:this|that|it|nothing|none)\b[^.?!]{0,30}? (?:must|should|may|need|is|are)(?: not|n't)?(?: to)? be "
    r"(?:remembered|memori[sz]ed|learned|recorded)\b"
    r"|this (?:is|stays|remains) (?!an? )(?:\w+ )?(?:confidential|private|secret|between us)\b"
    rf"|keep {_THIS} (?:\w+ )?(?:confidential|private|secret|between us|between you and me|to yourself)\b"
    r"|(?:just|strictly) between (?:us|you and me)\b"
    rf"|off the record|(?<!n't )(?<!not )(?<!never )forget (?:about )?{_THIS}(?: again\b|[.!]|$))",
    re.IGNORECASE,
)
"""Somewhere in a turn: that it is not to be kept."""
JOKING: Final = re.compile(r"\b(?:lol|haha+|jk|just kidding|only joking)\b", re.IGNORECASE)

_OPENERS: Final = _one_of(
    *(
        "ok(?:ay)?",
        "a+h+",
        "oh",
        "right",
        "yes",
        "yeah",
        "yep",
        "well",
        "so",
        "also",
        "and",
        "but",
        "btw",
        "by the way",
    ),
    *(
        "thanks",
        "thank you",
        "fair",
        "then",
        "h+m+",
        "alright",
        "all right",
        "great",
        "perfect",
        "nice",
        "good",
        "cool",
    ),
    *("sure", "sorry", "one more thing", "another thing", "again"),
)
OPENER: Final = re.compile(rf"^(?:{_OPENERS}\b[,.!:;\s\u2014-]*)+", re.IGNORECASE)
"""What a sentence may begin with without saying anything."""
INSIDE: Final = re.compile(r"(?<=[:;]) |(?<=\w) - |(?<=,) (?=(?:also|and|but|so) )")
"""Where in a sentence a statement may begin that stands behind an introduction."""

_REMEMBER: Final = _one_of(
    *(
        "remember",
        "memori[sz]e",
        "keep in mind",
        "bear in mind",
        "do not forget",
        "don't forget",
        "never forget",
        "note",
    ),
    *("take note", "make a note", "save to memory", "add to memory", "store in memory", "note down"),
)
_FOR_LATER: Final = _one_of(
    *("for the record", "(?:a )?note (?:for later|to self)", "for future reference", "for later", "for next time"),
    *("heads[- ]up", "(?:an )?important(?: to know)?", "(?:one )?(?:more )?thing to (?:remember|note|know)"),
)
REQUEST: Final = re.compile(
    r"^(?:please |and |also |can you |could you |you should |you must )?(?:"
    rf"{_REMEMBER}(?: (?:this|the following|for later|for (?:the )?future|for next time|please))*"
    r"(?: that |\s*[:,\u2014-]\s*|(?= (?:the|our|my|we|all|every|each|in|on|when|i)\b))"
    rf"|{_FOR_LATER}\s*[:,\u2014-]\s*(?:that )?)(?P<rest>.+)$",
    re.IGNORECASE,
)
"""Asks to keep the rest of the sentence."""
TASK: Final = _begins(r"(?:to|me to|you to|and|when we|how|what|why|who|where|last time)\b")
"""What is asked to be remembered and is no statement: "remember to push"."""
LISTING: Final = re.compile(r"\b(?:remember|memori[sz]e|keep in mind|note)\b[^.?!]*:$", re.IGNORECASE)
"""Asks to keep the list that follows."""
LASTING: Final = _begins(
    r"(?:from now on|from here on|going forward|henceforth|in (?:the )?future|for all future \w+),? (?!i\b|i'|it\b)\w+",
    r"in this (?:repo(?:sitory)?|project|codebase|team|company),? \w+",
)
VERB: Final = re.compile(
    r"\b(?:is|are|was|were|has|have|had|must|should|shall|can|cannot|could|may|will|do|does|did|never|always|only|"
    r"\w+n't|\w{2,}(?:s|ed|es))\b",
    re.IGNORECASE,
)

_HAPPENS: Final = r"(?:(?:really|quite|actually|even|just) )?" + _one_of(
    *("get", "got", "see", "saw", "seen", "had", "have", "did", "said", "thought", "heard", "knew", "know", "noticed"),
    *(
        "tried",
        "understood",
        "understand",
        "remember",
        "mind",
        "forget",
        "been",
        "was",
        "were",
        "is",
        "are",
        "happens?",
    ),
    *(
        "happened",
        "works?",
        "worked",
        "fails?",
        "failed",
        "seems?",
        "wondered",
        "thinks?",
        "struggle",
        "worry",
        "on",
        "off",
    ),
)
"""What one always or never does without meaning to."""
PREFERENCE: Final = _begins(
    r"(?:i|we)(?:'d| would)?(?: (?:really|strongly|generally|usually|much|very much))? prefer (?!not\b)\w+",
    rf"(?:i|we) (?:always|never) (?!{_HAPPENS}\b)[a-z]+\b",
    r"(?:i|we) (?:don't|do not) (?:ever )?(?:want|like) (?:\w+ing|any|to see) \w+",
    r"(?:i|we) (?:hate|dislike) \w+",
    r"(?:i|we)(?:'d| would) rather (?:have|use|see|keep|write|read) \w+ .*\bthan\b",
    r"(?:i|we) want (?!to\b).*\b(?:always|never|everywhere|every time|in general)\b",
    rf"(?:please |you should |you must )?(?:always|never|do not ever|don't ever) (?!{_HAPPENS}\b)[a-z]+ \w+",
    r"(?:please )?(?:use|prefer|write|run|call|name|import|format) .+ "
    r"(?:instead of|rather than|and not|never) (?!\w+ing\b)\w+",
    r"(?:please )?prefer \w+ over \w+",
    r"our (?:\w+ )?(?:convention|policy|rule|standard|guideline)s? (?:for [\w ]+ )?(?:is|are) \w+",
    r"(?:please )?stop (?:using|adding|writing|putting|making|creating|importing) \w+",
)

_CHOOSE: Final = _one_of(
    *("use", "go with", "keep", "drop", "adopt", "switch to", "move to", "stay (?:on|with)", "stick (?:with|to)"),
    *("support", "target", "standardi[sz]e on", "settle on", "deprecate"),
)
DECISION: Final = _begins(
    rf"let(?:'s| us) {_CHOOSE} .*\b(?:because|since|as|so that|due to|for|otherwise)\b \w+",
    r"(?:as )?we(?:'ve| have|'re| are)?(?: just| now| all| finally)? (?:decided|agreed|chosen|chose|opted|settled)\b"
    r".* (?:to|on|for|that|against) (?!meet\b|talk\b|wait\b|discuss\b)\w+ \w+",
    r"i(?:'ve| have)? decided (?:to (?:use|keep|drop|go with|support|move|switch)|on|that|against) \w+",
    rf"we(?:'ll| will|'re going to| are going to) {_CHOOSE} \w+",
    r"(?:the |our )?decision(?: is| was|:) (?:to |that )?\w+ \w+",
)

WRONG: Final = re.compile(
    r"^(?:(?:no|nope|wrong|incorrect|not quite|not true|you(?:'re| are) (?:wrong|mistaken)|"
    r"that(?:'s| is) (?:wrong|not (?:right|correct|true)|incorrect|outdated|no longer true))\b[,.:;!\s\u2014-]+)+",
    re.IGNORECASE,
)
"""That what was said before is not so."""
ACTUALLY: Final = re.compile(r"^(?:actually|in fact|careful)[,:]? +", re.IGNORECASE)
CONTRAST: Final = re.compile(r", (?:and )?not ", re.IGNORECASE)
ASKING: Final = re.compile(
    r",? (?:so |and |but )?(?:can|could|would|will) (?:you|we|i) .*$"
    r"|(?:,| -) (?:so |and |but )?(?:what|how|why|should|any)\b.*$"
    r"|, (?:so|and|but) i(?:'m| am|'ve been| was|'d like| want| need)\b.*$",
    re.IGNORECASE,
)
"""What a statement may go over into: a question, or a wish for now, that is not part of it."""
_NO_SUBJECT: Final = _one_of(
    *("let", "let's", "please", "use", "do", "don't", "try", "make", "i", "you", "just", "there", "not", "what", "why"),
    *("how", "we"),
)
_STATES: Final = _one_of(
    *("is", "are", "was", "were", "has", "have", "must", "can", "cannot", "goes", "lives?", "runs?", "listens?"),
    *("belongs?", "comes?", "uses?", "needs?", "expects?", "returns?", "reads?", "writes?", "stores?", "means?"),
)
STATED: Final = re.compile(rf"^(?!{_NO_SUBJECT}\b)(?:[\w./'`-]+ ){{1,8}}?{_STATES}\b \S+", re.IGNORECASE)
"""A sentence that says what something is or does."""

FINDING: Final = _begins(
    r"(?:so )?(?:the|our) (?:root|real|actual|underlying|true) (?:cause|problem|reason|issue|culprit)\b[^.]{0,60}? "
    r"(?:was|is|turned out to be) (?:that )?\w+",
    r"(?:as )?it turn(?:s|ed) out,? that \w+",
    r"the (?:problem|issue|bug|failure|crash) (?:was|is) (?:that|caused by|due to) \w+",
)
"""How an agent tells what it found out."""
FOLLOWS: Final = _begins(
    r"(?:they|it|this|that|these|those|he|she|because|otherwise|since|the reason)(?:'\w+)?\b(?!.*\?$)"
)
"""A sentence that goes on with what the one before is about."""
