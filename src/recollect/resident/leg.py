"""The dense leg of a process that has no time for a model: it asks one that has it loaded.

The question is sent when the leg is made, so that it is on its way while the other legs search, and the answer is read
when the leg's turn comes.
"""

# The C module behind `socket`, whose own import would take a tenth of what a hook may spend.
import _socket
import time
from collections.abc import Sequence

from recollect.core.errors import LegError, LegTimeout
from recollect.core.hits import Evidence, Hit, Ref
from recollect.core.query import Query
from recollect.resident.wire import MOST_BYTES, from_answer, to_request

_CHUNK = 1 << 16


class ResidentLeg:
    name = "dense"
    least = -1.0

    def __init__(self, path: str, query: Query, depth: int, seconds: float) -> None:
        self._end = time.monotonic() + seconds
        self._asked = query.text
        self._socket = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
        try:
            self._socket.settimeout(seconds)
            self._socket.connect(path)
            self._send(to_request(query, depth, seconds))
        except OSError:
            self._socket.close()
            raise

    def search(self, query: Query, depth: int, seconds: float) -> Sequence[Hit]:
        try:
            if query.text != self._asked:
                raise LegError("it was asked about something else")
            return from_answer(self._read(min(seconds, self._end - time.monotonic())))[:depth]
        except TimeoutError:
            raise LegTimeout("the resident process did not answer in time") from None
        except (OSError, ValueError, LookupError, TypeError) as error:
            raise LegError(f"the resident process did not answer ({type(error).__name__})") from None
        finally:
            self._socket.close()

    def weigh(self, query: Query, ref: Ref) -> Evidence:  # noqa: ARG002 - nobody explains what a hook gave
        return Evidence("it was asked of another process")

    def _send(self, line: bytes) -> None:
        while line:
            line = line[self._socket.send(line) :]

    def _read(self, seconds: float) -> bytes:
        end = time.monotonic() + seconds
        read = b""
        while not read.endswith(b"\n") and len(read) < MOST_BYTES:
            if (left := end - time.monotonic()) <= 0:
                raise TimeoutError
            self._socket.settimeout(left)
            if not (chunk := self._socket.recv(_CHUNK)):
                break
            read += chunk
        return read


def ask_resident(path: str, query: Query, depth: int, seconds: float) -> ResidentLeg | None:
    """Ask whoever listens there; give nothing where nobody does."""
    if seconds <= 0:
        return None
    try:
        return ResidentLeg(path, query, depth, seconds)
    except OSError:
        return None
