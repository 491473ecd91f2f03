"""What of an extraction every store keeps: names that can be kept, each once, and what is said of two of them."""

from collections.abc import Mapping
from typing import NamedTuple

from recollect.core.concepts import Extraction, Mention, MentionKind, fold, one_line
from recollect.core.memory import is_label
from recollect.values import value


class Named(NamedTuple):
    """A concept as a memory names it."""

    name: str
    kind: MentionKind


@value
class Sifted:
    mentions: Mapping[str, Named]
    """What is mentioned, by its folded name."""
    relations: tuple[tuple[str, str, str], ...]
    """Subject and object by their folded names, the relation between them."""


def sift(read: Extraction) -> Sifted:
    """Leave out what cannot be kept. Whoever says something of a concept mentions it."""
    mentions: dict[str, Named] = {}
    for mention in read.mentions:
        _note(mentions, mention)
    relations: dict[tuple[str, str, str], None] = {}
    for each in read.relations:
        ends = Mention(each.subject), Mention(each.object)
        relation = one_line(each.relation)
        if is_label(relation) and all(is_label(fold(end.name)) for end in ends):
            for end in ends:
                _note(mentions, end)
            relations[fold(each.subject), relation, fold(each.object)] = None
    return Sifted(mentions, tuple(relations))


def _note(mentions: dict[str, Named], mention: Mention) -> None:
    folded = fold(mention.name)
    if is_label(folded):
        mentions.setdefault(folded, Named(one_line(mention.name), mention.kind))
