"""Keeps the active vector set and the concepts complete while a long-lived process runs, each in a thread of its own.

The queues are looked at every few seconds, whoever filled them: this process, another one, an import. Neither waits
for the other: concepts are read without any model, and while one is in trouble.
"""

import logging
import threading
import time
from collections.abc import Callable
from typing import Final

from recollect.core.errors import EmbedderBusy
from recollect.core.ports import Queued, Store
from recollect.service.embed import embed_waiting
from recollect.service.extract import SMALL_BATCH, Rules, extract_waiting
from recollect.service.gate import Gates

SECONDS_BETWEEN_LOOKS: Final = 2.0
SECONDS_AFTER_TROUBLE: Final = 300.0
"""A model that is missing or misconfigured is not mended by asking again at once."""
BUSY_SECONDS: Final = 30.0

_log = logging.getLogger(__name__)


class KeepUp:
    def __init__(self, store: Store, gates: Gates, seconds: float = SECONDS_BETWEEN_LOOKS) -> None:
        self._store = store
        self._gates = gates
        self._seconds = seconds
        self._stop = threading.Event()
        self._refused: dict[str, dict[Queued, str]] = {}
        """What each model refused: it is not sent again as long as it is the same."""
        self._threads = [
            threading.Thread(target=self._run, args=(look,), name=name, daemon=True)
            for name, look in {"embedding": self._embed, "reading": self._read}.items()
        ]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def stop(self, seconds: float = 1.0) -> None:
        """Ask it to end, and wait a little: what it has not finished stays queued."""
        self._stop.set()
        end = time.monotonic() + seconds
        for thread in self._threads:
            if thread.is_alive():
                thread.join(max(0.0, end - time.monotonic()))

    def _run(self, look: Callable[[], float]) -> None:
        pause = 0.0
        while not self._stop.wait(pause):
            pause = look()

    def _embed(self) -> float:
        """Embed what waits; give the seconds until the next look."""
        try:
            model = self._store.vectors.active()
            if model is not None:
                gate = self._gates.of(model)
                refused = self._refused.setdefault(model, {})
                embed_waiting(self._store, gate, stop=self._stop.is_set, refused=refused)
        except EmbedderBusy as error:
            _log.info("embedding waits: %s", error)
            return BUSY_SECONDS
        except Exception as error:  # noqa: BLE001 - whatever it is, it must not end the thread for good
            _log.warning("memories are not embedded: %s", error)
            return SECONDS_AFTER_TROUBLE
        return self._seconds

    def _read(self) -> float:
        """Read the concepts of what waits; give the seconds until the next look."""
        try:
            extract_waiting(self._store, Rules(), batch=SMALL_BATCH, stop=self._stop.is_set)
        except Exception as error:  # noqa: BLE001 - as above
            _log.warning("concepts are not read: %s", error)
            return SECONDS_AFTER_TROUBLE
        return self._seconds
