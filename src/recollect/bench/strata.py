"""The kinds of question, under one name across sets."""

from collections.abc import Mapping
from typing import Final

EXACT: Final = "exact"
PARAPHRASE: Final = "paraphrase"
MULTI_HOP: Final = "multi-hop"

WHOLE_SETS: Final[Mapping[str, str]] = {
    "banking77": PARAPHRASE,
    "musique_train100": MULTI_HOP,
    "musique_dev200": MULTI_HOP,
    "2wiki1000": MULTI_HOP,
    "hotpotqa_dev200": MULTI_HOP,
}
"""Sets all of one kind, whatever finer names their questions carry. Other sets' own names stand (locomo's
multi-hop is called that already)."""


def stratum_of(name: str, own: str | None) -> str:
    return WHOLE_SETS.get(name) or own or name
