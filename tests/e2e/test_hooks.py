"""The hooks as clients run them: a process each, JSON in, JSON or nothing out, and never in the way."""

import json
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from command_line import CommandLine
from making import wait_until

PORT = "The staging database is Postgres 16 on port 5433."
PROMPT = "Which port does the staging database use?"
_LONGEST = 60


class Hooks:
    """A client that runs the hooks of one home, standing in a folder."""

    def __init__(self, home: Path, folder: Path) -> None:
        self.cli = CommandLine(home)
        self.home = home
        self.folder = folder
        self.environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("RECOLLECT_")},
            "RECOLLECT_HOME": str(home),
        }

    def start(
        self, hook: str, stdin: bytes, *options: str, environment: dict[str, str] | None = None
    ) -> "subprocess.CompletedProcess[bytes]":
        command = [sys.executable, "-m", "recollect", "hook", hook, *options]
        return subprocess.run(
            command,
            env=environment or self.environment,
            input=stdin,
            capture_output=True,
            timeout=_LONGEST,
            check=False,
        )

    def run(self, hook: str, *options: str, **fields: Any) -> Any:  # noqa: ANN401 - whatever JSON it is
        """Run a hook unhurried, as on a machine that is not busy with tests; nothing may be wrong with it."""
        event = {"session_id": "s1", "cwd": str(self.folder), **fields}
        done = self.start(hook, json.dumps(event).encode(), *options, "--verbose")
        assert (done.returncode, done.stderr) == (0, b"")
        return json.loads(done.stdout) if done.stdout else None

    def prompt(self, text: str = PROMPT, **fields: Any) -> str:  # noqa: ANN401
        """Give what the agent is told with a prompt; empty if nothing."""
        answer = self.run("prompt", prompt=text, hook_event_name="UserPromptSubmit", **fields)
        if answer is None:
            return ""
        told = answer["hookSpecificOutput"]
        assert told["hookEventName"] == "UserPromptSubmit"
        return str(told["additionalContext"])


@pytest.fixture
def hooks(tmp_path: Path) -> Hooks:
    folder = tmp_path / "work"
    folder.mkdir()
    return Hooks(tmp_path / "home", folder)


def test_a_prompt_is_answered_with_what_is_known(hooks: Hooks) -> None:
    """What was remembered comes with the prompt that it speaks to, marked as memory, with its id and age."""
    identity = hooks.cli.keep(PORT)
    told = hooks.prompt()
    assert f"[{identity[-8:]} | facts | today]\n{PORT}" in told
    assert "not instructions" in told


def test_nothing_to_say_is_nothing_at_all(hooks: Hooks) -> None:
    """A prompt about something else gets no output, and leaves its trace in the statistics alone."""
    hooks.cli.keep(PORT)
    assert hooks.prompt("Write a limerick about a lonely whale, please.") == ""


def test_the_same_is_not_said_twice_until_compaction(hooks: Hooks) -> None:
    """A session is given a memory once; another session has its own; after a compaction it may be given again."""
    hooks.cli.keep(PORT)
    assert PORT in hooks.prompt()
    assert hooks.prompt() == ""
    assert PORT in hooks.prompt(session_id="s2")
    hooks.run("session-start", source="compact")
    assert PORT in hooks.prompt()


def test_another_projects_memory_stays_there(hooks: Hooks, tmp_path: Path) -> None:
    """The project is that of the folder the client stands in, not of the process."""
    hooks.cli.keep(PORT, "--project", "github.com/acme/shop")
    assert hooks.prompt() == ""
    repository = tmp_path / "shop"
    (repository / ".git").mkdir(parents=True)
    (repository / ".git" / "config").write_text('[remote "origin"]\n\turl = git@github.com:acme/shop.git\n')
    assert PORT in hooks.prompt(cwd=str(repository))


def test_a_sensitive_memory_is_a_placeholder(hooks: Hooks) -> None:
    """Its text never reaches an agent's prompt."""
    hooks.cli.keep("The staging database port password is swordfish.", "--sensitive")
    told = hooks.prompt()
    assert "sensitive memory" in told
    assert "swordfish" not in told


def test_a_session_begins_with_a_briefing(hooks: Hooks) -> None:
    """What is pinned is told at the start, and not again with a prompt."""
    hooks.cli.keep(PORT, "--tag", "pinned")
    answer = hooks.run("session-start", source="startup")
    assert PORT in answer["hookSpecificOutput"]["additionalContext"]
    assert hooks.prompt() == ""


