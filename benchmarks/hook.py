"""The prompt hook, cold, on a store of 20,000 memories, against the bare start of a Python that imports sqlite3.

    python benchmarks/hook.py [--runs 300] [--memories 20000] [--model MODEL] [--more 10000] [--troubles 20]

Both are started in turn, so that whatever else the machine does hits both alike: only the ratio of the medians means
anything, and the hook's own budget ends it, so beyond that the ratio says nothing. Byte code is compiled first, as an
installer does. Afterwards what was left behind is counted, and the hook is run with everything wrong that may be. With
a model, its vectors are made first and a `recollect mcp` runs beside, which the hook asks for meaning.
"""

import argparse
import compileall
import json
import os
import shutil
import socket
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, closing, contextmanager
from itertools import islice
from pathlib import Path
from typing import Final

import psutil  # type: ignore[import-untyped]

import recollect
from pg_texts import Pool
from recollect.bench.datasets import find_folder
from recollect.hooks.entry import SECONDS
from recollect.service.extract import Rules, extract_waiting
from recollect.stores.sqlite.store import SqliteStore
from recollect.values import replace

ALLOWED: Final = 4.0
"""How many times as long as the bare start the hook may take."""
TROUBLE_MS: Final = 300.0
"""How long it may take with something wrong."""
BATCH: Final = 1000
PROGRAM: Final = os.path.join(os.path.dirname(sys.executable), "recollect")
BARE: Final = (sys.executable, "-c", "import sqlite3")
HOOK: Final = (PROGRAM, "hook", "prompt")

Environment = Mapping[str, str]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=300, help="starts of each, after some to warm up")
    parser.add_argument("--more", type=int, default=0, help="further starts of the hook, four at once, before looking")
    parser.add_argument("--troubles", type=int, default=20, help="starts with each thing that may be wrong")
    parser.add_argument("--memories", type=int, default=20_000)
    parser.add_argument("--model", help="a model for meaning, by any of its names")
    parser.add_argument("--datasets", default=None)
    options = parser.parse_args()
    compileall.compile_dir(os.path.dirname(recollect.__file__), quiet=1)
    pool = Pool.read(find_folder(options.datasets))
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder, "home")
        environment = make_environment(home, Path(folder, "tmp"))
        fill(home / "memory.db", pool, options.memories)
        with running_mcp(environment, options.model):
            kept = measure(environment, pool.questions, options.runs)
            kept &= look_around(environment, pool.questions, options.more)
        kept &= try_troubles(environment, pool.questions[0], options.troubles)
    return 0 if kept else 1


def make_environment(home: Path, temporary: Path) -> Environment:
    home.mkdir()
    temporary.mkdir()
    # Without this variable Python keeps the byte code that it compiles.
    inherited = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**inherited, "RECOLLECT_HOME": str(home), "RECOLLECT_PROJECT": "", "TMPDIR": str(temporary)}


def fill(path: Path, pool: Pool, many: int) -> None:
    store = SqliteStore(str(path))
    # Of no project, so that all of them are looked at from wherever the hook stands.
    coming = (replace(memory, project=None) for memory in pool.memories("personal", many, seed=1))
    while batch := list(islice(coming, BATCH)):
        store.memories.add(batch)
    extract_waiting(store, Rules(), batch=BATCH)
    store.close()


