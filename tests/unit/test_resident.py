"""A hook asks a process that has a model loaded: over a real socket, and whatever listens there."""

import json
import logging
import os
import socket
import stat
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path

import pytest

from hook_home import is_listened_at
from making import make_query, ref_of, wait_until
from recollect.config import read_config
from recollect.core.errors import LegError, LegTimeout
from recollect.core.hits import Evidence, Hit, Ref
from recollect.core.query import Query, Scope
from recollect.resident.leg import ResidentLeg, ask_resident
from recollect.resident.listen import LONGEST_PATH, Resident
from recollect.wiring import open_recollect, open_resident

QUERY = make_query("where do we deploy?", project="here", exclude=frozenset({ref_of(9).id}))


class KnownLeg:
    """A dense leg that finds the same memory for everything, and keeps what it was asked."""

    name = "dense"
    least = -1.0

    def __init__(self) -> None:
        self.asked: list[tuple[Query, int]] = []

    def search(self, query: Query, depth: int, seconds: float) -> Sequence[Hit]:
        assert seconds > 0
        self.asked.append((query, depth))
        if query.text == "trouble":
            raise LegError("no embedding model is set up")
        return [Hit(ref_of(1), 0.8, 0.5)]

    def weigh(self, query: Query, ref: Ref) -> Evidence:
        raise AssertionError((query, ref))


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "memory.sock")


@contextmanager
def _resident(path: str, leg: KnownLeg) -> Iterator[Resident]:
    resident = Resident(path, leg, "personal", seconds=0.01)
    resident.start()
    try:
        yield resident
    finally:
        resident.stop(60.0)


@contextmanager
def _listener(path: str, answer: bytes | None) -> Iterator[None]:
    """Listen and answer any question with these bytes; `None` answers nothing at all."""
    with closing(socket.socket(socket.AF_UNIX)) as listening:
        listening.bind(path)
        listening.listen()
        held: list[socket.socket] = []

        def serve() -> None:
            client = listening.accept()[0]
            held.append(client)
            if answer is not None:
                # Whoever asked may have gone.
                with client, suppress(OSError):
                    client.recv(1 << 16)
                    client.sendall(answer)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield
        thread.join(5)
        for client in held:
            client.close()


def _ask(path: str, query: Query = QUERY, seconds: float = 5.0) -> ResidentLeg:
    leg = ask_resident(path, query, 50, seconds)
    assert leg is not None
    return leg


def test_the_resident_answers_as_its_leg_does(path: str) -> None:
    """The question arrives as it was asked, and the hits come back as they were found."""
    known = KnownLeg()
    with _resident(path, known):
        wait_until(lambda: is_listened_at(path))
        assert list(_ask(path).search(QUERY, 50, 5)) == [Hit(ref_of(1), 0.8, 0.5)]
    assert (QUERY, 50) in [(query, depth) for query, depth in known.asked]
    assert not os.path.exists(path)


def test_it_warms_up_before_it_is_asked(path: str) -> None:
    """The model is loaded when the socket opens, not at the first prompt."""
    known = KnownLeg()
    with _resident(path, known):
        wait_until(lambda: bool(known.asked))
    assert known.asked[0][0].scope == Scope(("personal",))


def test_a_leg_that_fails_says_why(path: str) -> None:
    """What is wrong with the resident's leg is what is wrong with the hook's."""
    with _resident(path, KnownLeg()):
        wait_until(lambda: is_listened_at(path))
        leg = _ask(path, make_query("trouble"))
        with pytest.raises(LegError, match="no embedding model"):
            leg.search(make_query("trouble"), 50, 5)


def test_of_two_one_listens_and_the_other_takes_over(path: str) -> None:
    """Whoever holds the lock answers; when it ends, the next one does."""
    first, second = KnownLeg(), KnownLeg()
    with _resident(path, second) as later:
        wait_until(lambda: bool(second.asked))
        with _resident(path, first):
            assert _ask(path).search(QUERY, 50, 5)
            assert not first.asked
            later.stop()
            wait_until(lambda: bool(first.asked))
            wait_until(lambda: is_listened_at(path))
            assert _ask(path).search(QUERY, 50, 5)


def test_one_whose_socket_is_gone_listens_anew(path: str) -> None:
    """A folder that was cleaned up, or put back from a backup, does not end it."""
    with _resident(path, KnownLeg()):
        wait_until(lambda: is_listened_at(path))
        os.unlink(path)
        wait_until(lambda: is_listened_at(path))
        assert _ask(path).search(QUERY, 50, 60)


def test_one_that_ends_leaves_anothers_socket(tmp_path: Path) -> None:
    """In a folder that was made anew somebody else listens, and goes on doing so."""
    folder = tmp_path / "home"
    folder.mkdir()
    path = str(folder / "memory.sock")
    with ExitStack() as old:
        old.enter_context(_resident(path, KnownLeg()))
        wait_until(lambda: is_listened_at(path))
        folder.rename(tmp_path / "moved")
        folder.mkdir()
        with _resident(path, KnownLeg()):
            wait_until(lambda: is_listened_at(path))
            old.close()
            wait_until(lambda: is_listened_at(path))


