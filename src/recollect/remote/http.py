"""One request to a hosted model: asked again while that may help and time is left, or an error that says what to do.

A request runs in a thread of its own that is left behind when its time is over: the client's own limits are for each
read, so that an answer that drips would never end, and a look-up of a name has no limit at all.
"""

import contextlib
import json
import random
import threading
import time
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from email.utils import mktime_tz, parsedate_tz
from functools import partial
from http import HTTPStatus
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from recollect.core.errors import RecollectError

if TYPE_CHECKING:
    import httpx2

TRIES = 5
FIRST_WAIT, LONGEST_WAIT = 0.5, 20.0
LARGEST_ANSWER = 64_000_000
LONGEST_QUOTE = 200

_ABOUT_THE_TEXT = (HTTPStatus.BAD_REQUEST, HTTPStatus.REQUEST_ENTITY_TOO_LARGE, HTTPStatus.UNPROCESSABLE_ENTITY)


@dataclass(frozen=True, slots=True)
class Pace:
    """How time passes, and chance: a test's own, if it must not wait."""

    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    chance: Callable[[], float] = random.random
    date: Callable[[], float] = time.time


@dataclass(frozen=True, slots=True)
class Key:
    """What a server wants to see, and the variable it is set by."""

    variable: str
    value: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class Purpose:
    """What a model is asked to do, for how long at most, and what is raised when it does not."""

    verb: str
    longest_request: float
    """In seconds, of one try."""
    meanwhile: str
    """What goes on without it."""
    error: type[RecollectError]
    busy: type[RecollectError]
    """It may answer later."""
    refused: type[RecollectError]
    """It will not take this text, now or later."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one try."""

    status: int = 0
    body: bytes = b""
    retry_after: str = ""
    failure: str = ""
    """Why there is no answer at all."""

    @property
    def may_pass(self) -> bool:
        passing = (HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_MANY_REQUESTS)
        return bool(self.failure) or self.status in passing or self.status >= HTTPStatus.INTERNAL_SERVER_ERROR


Around = Callable[[bytes, Callable[[], Outcome]], Outcome]
"""Makes one try with what is to be sent: who counts tries can raise instead, and sees what came of each."""


