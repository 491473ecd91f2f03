"""A language model as an extractor: notes in batches, one call each, and every call within a budget.

Before a call is made, the most that it could use is taken from the budget: a token is at least a byte of what is sent,
and the answer's are bounded by the request. Afterwards what the server says it did not use is given back. So all who
ask at once stay within the limit together, and whoever is killed in between has used too little, never too much.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from http import HTTPStatus
from typing import Any, Final

from recollect.core.concepts import Extraction, Unread
from recollect.core.errors import BudgetSpent, ExtractorBusy, ExtractorError, ReadingRefused
from recollect.core.language_model import Budgets
from recollect.core.learning import Candidate, Turn
from recollect.extractors.conversation import LEARN, TOKENS, read_candidates, word_turns
from recollect.extractors.naming import LlmName
from recollect.extractors.prompt import (
    COMPARE,
    READ,
    VERSION,
    Malformed,
    name_both,
    number_notes,
    read_notes,
    read_sameness,
)
from recollect.remote.http import Key, Outcome, Pace, Purpose, Transport

MOST_NOTES: Final = 8
"""In one call. More would share the instructions among them, and be lost together when the answer is malformed."""
MOST_CHARACTERS: Final = 16_000
TOKENS_A_NOTE: Final = 600
"""In the answer: at four characters a token, the triples of a passage of musique_train100 take 125, 336 at the 99th
percentile, and names come on top."""
TOKENS_BESIDES: Final = 64
SECONDS_A_CALL: Final = 600.0
READING: Final = Purpose("read", 300.0, "memories are found as before", ExtractorError, ExtractorBusy, ReadingRefused)


class LlmExtractor:
    def __init__(self, named: LlmName, key: Key, budgets: Budgets, pace: Pace | None = None) -> None:
        self.name: Final = f"llm {VERSION} {named}"
        if not key.value and not named.url:
            raise ExtractorError(f"{named} needs a key: set {key.variable}.")
        self._model = named.name
        self._budgets = budgets
        url = f"{named.address}/chat/completions"
        self._transport = Transport(url, key, READING, local=named.is_local, pace=pace or Pace())

    def read(self, texts: Sequence[str]) -> list[Extraction | Unread]:
        return [read for batch in _batches(texts) for read in self._read(batch)]

    def is_same(self, name: str, other: str) -> bool:
        try:
            return read_sameness(self._ask(COMPARE, name_both(name, other), TOKENS_BESIDES))
        except ReadingRefused:
            return False

    def learn(self, turns: Sequence[Turn], seconds: float) -> list[Candidate]:
        """Have a conversation read, in one call."""
        return read_candidates(self._ask(LEARN, word_turns(turns), TOKENS, seconds), turns)

    def _read(self, texts: Sequence[str]) -> list[Extraction | Unread]:
        """Have a batch read, or where that fails as a whole each note alone: one must not hold up the others."""
        try:
            content = self._ask(READ, number_notes(texts), TOKENS_BESIDES + TOKENS_A_NOTE * len(texts))
            return read_notes(content, texts)
        except ReadingRefused as error:
            reason = str(error)
        except Malformed:
            reason = f"{self.name} did not answer in the form that was asked for"
        if len(texts) == 1:
            return [Unread(reason)]
        return [read for text in texts for read in self._read([text])]

    def _ask(self, instructions: str, content: str, most_tokens: int, seconds: float | None = None) -> str:
        """Give the text that the model answers with."""
        body = {
            "model": self._model,
            "messages": [{"role": "system", "content": instructions}, {"role": "user", "content": content}],
            "temperature": 0,
            "max_tokens": most_tokens,
            "response_format": {"type": "json_object"},
        }
        answer = self._transport.post(
            body, SECONDS_A_CALL if seconds is None else seconds, self._within_budget(most_tokens)
        )
        try:
            return self._text_of(answer)
        except (AttributeError, LookupError, TypeError):
            raise ExtractorError(
                f"{self.name} did not answer as OpenAI does: see whether the server at its address speaks that way."
            ) from None

    def _text_of(self, answer: Any) -> str:  # noqa: ANN401 - JSON
        choice = answer["choices"][0]
        text = choice["message"].get("content")
        if choice["message"].get("refusal") or choice.get("finish_reason") == "content_filter":
            # Its words are not repeated: they may be the note's.
            raise ReadingRefused(f"{self.name} refused to read it.")
        if choice.get("finish_reason") == "length":
            raise ReadingRefused(f"{self.name} found more in it than an answer may hold.")
        return text if isinstance(text, str) else ""

    def _within_budget(self, most_tokens: int) -> Callable[[bytes, Callable[[], Outcome]], Outcome]:
        def send(content: bytes, ask: Callable[[], Outcome]) -> Outcome:
            most = len(content) + most_tokens
            if not self._budgets.grant(self.name, most):
                raise BudgetSpent(
                    f"{self.name} may not ask: one more call of up to {most:,} tokens would be more than its limit, "
                    "or none is set. `recollect concepts` shows what it used; `recollect concepts extract` takes a new "
                    "limit with --calls and --tokens."
                )
            outcome = ask()
            self._budgets.settle(self.name, most - _used(outcome, most))
            return outcome

        return send


def _used(outcome: Outcome, most: int) -> int:
    """Give the tokens that a try used, by the server's own word; where it gives none, the most that it could have."""
    if outcome.failure or outcome.status == HTTPStatus.REQUEST_TIMEOUT:
        return most
    if HTTPStatus.BAD_REQUEST <= outcome.status < HTTPStatus.INTERNAL_SERVER_ERROR:
        # It was turned away before a model saw it.
        return 0
    try:
        used = json.loads(outcome.body)["usage"]["total_tokens"]
    except (LookupError, TypeError, ValueError, RecursionError):
        return most
    return used if type(used) is int and used >= 0 else most


def _batches(texts: Sequence[str]) -> Iterator[Sequence[str]]:
    batch: list[str] = []
    for text in texts:
        if batch and (len(batch) == MOST_NOTES or sum(map(len, batch)) + len(text) > MOST_CHARACTERS):
            yield batch
            batch = []
        batch.append(text)
    if batch:
        yield batch
