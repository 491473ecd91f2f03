"""What a language model answered, as every store keeps it: JSON, found by the digest of the text asked about."""

import hashlib
import json
from typing import Final

from recollect.core.concepts import Extraction, Mention, Relation
from recollect.core.errors import NotFound, Refused

CLAIM_SECONDS: Final = 900
"""After so long, whoever asked has died: a call is given up after ten minutes (`extractors/llm`)."""
MOST: Final = 1 << 53
"""The highest limit, and the most of it that one call may take: sums of both still fit a column."""


def digest_of(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()


def to_answer(read: Extraction) -> str:
    mentions = [(mention.name, mention.kind) for mention in read.mentions]
    relations = [(each.subject, each.relation, each.object) for each in read.relations]
    return json.dumps({"mentions": mentions, "relations": relations}, ensure_ascii=False, separators=(",", ":"))


def from_answer(kept: str) -> Extraction:
    read = json.loads(kept)
    return Extraction(
        tuple(Mention(*mention) for mention in read["mentions"]),
        tuple(Relation(*relation) for relation in read["relations"]),
    )


def check_limits(calls: int, tokens: int) -> None:
    if not (0 <= calls <= MOST and 0 <= tokens <= MOST):
        raise Refused("A limit of calls or tokens is a whole number from 0 up: 0 stops a model.")


def no_extractor(name: str) -> NotFound:
    return NotFound(f"There is no extractor {name!r}: `recollect concepts` lists them.")