class Transport:
    """Posts to one address. `local` means that it is on this machine, so that no proxy may see the text."""

    def __init__(self, url: str, key: Key, purpose: Purpose, *, local: bool, pace: Pace) -> None:
        self._purpose = purpose
        if not (key.value.isascii() and key.value.isprintable()) or " " in key.value:
            raise purpose.error(f"{key.variable} holds what no key holds: set it to the key alone, on one line.")
        self._url = url
        self._host = urlsplit(url).netloc
        self._key = key
        self._local = local
        self._pace = pace
        self._opening = threading.Lock()
        self._opened: httpx2.Client | None = None

    def post(self, body: Mapping[str, object], seconds: float, around: Around = lambda _content, ask: ask()) -> object:
        """Give what the server answers, read as JSON, within so many seconds."""
        # What is no text in UTF-8 is sent as question marks: one such character must not keep the others waiting.
        content = json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
        deadline = self._pace.clock() + seconds
        outcome = Outcome(failure="there was no time left to ask")
        for tried in range(TRIES):
            left = deadline - self._pace.clock()
            if left <= 0:
                break
            limit = min(left, self._purpose.longest_request)
            outcome = around(content, partial(self._ask, content, limit))
            if not outcome.may_pass:
                return self._read(outcome)
            if tried + 1 < TRIES:
                self._wait(outcome, tried, deadline - self._pace.clock())
        raise self._purpose.busy(
            f"{self._host} does not {self._purpose.verb} now: {self._reason(outcome)}. See whether it runs, or try "
            f"again later: nothing is lost, and {self._purpose.meanwhile} meanwhile."
        )

    def _wait(self, outcome: Outcome, tried: int, left: float) -> None:
        """Wait as long as the server asks for, or else longer each time and by chance, so that clients spread out."""
        asked = self._asked_wait(outcome.retry_after)
        wait = min(LONGEST_WAIT, FIRST_WAIT * 2**tried) * self._pace.chance() if asked is None else asked
        if wait < left:
            self._pace.sleep(wait)
        elif asked is not None:
            raise self._purpose.busy(
                f"{self._host} asks to wait {asked:.0f} s: {self._reason(outcome)}. Try again then: nothing is lost, "
                f"and {self._purpose.meanwhile} meanwhile."
            )
        else:
            raise self._purpose.busy(
                f"{self._host} did not {self._purpose.verb} in time: {self._reason(outcome)}. Try again later."
            )

    def _asked_wait(self, retry_after: str) -> float | None:
        if retry_after.strip().isdecimal():
            return float(retry_after)
        date = parsedate_tz(retry_after)
        try:
            return None if date is None else max(0.0, mktime_tz(date) - self._pace.date())
        except (ValueError, OverflowError):
            return None  # It has the shape of a date, but is none.

    def _ask(self, content: bytes, seconds: float) -> Outcome:
        outcomes: list[Outcome] = []
        asking = threading.Thread(
            target=lambda: outcomes.append(self._exchange(content, seconds)),
            name=f"recollect-{self._purpose.verb}",
            daemon=True,
        )
        asking.start()
        asking.join(seconds)
        return outcomes[0] if outcomes else Outcome(failure=f"no answer in {seconds:.1f} s")

    def _exchange(self, content: bytes, seconds: float) -> Outcome:
        import httpx2

        until = time.monotonic() + seconds
        headers = {"content-type": "application/json", "accept": "application/json"}
        if self._key.value:
            headers["authorization"] = f"Bearer {self._key.value}"
        body = bytearray()
        try:
            with self._client().stream(
                "POST", self._url, content=content, headers=headers, timeout=seconds
            ) as response:
                for part in response.iter_bytes():
                    body += part
                    if time.monotonic() > until:
                        return Outcome(failure=f"no whole answer in {seconds:.1f} s")
                    if len(body) > LARGEST_ANSWER:
                        return Outcome(response.status_code, b"")
                return Outcome(response.status_code, bytes(body), response.headers.get("retry-after", ""))
        except httpx2.TimeoutException:
            return Outcome(failure=f"no answer in {seconds:.1f} s")
        except Exception as error:  # noqa: BLE001
            # Whatever it is, there is nobody in this thread to raise it to.
            return Outcome(failure=self._quote(str(error)) or type(error).__name__)

    def _client(self) -> "httpx2.Client":
        import httpx2

        with self._opening:
            if self._opened is None:
                # Redirects are not followed: they would lead text to a place that nobody named. Loading certificates
                # takes longer than a server on this machine takes to answer, and plain HTTP has no use for them.
                encrypted = self._url.startswith("https:")
                self._opened = httpx2.Client(verify=encrypted, trust_env=not self._local, follow_redirects=False)
                weakref.finalize(self, self._opened.close)
            return self._opened

    def _read(self, outcome: Outcome) -> object:
        with contextlib.suppress(ValueError, RecursionError):
            if outcome.status < HTTPStatus.MULTIPLE_CHOICES:
                return json.loads(outcome.body)
        said = self._reason(outcome)
        if outcome.status < HTTPStatus.MULTIPLE_CHOICES:
            raise self._purpose.error(
                f"{self._host} did not answer in JSON ({said}). See whether {self._url} is where to ask it."
            )
        if outcome.status < HTTPStatus.BAD_REQUEST:
            raise self._purpose.error(f"{self._host} sends on to another address ({said}): name that one instead.")
        if outcome.status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
            state = "refused the key that is set by" if self._key.value else "wants a key: set"
            raise self._purpose.error(f"{self._host} {state} {self._key.variable} (status {outcome.status}).")
        message = f"{self._host} refused to {self._purpose.verb}: {said}. See the model's name and its options."
        # It may be the text: too long, or nothing that the model can read.
        kind = self._purpose.refused if outcome.status in _ABOUT_THE_TEXT else self._purpose.error
        raise kind(message)

    def _reason(self, outcome: Outcome) -> str:
        if outcome.failure:
            return outcome.failure
        said = self._quote(_message(outcome.body))
        return f"status {outcome.status}{f', {said!r}' if said else ''}"

    def _quote(self, text: str) -> str:
        """Shorten what a server said; it may have repeated the key."""
        text = text.replace(self._key.value, "…") if self._key.value else text
        text = " ".join(text.split())
        return text if len(text) <= LONGEST_QUOTE else f"{text[:LONGEST_QUOTE]}…"


def _message(body: bytes) -> str:
    """Find the sentence for people in a provider's error: each keeps it elsewhere."""
    try:
        said = json.loads(body)
    except (ValueError, RecursionError):
        return ""
    for name in ("error", "message", "detail"):
        if isinstance(said, dict) and said.get(name):
            said = said[name]
    return said if isinstance(said, str) else json.dumps(said)