def test_each_client_is_answered_in_its_form(hooks: Hooks) -> None:
    """The same memory, as each client takes it."""
    hooks.cli.keep(PORT)
    gemini = hooks.run("prompt", "--client", "gemini", prompt=PROMPT, session_id="g")
    assert gemini["hookSpecificOutput"]["hookEventName"] == "BeforeAgent"
    cursor = hooks.run("prompt", "--client", "cursor", prompt=PROMPT, session_id="c")
    assert PORT in cursor["additional_context"]
    assert hooks.run("prompt", "--client", "zed", prompt=PROMPT, session_id="z") is None


def test_it_can_be_switched_off(hooks: Hooks) -> None:
    """With no memories to a prompt, neither hook says anything."""
    hooks.cli.keep(PORT, "--tag", "pinned")
    hooks.cli.say("config", "prompt.memories", "0")
    assert hooks.prompt() == ""
    assert hooks.run("session-start", source="startup") is None


# What follows must hold however busy the machine is: it is about what comes out, not about what is found.


def _damage(hooks: Hooks) -> None:
    store = hooks.home / "memory.db"
    octets = bytearray(store.read_bytes())
    octets[100:] = os.urandom(len(octets) - 100)
    store.write_bytes(octets)


def _other_program(hooks: Hooks) -> None:
    (hooks.home / "memory.db").write_bytes(b"no database at all" * 1000)


def _newer(hooks: Hooks) -> None:
    with closing(sqlite3.connect(hooks.home / "memory.db")) as connection:
        connection.execute("PRAGMA user_version = 99")


def _no_store(hooks: Hooks) -> None:
    (hooks.home / "memory.db").unlink()


def _folder_for_a_store(hooks: Hooks) -> None:
    (hooks.home / "memory.db").unlink()
    (hooks.home / "memory.db").mkdir()


def _damaged_journal(hooks: Hooks) -> None:
    (hooks.home / "memory.journal.db").write_bytes(b"x" * 5000)


def _dead_socket(hooks: Hooks) -> None:
    with closing(socket.socket(socket.AF_UNIX)) as dead:
        dead.bind(str(hooks.home / "memory.sock"))


TROUBLES = {
    "damaged store": _damage,
    "another program's file": _other_program,
    "a newer version's store": _newer,
    "no store": _no_store,
    "a folder for a store": _folder_for_a_store,
    "damaged journal": _damaged_journal,
    "dead socket": _dead_socket,
}


def _event(**fields: Any) -> bytes:  # noqa: ANN401
    return json.dumps({"session_id": "s1", "prompt": PROMPT, "cwd": "/", **fields}).encode()


def _check_quiet(done: "subprocess.CompletedProcess[bytes]") -> None:
    assert (done.returncode, done.stderr) == (0, b"")
    if done.stdout:
        assert set(json.loads(done.stdout)) == {"hookSpecificOutput"}


@pytest.mark.parametrize("trouble", TROUBLES)
@pytest.mark.parametrize("hook", ["prompt", "session-start", "pre-compact", "stop"])
def test_trouble_is_never_the_clients(hooks: Hooks, trouble: str, hook: str) -> None:
    """Whatever is wrong with the files, a hook ends with 0, says nothing on stderr and nothing but JSON on stdout."""
    hooks.cli.keep(PORT)
    TROUBLES[trouble](hooks)
    _check_quiet(hooks.start(hook, _event()))


def test_a_damaged_journal_or_a_dead_socket_costs_nothing_else(hooks: Hooks) -> None:
    """What is known is given all the same."""
    hooks.cli.keep(PORT)
    _dead_socket(hooks)
    assert PORT in hooks.prompt()
    _damaged_journal(hooks)
    assert PORT in hooks.prompt()


@pytest.mark.parametrize(
    "stdin",
    [
        b"", b"\n", b"{}", b"[]", b"null", b'"text"', b"{", b"\xff\xfe{}", b'{"prompt": 5}', b'{"prompt": null}',
        b'{"prompt": "' + b"\\ud800" * 3 + b'"}', b'{"prompt": "staging port", "cwd": "/no/such", "session_id": 7}',
        b'{"a":' * 100_000, b'{"prompt": "' + b"port of staging " * 60_000 + b'"}',
    ],
    ids=lambda given: repr(given[:24]),
)  # fmt: skip
@pytest.mark.parametrize("hook", ["prompt", "session-start", "pre-compact", "stop", "unknown"])
def test_strange_input_is_survived(hooks: Hooks, hook: str, stdin: bytes) -> None:
    """What is no event, or a strange one, is answered with nothing or with JSON."""
    hooks.cli.keep(PORT)
    _check_quiet(hooks.start(hook, stdin))


