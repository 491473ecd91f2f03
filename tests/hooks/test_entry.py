"""A hook as a process: its arguments, its input, its end. What it does is tested beside it."""

import io
import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from making import wait_until
from recollect.hooks import clients, entry, pre_compact, prompt, session_start, stop
from recollect.hooks.clients import Event
from recollect.hooks.entry import _CHUNK, _give_up_at, _read_arguments, _read_input


class _Ended(BaseException):
    """Stands for the end of the process."""


class Process:
    """The system as a hook sees it: what stdin holds, piece by piece, what came out, and how often it was ended."""

    def __init__(self, *chunks: bytes) -> None:
        self.chunks = list(chunks)
        self.written = b""
        self.ended: list[int] = []

    def read(self, _handle: int, _size: int) -> bytes:
        return self.chunks.pop(0) if self.chunks else b""

    def write(self, handle: int, octets: bytes) -> int:
        """Take a few bytes at a time, as a full pipe may."""
        assert handle == 1
        self.written += octets[:7]
        return len(octets[:7])

    def _exit(self, code: int) -> None:
        self.ended.append(code)
        raise _Ended


@pytest.fixture
def begin(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Process]:
    """Give what runs a hook with these pieces of input, up to its end."""
    # A thread that outlived its test would end the process of all tests.
    monkeypatch.setattr(entry, "_give_up_at", lambda _end: None)

    def run(*arguments: str, chunks: tuple[bytes, ...] = (b"{}",)) -> Process:
        process = Process(*chunks)
        monkeypatch.setattr(entry, "os", process)
        with pytest.raises(_Ended):
            entry.main(list(arguments))
        assert process.ended == [0]
        return process

    return run


@pytest.mark.parametrize(
    ("arguments", "read"),
    [
        ([], ("", "claude-code", False)),
        (["prompt"], ("prompt", "claude-code", False)),
        (["stop", "--client", "cursor"], ("stop", "cursor", False)),
        (["prompt", "--verbose", "--client", "gemini"], ("prompt", "gemini", True)),
        (["prompt", "--client"], ("prompt", "", False)),
        (["prompt", "--from-the-future", "x", "--client", "zed", "more"], ("prompt", "zed", False)),
    ],
)
def test_arguments_are_read_as_far_as_they_are_known(arguments: list[str], read: tuple[str, str, bool]) -> None:
    """What is missing has its default, and what is unknown is passed over: a hook has nobody to complain to."""
    assert _read_arguments(arguments) == read


def test_each_hook_has_its_own(begin: Callable[..., Process], monkeypatch: pytest.MonkeyPatch) -> None:
    """The event goes to the hook that was named, and what two of them give is written."""
    called: list[tuple[str, str, str]] = []

    def answer(event: Event, *given: Any) -> None:  # noqa: ANN401 - times, and how to write
        called.append((event.hook, event.client, event.session))
        if given:
            given[-1]({"answer": event.hook})

    for module in (prompt, session_start, pre_compact, stop):
        monkeypatch.setattr(module, "run", answer)
    written = {
        hook: begin(hook, "--client", "gemini", chunks=(b'{"session_id": "s"}',)).written for hook in entry.SECONDS
    }
    assert called == [(hook, "gemini", "s") for hook in entry.SECONDS]
    assert {hook: json.loads(octets) for hook, octets in written.items() if octets} == {
        clients.PROMPT: {"answer": "prompt"},
        clients.SESSION_START: {"answer": "session-start"},
    }
    assert begin("unknown").written == b""
    assert begin().written == b""
    assert len(called) == len(entry.SECONDS)


