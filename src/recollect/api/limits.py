"""How much one key may ask at a time: counted here, in the process that is asked, and nowhere else.

Two processes let through twice as much. A limit across processes would cost every request a write to a shared place.
"""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from recollect.core.errors import TooMany

_MOST_BUCKETS: Final = 10_000


@dataclass(frozen=True, slots=True)
class Limits:
    """What a process lets through; 0 lets through everything, except for sizes."""

    body_bytes: int = 1 << 20
    """The longest body that is not a stream."""
    line_bytes: int = 8 << 20
    """The longest line of an import: a memory with all its past."""
    body_seconds: float = 30.0
    """How long a body may take to arrive; of a stream, how long its next piece may."""
    requests_per_second: float = 100.0
    """How many requests a key may make in the long run."""
    burst: int = 200
    """How many of them at once, after a pause."""
    recalls_at_once: int = 16
    """How many recalls of one key may run side by side."""
    imports_at_once: int = 2
    """How many imports of one key may run side by side."""
    import_threads: int = 8
    """How many imports of all keys: each holds a thread while it waits for its client, so they have their own."""
    threads: int = 40
    """How many requests are worked on side by side; the rest wait."""


class Throttled(TooMany):
    """Too many at a time, and when to try again."""

    def __init__(self, message: str, seconds: float) -> None:
        super().__init__(message)
        self.seconds = seconds


class Rate:
    """A bucket for each key, that a request takes a token from and that fills again with time."""

    def __init__(self, per_second: float, burst: int, now: Callable[[], float] = time.monotonic) -> None:
        self._per_second = per_second
        self._burst = float(max(1, burst))
        self._now = now
        self._buckets: dict[str, tuple[float, float]] = {}
        """What is left in each bucket, and when that was counted."""
        self._lock = threading.Lock()

    def take(self, key: str) -> None:
        if not self._per_second:
            return
        with self._lock:
            now = self._now()
            left, since = self._buckets.get(key, (self._burst, now))
            left = min(self._burst, left + (now - since) * self._per_second)
            if left < 1:
                seconds = (1 - left) / self._per_second
                raise Throttled(f"This key asks more than {self._per_second:g} times a second: wait a little.", seconds)
            self._buckets[key] = (left - 1, now)
            if len(self._buckets) > _MOST_BUCKETS:
                self._forget_full(now)

    def _forget_full(self, now: float) -> None:
        """Drop the buckets that are full again: a new one is no different."""
        filling = self._burst / self._per_second
        self._buckets = {key: each for key, each in self._buckets.items() if now - each[1] < filling}


class Turns:
    """How many of one key run side by side."""

    def __init__(self, most: int, what: str = "recalls") -> None:
        self._most = most
        self._what = what
        self._running: dict[str, int] = {}
        self._lock = threading.Lock()

    @contextmanager
    def take(self, key: str) -> Iterator[None]:
        with self._lock:
            running = self._running.get(key, 0)
            if self._most and running >= self._most:
                raise Throttled(f"{running} {self._what} of this key are running already: wait for one of them.", 1.0)
            self._running[key] = running + 1
        try:
            yield
        finally:
            with self._lock:
                left = self._running.pop(key) - 1
                if left:
                    self._running[key] = left