@contextmanager
def running_mcp(environment: Environment, model: str | None) -> Iterator[None]:
    """Have a `recollect mcp` run beside, once it answers by meaning; without a model there is none."""
    if model is None:
        yield
        return
    subprocess.run([PROGRAM, "embed", "--model", model, "--yes"], env=environment, check=True)
    server = subprocess.Popen([PROGRAM, "mcp"], env=environment, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    try:
        path = os.path.join(environment["RECOLLECT_HOME"], "memory.sock")
        while not _answers(path):
            time.sleep(0.1)
        yield
    finally:
        assert server.stdin is not None
        server.stdin.close()
        server.wait()


def measure(environment: Environment, questions: Sequence[str], runs: int) -> bool:
    times: dict[str, list[float]] = {"bare": [], "hook": []}
    spoke = 0
    for run in range(-5, runs):
        took, _ = start(BARE, environment, b"")
        taken, answer = start(HOOK, environment, event(f"session {run}", questions[run % len(questions)]))
        if run >= 0:
            times["bare"].append(took)
            times["hook"].append(taken)
            spoke += bool(answer)
    ratio = statistics.median(times["hook"]) / statistics.median(times["bare"])
    late, budget = percentile(times["hook"], 0.99), SECONDS["prompt"] * 1000
    for name, all_ in times.items():
        parts = ", ".join(f"p{part * 100:.0f} {percentile(all_, part):.1f}" for part in (0.5, 0.95, 0.99))
        print(f"{name}: {parts} ms")
    print(f"{ratio:.2f} times as long (at most {ALLOWED}), p99 {late:.0f} of {budget:.0f} ms")
    print(f"it spoke at {spoke} of {runs} prompts")
    return ratio <= ALLOWED and late <= budget


def look_around(environment: Environment, questions: Sequence[str], more: int) -> bool:
    """Start many more, and see what they leave behind."""
    with ThreadPoolExecutor(4) as pool:
        given = (event(f"further {number}", questions[number % len(questions)]) for number in range(more))
        started = sum(1 for _ in pool.map(lambda each: start(HOOK, environment, each), given))
    hooks = [each.pid for each in psutil.process_iter(["cmdline"]) if PROGRAM in (each.info["cmdline"] or [])[:2]]
    hooks = [each for each in hooks if "mcp" not in psutil.Process(each).cmdline()]
    temporary, home = (os.listdir(environment[name]) for name in ("TMPDIR", "RECOLLECT_HOME"))
    print(f"after {started:,} more, left behind: {len(hooks)} processes, {len(temporary)} temporary files")
    print(f"at home: {', '.join(sorted(home))}")
    return not hooks and not temporary


def try_troubles(environment: Environment, question: str, runs: int) -> bool:
    kept = True
    for name, make in TROUBLES.items():
        with tempfile.TemporaryDirectory() as folder:
            home = Path(folder, "home")
            shutil.copytree(environment["RECOLLECT_HOME"], home, ignore=shutil.ignore_patterns("*.sock*"))
            given = event("session", question)
            with make(home) as (changed, instead):
                times = [
                    start(HOOK, {**environment, "RECOLLECT_HOME": str(home), **changed}, instead or given)[0]
                    for _ in range(runs)
                ]
        late = max(times) * 1000
        kept &= late <= TROUBLE_MS
        print(f"{name}: exit code 0, p50 {percentile(times, 0.5):.0f} ms, at most {late:.0f} of {TROUBLE_MS:.0f} ms")
    return kept


Trouble = Iterator[tuple[Environment, bytes]]
"""What to change in the environment, and what to send instead of a prompt."""


@contextmanager
def damaged(home: Path) -> Trouble:
    store = home / "memory.db"
    with store.open("r+b") as file:
        file.seek(100)
        file.write(os.urandom(store.stat().st_size - 100))
    yield {}, b""


@contextmanager
def locked(home: Path) -> Trouble:
    with closing(sqlite3.connect(home / "memory.db", isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = DELETE").fetchone()
        connection.execute("BEGIN EXCLUSIVE")
        yield {}, b""


@contextmanager
def dead_socket(home: Path) -> Trouble:
    with closing(socket.socket(socket.AF_UNIX)) as dead:
        dead.bind(str(home / "memory.sock"))
    yield {}, b""


@contextmanager
def silent_socket(home: Path) -> Trouble:
    with closing(socket.socket(socket.AF_UNIX)) as silent:
        silent.bind(str(home / "memory.sock"))
        silent.listen()
        yield {}, b""


@contextmanager
def much_input(_: Path) -> Trouble:
    yield {}, b'{"prompt": "' + b"x" * 10_000_000 + b'"}'


@contextmanager
def no_home(_: Path) -> Trouble:
    yield {"RECOLLECT_HOME": "", "HOME": "/no/such/folder"}, b""


@contextmanager
def full_disk(home: Path) -> Trouble:
    (home / "memory.journal.db").unlink()
    (home / "memory.journal.db").symlink_to("/dev/full")
    yield {}, b""


TROUBLES: Final[Mapping[str, Callable[[Path], AbstractContextManager[tuple[Environment, bytes]]]]] = {
    "a damaged store": damaged,
    "a held file": locked,
    "a dead socket": dead_socket,
    "a socket that never answers": silent_socket,
    "10 MB of input": much_input,
    "no home folder": no_home,
    "a full disk": full_disk,
}


def start(command: Sequence[str], environment: Environment, given: bytes) -> tuple[float, bytes]:
    began = time.perf_counter()
    done = subprocess.run(command, env=environment, input=given, capture_output=True, check=True)
    took = time.perf_counter() - began
    assert not done.stderr, done.stderr
    if done.stdout:
        json.loads(done.stdout)
    return took, done.stdout


def event(session: str, prompt: str) -> bytes:
    return json.dumps({"session_id": session, "cwd": os.sep, "prompt": prompt}).encode()


def percentile(times: Sequence[float], part: float) -> float:
    return sorted(times)[max(0, int(len(times) * part) - 1)] * 1000


def _answers(path: str) -> bool:
    """Whether somebody there has a model loaded."""
    question = {"text": "warm", "spaces": ["personal"], "project": None, "exclude": [], "depth": 1, "seconds": 5}
    try:
        with closing(socket.socket(socket.AF_UNIX)) as client:
            client.settimeout(10)
            client.connect(path)
            client.sendall(json.dumps(question).encode() + b"\n")
            return "hits" in json.loads(client.makefile("rb").readline())
    except (OSError, ValueError):
        return False


if __name__ == "__main__":
    sys.exit(main())