def test_only_its_owner_may_ask(path: str) -> None:
    """The socket is readable by nobody else."""
    with _resident(path, KnownLeg()):
        wait_until(lambda: is_listened_at(path))
        wait_until(lambda: stat.S_IMODE(os.stat(path).st_mode) == 0o600)


@pytest.mark.parametrize("line", [b"\n", b"{}\n", b"[1]\n", b"\xff\xff\n", b'{"text": 5, "spaces": 3}\n'])
def test_nonsense_is_answered_and_survived(path: str, line: bytes) -> None:
    """Whatever somebody sends, the next question is answered."""
    with _resident(path, KnownLeg()):
        wait_until(lambda: is_listened_at(path))
        with closing(socket.socket(socket.AF_UNIX)) as client:
            client.connect(path)
            client.sendall(line)
            assert "failure" in json.loads(client.makefile("rb").readline())
        assert _ask(path).search(QUERY, 50, 5)


def test_nobody_there_is_no_leg(path: str) -> None:
    """Without a socket, or with one that nobody listens at any more, the hook goes without meaning."""
    assert ask_resident(path, QUERY, 50, 1.0) is None
    with closing(socket.socket(socket.AF_UNIX)) as dead:
        dead.bind(path)
    assert ask_resident(path, QUERY, 50, 1.0) is None
    assert ask_resident(path, QUERY, 50, 0.0) is None


def test_one_who_never_answers_is_left(path: str) -> None:
    """A process that hangs costs the leg, and no more than its time."""
    with _listener(path, None):
        leg = _ask(path, seconds=0.05)
        with pytest.raises(LegTimeout, match="in time"):
            leg.search(QUERY, 50, 5)


@pytest.mark.parametrize(
    "answer", [b"", b"\n", b"{}\n", b"[]\n", b'{"hits": [[1]]}\n', b'{"hits": 5}\n', b"\xff\n", b"7"]
)
def test_an_answer_that_is_none_is_a_leg_that_failed(path: str, answer: bytes) -> None:
    """Whatever comes back, the hook has an error of its own kind."""
    with _listener(path, answer):
        leg = _ask(path)
        with pytest.raises(LegError, match="did not answer"):
            leg.search(QUERY, 50, 5)


def test_another_question_is_refused(path: str) -> None:
    """The answer is to what was asked when the leg was made."""
    with _listener(path, b'{"hits": []}\n'), pytest.raises(LegError, match="something else"):
        _ask(path).search(make_query("another"), 50, 5)


def test_a_leg_without_time_does_not_wait(path: str) -> None:
    """A turn that comes too late is a leg that timed out, whatever the answer is."""
    with _listener(path, b'{"hits": []}\n'), pytest.raises(LegTimeout, match="in time"):
        _ask(path).search(QUERY, 50, 0.0)


def test_an_answer_in_pieces_is_read_to_its_end(path: str) -> None:
    """A long answer comes as the socket gives it."""
    hits = [[*ref_of(number), 0.5, 0.5] for number in range(2000)]
    with _listener(path, json.dumps({"hits": hits}).encode() + b"\n"):
        assert len(_ask(path).search(QUERY, 5000, 60)) == 2000


def test_nobody_explains_what_a_hook_gave(path: str) -> None:
    """Where the evidence is asked for, it says who was asked."""
    with _listener(path, b'{"hits": []}\n'):
        leg = _ask(path)
        assert "another process" in leg.weigh(QUERY, ref_of(1)).summary
        leg.search(QUERY, 50, 60)


def test_where_no_socket_can_be_made_it_is_tried_again(tmp_path: Path) -> None:
    """A folder that is missing, or was moved away for a while, is no end of it."""
    folder = tmp_path / "later"
    path = str(folder / "memory.sock")
    tried = threading.Event()

    class Waiting(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            assert "answered without meaning" in record.getMessage()
            tried.set()

    log = logging.getLogger("recollect.resident.listen")
    before, handler = log.level, Waiting()
    log.setLevel(logging.INFO)
    log.addHandler(handler)
    try:
        with _resident(path, KnownLeg()):
            assert tried.wait(60)
            log.removeHandler(handler)
            folder.mkdir()
            wait_until(lambda: is_listened_at(path))
            assert _ask(path).search(QUERY, 50, 60)
    finally:
        log.removeHandler(handler)
        log.setLevel(before)


def test_a_folder_too_deep_for_a_socket_does_without(tmp_path: Path) -> None:
    """Where no socket can be made, nothing is started, and stopping it is harmless."""
    resident = Resident(str(tmp_path / ("x" * LONGEST_PATH)), KnownLeg(), "personal")
    resident.start()
    resident.stop()
    assert not any(tmp_path.iterdir())


def test_a_system_without_such_sockets_does_without(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Windows has neither the sockets nor the lock, and serves all the same."""
    monkeypatch.delattr(socket, "AF_UNIX")
    monkeypatch.setitem(sys.modules, "recollect.resident.listen", None)
    config = read_config({"RECOLLECT_HOME": str(tmp_path), "RECOLLECT_PROJECT": ""})
    with open_recollect(config) as recollect:
        assert open_resident(recollect, config) is None
