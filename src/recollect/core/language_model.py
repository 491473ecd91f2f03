"""A language model that reads memories: what it must offer, and what a store keeps of its use."""

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from recollect.core.concepts import Extraction, Unread


class LanguageModel(Protocol):
    """An extractor that is asked over a network and may fail for single texts. `service/extract_llm.py` holds it."""

    @property
    def name(self) -> str:
        """Who reads: whatever reads otherwise has another name."""

    def read(self, texts: Sequence[str]) -> list[Extraction | Unread]:
        """Read what each text mentions and says, in order; none is sent that its budget has no room for."""

    def is_same(self, name: str, other: str) -> bool:
        """Say whether two names stand for the same thing."""


class Budgets(Protocol):
    """What language models may use, and what they answered: both shared by all who ask, in whatever process."""

    def limit(self, extractor: str, calls: int, tokens: int) -> None:
        """Let an extractor ask so often and use so many tokens, what it used already included."""

    def grant(self, extractor: str, tokens: int) -> bool:
        """Take one call and so many tokens from what is left, or say that it is not enough; without a limit it is not.

        One step for all who ask at once: together they are granted no more than the limit.
        """

    def settle(self, extractor: str, unused: int) -> None:
        """Give back tokens that were granted and not used; less than none if more were."""

    def recalled(self, extractor: str, space: str, texts: Collection[str]) -> dict[str, Extraction]:
        """Give what was answered for those of some texts that were asked about before."""

    def claim(self, extractor: str, space: str, texts: Collection[str]) -> set[str]:
        """Give those of some texts that are the caller's to ask about: neither answered nor asked about by others."""

    def release(self, extractor: str, space: str, texts: Collection[str]) -> None:
        """Leave texts that were claimed and not answered to others."""

    def remember(self, extractor: str, space: str, answers: Mapping[str, Extraction]) -> None:
        """Keep what was answered for texts that were claimed; of one that is gone meanwhile nothing is kept."""