@pytest.mark.parametrize(
    ("chunks", "fields"),
    [
        ((b'{"a": 1}',), {"a": 1}),
        ((b'{"a": {"b": 1}', b', "c"', b": 2}\n"), {"a": {"b": 1}, "c": 2}),
        ((b'{"a": 1}\n', b"never read}"), {"a": 1}),
        ((b'[{"a": 1}]',), None),
        ((b"{",), None),
        ((b"",), None),
        ((b"}",), None),
        ((b'"{}"',), None),
        ((b"[]", b"{}"), None),
    ],
)
def test_the_input_is_one_object(
    monkeypatch: pytest.MonkeyPatch, chunks: tuple[bytes, ...], fields: dict[str, object] | None
) -> None:
    """It is read as soon as it is whole, however it comes; anything else is nothing."""
    monkeypatch.setattr(entry, "os", Process(*chunks))
    assert _read_input() == fields


def test_what_is_too_long_is_taken_and_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """All of it comes off the pipe, and none of it is kept."""
    process = Process(b'{"prompt": "', *[b"x" * _CHUNK] * 40, b'"}')
    monkeypatch.setattr(entry, "os", process)
    assert _read_input() is None
    assert not process.chunks


def test_what_went_wrong_is_said_only_if_asked(
    begin: Callable[..., Process], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A client's user sees nothing of it; whoever looks for the reason does."""

    def fail(_event: Event, *_: float) -> None:
        raise KeyboardInterrupt("it hurts")

    monkeypatch.setattr(stop, "run", fail)
    assert begin("stop").written == b""
    assert capsys.readouterr() == ("", "")
    assert begin("stop", "--verbose").written == b""
    assert capsys.readouterr() == ("", "recollect hook stop: KeyboardInterrupt: it hurts\n")


def test_it_gives_up_in_time_unless_it_is_asked_why(
    begin: Callable[..., Process], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each hook has its time from the start of the process on; one that explains itself has a minute."""
    ends: list[float] = []
    given: list[float] = []
    monkeypatch.setattr(entry, "_give_up_at", ends.append)
    monkeypatch.setattr(prompt, "run", lambda _event, *times: given.extend(times[:2]))
    monkeypatch.setattr(entry, "process_age", lambda: 5.0)
    before = time.perf_counter()
    begin("prompt")
    assert ends == [given[0] + 0.15 - entry.LEAVING_SECONDS]
    assert given[1] == 0.15
    assert before - 5 <= given[0] <= time.perf_counter() - 5
    begin("prompt", "--verbose")
    assert len(ends) == 1
    assert given[3] == 60.0


def test_a_process_knows_how_old_it_is() -> None:
    """Its age is at least what it has computed, and at most what whoever started it has waited."""
    program = "import time; from recollect.hooks import entry; print(entry.process_age(), time.process_time())"
    began = time.perf_counter()
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    waited = time.perf_counter() - began
    age, computed = map(float, done.stdout.split())
    # The system counts in hundredths.
    assert 0 < age <= waited + 0.01
    assert computed <= age + 0.01


@pytest.mark.parametrize("said", [b"", b"1 (x) R", b"1 (a) b) R " + b"9999999999999 " * 40, b"1 (x) R " + b"x " * 40])
def test_where_the_system_does_not_tell_its_age_is_what_it_computed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, said: bytes
) -> None:
    """A file that says something else, or a clock that runs apart, leaves what the process knows of itself."""
    (tmp_path / "stat").write_bytes(said)
    monkeypatch.setattr("builtins.open", lambda *_: io.FileIO(tmp_path / "stat"))
    before = time.process_time()
    assert before <= entry.process_age() <= time.process_time()


def test_when_its_time_is_over_the_process_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever it is doing: the end comes from beside."""
    ended: list[tuple[int, threading.Thread]] = []

    class Ending(Process):
        def _exit(self, code: int) -> None:
            ended.append((code, threading.current_thread()))

    monkeypatch.setattr(entry, "os", Ending())
    _give_up_at(time.perf_counter() - 1)
    wait_until(lambda: bool(ended))
    ((code, thread),) = ended
    assert code == 0
    assert thread is not threading.current_thread()
    assert thread.daemon
    thread.join()
