"""Asks the legs, each in its own time: one that fails or is late is left out, and the rest answers."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

from recollect.core.errors import EmbedderError, LegError
from recollect.core.hits import Hit, LegAnswer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recollect.core.ports import Leg
    from recollect.core.query import Query


def ask_legs(
    legs: Sequence[Leg], query: Query, depth: int, seconds: float, *, in_turn: bool = False
) -> tuple[LegAnswer, ...]:
    """Ask all legs at once. A leg stops by itself when its time is over; one that does not is not waited for.

    Those that share a connection are asked in turn, here and now, each with all its time.
    """
    if in_turn:
        return tuple(_Inquiry(leg, query, depth, seconds).answer() for leg in legs)
    inquiries = [_Inquiry(leg, query, depth, seconds) for leg in legs]
    for inquiry in inquiries:
        inquiry.start()
    end = time.monotonic() + seconds
    return tuple(inquiry.answer_by(end) for inquiry in inquiries)


class _Inquiry:
    def __init__(self, leg: Leg, query: Query, depth: int, seconds: float) -> None:
        self._leg = leg
        self._arguments = (query, depth, seconds)
        self._thread = threading.Thread(target=self._run, name=f"leg {leg.name}", daemon=True)
        self._hits: Sequence[Hit] = ()
        self._failure: str | None = None
        self._milliseconds = 0.0

    def start(self) -> None:
        self._thread.start()

    def answer_by(self, end: float) -> LegAnswer:
        self._thread.join(max(0.0, end - time.monotonic()))
        if self._thread.is_alive():
            seconds = self._arguments[2]
            late = f"it took longer than {seconds * 1000:.0f} ms"
            return LegAnswer(self._leg.name, least=self._leg.least, milliseconds=seconds * 1000, failure=late)
        return self._answer()

    def answer(self) -> LegAnswer:
        self._run()
        return self._answer()

    def _answer(self) -> LegAnswer:
        return LegAnswer(
            self._leg.name,
            tuple(self._hits),
            self._leg.least,
            self._milliseconds,
            self._failure,
            cut=len(self._hits) >= self._arguments[1],
        )

    def _run(self) -> None:
        began = time.perf_counter()
        try:
            self._hits = self._leg.search(*self._arguments)
        except Exception as error:  # noqa: BLE001 - whatever is wrong with one leg, the others answer
            self._failure = describe_failure(error)
        self._milliseconds = (time.perf_counter() - began) * 1000


def describe_failure(error: Exception) -> str:
    """Say why a part of a recall is left out."""
    if isinstance(error, (LegError, EmbedderError)):
        return str(error).rstrip(".")
    return f"it failed: {error}" if str(error) else f"it failed: {type(error).__name__}"
