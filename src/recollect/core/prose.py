"""What somebody wrote in a conversation themselves: text in, its paragraphs in sentences out.

Left out is whatever else stands in a turn: what hooks and clients injected, code, quotations, logs, tables, and all
that comes after a mention of who wrote it. Rules that learn read only what is left.
"""

import re
from collections.abc import Iterator
from typing import Final

from recollect.core.injection import CLOSING, OPENING
from recollect.core.tags import cut_tagged
from recollect.values import value

LONGEST_TURN: Final = 6000
"""Characters from which a turn is taken for pasted text with a word before or behind it."""

_INJECTED: Final = re.compile(rf"{re.escape(OPENING)}\b.*?(?:{re.escape(CLOSING)}|\Z)", re.DOTALL)
_TAG: Final = r"<([A-Za-z][\w-]*)\b[^<>]*>"
# A reminder that was cut off ends nowhere.
_OPEN_TAG: Final = re.compile(r"<(?:system-reminder|command-[a-z]+|local-command-[a-z]+)\b.*", re.DOTALL)
_FENCED: Final = re.compile(r"(```|~~~|\"\"\"|''').*?(?:\1|\Z)", re.DOTALL)
_BLANK_LINES: Final = re.compile(r"\n[ \t]*\n")

_QUOTED: Final = re.compile(r"\s*(?:>|\|.*\||#{1,6} |<)")
_CODE: Final = re.compile(
    r"(?: {4}|\t)|\s*(?:[$%#>]{1,2} |\w+@[\w-]+[:~]|(?:def|class|import|from|return|const|let|var|function|public|"
    r"SELECT|INSERT|UPDATE|ALTER|CREATE|diff|index|@@) .*[({;:=,]\s*$|[+-]{3} )|.*[{};]\s*$|\s*[\w.]+\(.*\)\s*$"
)
_LOGGED: Final = re.compile(
    r"\s*(?:\[?\d{4}-\d\d-\d\d[T ]\d\d:|\[?\d\d:\d\d:\d\d|[A-Z][a-z]{2} +\d{1,2} \d\d:\d\d|"
    r"(?:\[?(?:DEBUG|INFO|NOTE|WARN(?:ING)?|ERROR|FATAL|TRACE|CRITICAL)\b)|Traceback |File \"|at [\w.$<>]+\(|E {2,}|"
    r"[\w.]*(?:Error|Exception|Warning): )"
)
_ITEM: Final = re.compile(r"\s*(?:[-*+\u2022]|\d{1,2}[.)])\s+")
_ATTRIBUTED: Final = re.compile(
    r"(?i)\b(?:wrote|writes|posted|quoting|pasted|pasting|(?:he|she|they|\w+) (?:said|says)|"
    r"(?:message|e-?mail|mail|ticket|comment|review|feedback|answer|response|output|log|error|readme|docs?|documentation|"
    r"changelog|release notes|article|blog|spec|issue|thread|channel)\b[^.?!\n]*(?:says?|said|reads|:)|"
    r"\w+ (?:suggest|recommend|complain|advise|warn|claim|insist)(?:e?s|e?d)\b[^.?!\n]*:)"
)
_TO_WORK_ON: Final = re.compile(
    r"(?i)^(?:(?:please|now|and|then|can you|could you),? )*(?:(?:translate|rewrite|rephrase|reword|paraphrase|"
    r"proofread|summari[sz]e|shorten|polish|(?:fix|check|correct) (?:the|my) (?:grammar|spelling|wording|english))\b"
    r"[^.?!\n]*|(?:change|set|replace|rename) [^.?!\n]*(?:to|with|by)):"
)
"""Hands over a text for the agent to do something with: what it says is not said to the agent."""
_ABBREVIATION: Final = re.compile(
    r"(?i)(?:\b(?:e\.g|i\.e|etc|vs|cf|approx|incl|resp|no|fig|sec|dr|mr|ms|st)|\b[A-Z])\.$"
)
_SENTENCE_END: Final = re.compile(r"(?<=[.!?])[\"')\]]?\s+|(?<=[.!?]['\")\]])\s+")
_SPACES: Final = re.compile(r"\s+")


@value
class Sentence:
    text: str
    item: bool = False
    """Whether it stands in a list."""


Paragraph = tuple[Sentence, ...]


def injected_in(text: str) -> list[str]:
    """Give what a hook of ours put into a text."""
    return [each.group() for each in _INJECTED.finditer(text)]


def without_injected(text: str) -> str:
    """Give a text without what hooks and clients put into it."""
    text = cut_tagged(_TAG, _INJECTED.sub("\n\n", text), "\n\n")
    return _OPEN_TAG.sub("", text).replace("\u2019", "'")


def read_prose(text: str) -> list[Paragraph]:
    """Give the paragraphs that are the writer's own sentences."""
    own = _FENCED.sub("\n\n", without_injected(text))
    blocks = [block for block in _BLANK_LINES.split(own) if block.strip()]
    if len(own) > LONGEST_TURN:
        blocks = [block for block in (*blocks[:1], *blocks[1:][-1:]) if len(block) <= LONGEST_TURN]
    paragraphs: list[Paragraph] = []
    for block in blocks:
        sentences: list[Sentence] = []
        for sentence in _sentences(block):
            if _ATTRIBUTED.search(sentence.text) or _TO_WORK_ON.match(sentence.text):
                # Whose words the rest is cannot be told.
                return [*paragraphs, tuple(sentences)] if sentences else paragraphs
            sentences.append(sentence)
        if sentences:
            paragraphs.append(tuple(sentences))
    return paragraphs


def _sentences(block: str) -> Iterator[Sentence]:
    for line in block.split("\n"):
        if not line.strip() or any(each.match(line) for each in (_QUOTED, _CODE, _LOGGED)):
            continue
        item = _ITEM.match(line)
        for part in split_sentences(line[item.end() :] if item else line):
            yield Sentence(part, item=item is not None)


def split_sentences(line: str) -> list[str]:
    """Cut a line where a sentence ends, and not behind an abbreviation."""
    parts: list[str] = []
    for part in _SENTENCE_END.split(line):
        clean = _SPACES.sub(" ", part).strip()
        if not clean:
            continue
        if parts and _ABBREVIATION.search(parts[-1]):
            parts[-1] = f"{parts[-1]} {clean}"
        else:
            parts.append(clean)
    return parts
