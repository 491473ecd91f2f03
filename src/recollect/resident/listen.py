"""Answers hooks by meaning, in a process that runs anyway and has the model loaded: `recollect mcp`.

Of several such processes one listens, whoever holds the lock beside the socket; when it ends, another takes over. The
socket lies in the store's own folder, which only its owner can enter.
"""

import fcntl
import logging
import os
import socketserver
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final

from recollect.core.errors import RecollectError
from recollect.core.ports import Leg
from recollect.core.query import Query, Scope
from recollect.resident.wire import MOST_BYTES, from_request, to_answer, to_failure

SECONDS_BETWEEN_TRIES: Final = 2.0
SECONDS_A_CLIENT: Final = 5.0
"""After which a client that neither asks nor reads is left."""
_WARM_SECONDS: Final = 120.0
LONGEST_PATH: Final = 100
"""What every system takes as the path of a socket."""

_log = logging.getLogger(__name__)


class Resident:
    def __init__(self, path: str, leg: Leg, space: str, seconds: float = SECONDS_BETWEEN_TRIES) -> None:
        self._path = path
        self._leg = leg
        self._space = space
        self._seconds = seconds
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="resident", daemon=True)

    def start(self) -> None:
        # With a folder too deep for a socket, hooks do without meaning.
        if len(os.fsencode(self._path)) <= LONGEST_PATH:
            self._thread.start()

    def stop(self, seconds: float = 1.0) -> None:
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join(seconds)

    def _run(self) -> None:
        while not self._stop.is_set():
            try:
                with _holding(self._path + ".lock") as held:
                    if held:
                        self._serve()
            except OSError as error:
                _log.info("hooks are answered without meaning: %s", error)
            self._stop.wait(self._seconds)

    def _serve(self) -> None:
        with suppress(FileNotFoundError):
            os.unlink(self._path)
        with _Server(self._path, self._leg) as server:
            os.chmod(self._path, 0o600)
            ours = _file_at(self._path)
            threading.Thread(target=self._warm, name="warming", daemon=True).start()
            try:
                # A folder may be moved away or made anew meanwhile: where nobody finds this one, it begins again.
                while not self._stop.is_set() and _file_at(self._path) == ours:
                    server.handle_request()
            finally:
                if _file_at(self._path) == ours:
                    os.unlink(self._path)

    def _warm(self) -> None:
        """Load the model and the vectors now: the first prompt would not wait for them."""
        with suppress(RecollectError):
            self._leg.search(Query("what is known", Scope((self._space,))), 1, _WARM_SECONDS)


class _Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True
    timeout = 0.2
    """After which it looks whether it is to stop."""

    def __init__(self, path: str, leg: Leg) -> None:
        self.leg = leg
        super().__init__(path, _Handler)

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing: a hook that hung up has nobody who would read it, and stderr is the client's."""


class _Handler(socketserver.StreamRequestHandler):
    timeout = SECONDS_A_CLIENT

    def handle(self) -> None:
        assert isinstance(self.server, _Server)  # noqa: S101 - it was made by that one
        line = self.rfile.readline(MOST_BYTES)
        began = time.monotonic()
        try:
            query, depth, seconds = from_request(line)
            answer = to_answer(self.server.leg.search(query, depth, seconds))
        except RecollectError as error:
            answer = to_failure(str(error))
        except (ValueError, LookupError, TypeError):
            answer = to_failure("the question was not understood")
        _log.debug("answered a hook in %.1f ms", (time.monotonic() - began) * 1000)
        self.wfile.write(answer)


def _file_at(path: str) -> tuple[int, int] | None:
    """Tell a file from any other that may be there under the same name."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


@contextmanager
def _holding(path: str) -> Iterator[bool]:
    """Hold a lock that the system takes back when the process ends, however it ends."""
    handle = os.open(path, os.O_CREAT | os.O_RDWR, 0o600)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
        else:
            yield True
    finally:
        os.close(handle)
