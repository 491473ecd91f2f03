"""Work that waits and is done before a recall, which it may hold up for so long and no longer."""

import threading
import time
from collections.abc import Callable
from contextlib import suppress

from recollect.core.errors import RecollectError

IsOver = Callable[[], bool]
"""Whether the time is over, asked between two pieces of the work."""


def work_for(seconds: float, work: Callable[[IsOver], object], name: str) -> None:
    """Do some of what waits. It is not waited for longer than that, whatever it waits for itself.

    Nothing depends on it: what is not done stays queued, and trouble is met again by whoever does the rest.
    """
    end = time.monotonic() + seconds

    def run() -> None:
        with suppress(RecollectError):
            work(lambda: time.monotonic() > end)

    thread = threading.Thread(target=run, name=name, daemon=True)
    thread.start()
    thread.join(seconds)