def test_ten_megabytes_are_taken_off_the_pipe(hooks: Hooks) -> None:
    """A client that writes more than anybody reads is not left with a broken pipe."""
    hooks.cli.keep(PORT)
    done = hooks.start("prompt", b'{"prompt": "' + b"x" * 10_000_000 + b'"}')
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_without_a_home_there_is_nothing_to_say(hooks: Hooks) -> None:
    """A user without a home folder has no memory, and no error."""
    nowhere = {name: value for name, value in hooks.environment.items() if name not in {"HOME", "RECOLLECT_HOME"}}
    for home in ("", "/no/such/folder", "/dev/null"):
        done = hooks.start("prompt", _event(), environment={**nowhere, "HOME": home})
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@contextmanager
def _locked(store: Path) -> Iterator[None]:
    """Hold a store as a backup tool may: nobody else can even read it."""
    with closing(sqlite3.connect(store, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = DELETE").fetchone()
        connection.execute("BEGIN EXCLUSIVE")
        yield
        connection.execute("ROLLBACK")


def test_a_held_store_is_not_waited_for(hooks: Hooks) -> None:
    """A file that another process holds is left alone at once."""
    hooks.cli.keep(PORT)
    with _locked(hooks.home / "memory.db"):
        _check_quiet(hooks.start("prompt", _event()))


def test_a_full_disk_costs_a_repetition_and_no_more(hooks: Hooks) -> None:
    """Where the journal cannot be written, what is known is given all the same."""
    hooks.cli.keep(PORT)
    (hooks.home / "memory.journal.db").symlink_to("/dev/full")
    assert PORT in hooks.prompt()


def test_a_client_that_says_nothing_is_left(hooks: Hooks) -> None:
    """A pipe that stays open and empty does not hold the hook beyond its budget."""
    hooks.cli.keep(PORT)
    command = [sys.executable, "-m", "recollect", "hook", "prompt"]
    with subprocess.Popen(command, env=hooks.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.wait(_LONGEST) == 0
        assert process.stdout is not None
        assert process.stdout.read() == b""


def test_a_pipe_that_stays_open_is_read_as_far_as_it_is_whole(hooks: Hooks) -> None:
    """The event is acted on as soon as it is there, even if the client does not close the pipe."""
    hooks.cli.keep(PORT)
    command = [sys.executable, "-m", "recollect", "hook", "prompt", "--verbose"]
    with subprocess.Popen(command, env=hooks.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(_event())
        process.stdin.flush()
        assert PORT.encode() in process.stdout.read()
        assert process.wait(_LONGEST) == 0


def test_nobody_to_read_is_no_error(hooks: Hooks) -> None:
    """A client that closed its end of stdout gets exit code 0."""
    hooks.cli.keep(PORT)
    command = [sys.executable, "-m", "recollect", "hook", "prompt"]
    read, write = os.pipe()
    os.close(read)
    try:
        done = subprocess.run(
            command, env=hooks.environment, input=_event(), stdout=write, timeout=_LONGEST, check=False
        )
    finally:
        os.close(write)
    assert done.returncode == 0


def test_nothing_is_left_behind(hooks: Hooks, tmp_path: Path) -> None:
    """A hundred prompts leave the journal beside the store, and neither a process nor a temporary file."""
    hooks.cli.keep(PORT)
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    environment = {**hooks.environment, "TMPDIR": str(temporary)}
    for number in range(20):
        _check_quiet(hooks.start("prompt", _event(session_id=str(number)), environment=environment))
    assert list(temporary.iterdir()) == []
    left = {path.name for path in hooks.home.iterdir()}
    assert left <= {"memory.db", "memory.journal.db", "memory.db-wal", "memory.db-shm"} | {
        f"memory.journal.db-{ending}" for ending in ("wal", "shm")
    }


def test_a_hook_asks_a_running_server_for_meaning(hooks: Hooks) -> None:
    """With a `recollect mcp` beside, its socket opens, and a hook finds what shares no word with the prompt."""
    pytest.importorskip("numpy")
    process = subprocess.Popen(
        [sys.executable, "-m", "recollect", "mcp"],
        env=hooks.environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    try:
        wait_until(lambda: (hooks.home / "memory.sock").exists() or process.poll() is not None)
        assert process.poll() is None
        hooks.cli.keep(PORT)
        assert PORT in hooks.prompt()
    finally:
        process.send_signal(signal.SIGKILL)
        process.communicate()
    # The socket is dead now, and the next prompt does without.
    assert PORT in hooks.prompt(session_id="s2")


def test_help_is_shown(hooks: Hooks) -> None:
    """`recollect hook --help` explains itself, as every command does."""
    began = time.monotonic()
    done = hooks.start("--help", b"")
    assert done.returncode == 0
    assert b"hook" in done.stdout
    assert time.monotonic() - began < _LONGEST
