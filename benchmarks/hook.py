"""The prompt hook, cold, on a store of 20,000 memories, against the bare start of a Python that imports sqlite3.

    python benchmarks/hook.py [--runs 300] [--memories 20000] [--resident MODEL]

Both are started in turn, so that whatever else the machine does hits both alike: only the ratio of the medians means
anything. Byte code is compiled first, as an installer does. What is left behind afterwards is counted: processes whose
parent is gone, files in the folder for temporary ones, files in the store's own. With a model, its vectors are made
first and a `recollect mcp` runs beside, which the hook asks for meaning.
"""

import argparse
import compileall
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Final

import recollect
from pg_texts import Pool
from recollect.bench.datasets import find_folder
from recollect.hooks.entry import SECONDS
from recollect.service.extract import Rules, extract_waiting
from recollect.stores.sqlite.store import SqliteStore

ALLOWED: Final = 4.0
"""How many times as long as the bare start the hook may take."""
BATCH: Final = 1000
BARE: Final = (sys.executable, "-c", "import sqlite3")
HOOK: Final = (sys.executable, "-m", "recollect", "hook", "prompt")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=300, help="starts of each, after some to warm up")
    parser.add_argument("--memories", type=int, default=20_000)
    parser.add_argument("--resident", metavar="MODEL", help="a model for meaning, by any of its names")
    parser.add_argument("--datasets", default=None)
    options = parser.parse_args()
    compileall.compile_dir(os.path.dirname(recollect.__file__), quiet=1)
    pool = Pool.read(find_folder(options.datasets))
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder, "home")
        environment = make_environment(home, Path(folder, "tmp"))
        fill(home / "memory.db", pool, options.memories)
        with running_mcp(environment, options.resident):
            return measure(environment, pool.questions, options.runs)


def make_environment(home: Path, temporary: Path) -> dict[str, str]:
    home.mkdir()
    temporary.mkdir()
    # Without this variable Python keeps the byte code that it compiles.
    inherited = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**inherited, "RECOLLECT_HOME": str(home), "RECOLLECT_PROJECT": "", "TMPDIR": str(temporary)}


def fill(path: Path, pool: Pool, many: int) -> None:
    store = SqliteStore(str(path))
    coming = pool.memories("personal", many, seed=1)
    while batch := list(islice(coming, BATCH)):
        store.memories.add(batch)
    extract_waiting(store, Rules(), batch=BATCH)
    store.close()


@contextmanager
def running_mcp(environment: dict[str, str], model: str | None) -> Iterator[None]:
    """Have a `recollect mcp` run beside, once it listens; without a model there is none."""
    if model is None:
        yield
        return
    command = [sys.executable, "-m", "recollect"]
    subprocess.run([*command, "embed", "--model", model, "--yes"], env=environment, check=True)
    server = subprocess.Popen([*command, "mcp"], env=environment, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    try:
        asked = subprocess.run
        while not json.loads(asked([*HOOK], env=environment, input=_event("warm", "x"), capture_output=True).stdout or "0"):
            if os.path.exists(os.path.join(environment["RECOLLECT_HOME"], "memory.sock")):
                break
            time.sleep(0.1)
        # The model and the vectors are loaded behind the open socket.
        time.sleep(5)
        yield
    finally:
        assert server.stdin is not None
        server.stdin.close()
        server.wait()


def measure(environment: dict[str, str], questions: Sequence[str], runs: int) -> int:
    home, temporary = Path(environment["RECOLLECT_HOME"]), Path(environment["TMPDIR"])
    times: dict[str, list[float]] = {"bare": [], "hook": []}
    spoke = 0
    before = sorted(path.name for path in home.iterdir())
    for run in range(-5, runs):
        took, _ = start(BARE, environment, b"")
        taken, answer = start(HOOK, environment, _event(f"session {run}", questions[run % len(questions)]))
        if run >= 0:
            times["bare"].append(took)
            times["hook"].append(taken)
            spoke += bool(answer)
        if answer:
            json.loads(answer)
    bare, hook = times["bare"], times["hook"]
    ratio = statistics.median(hook) / statistics.median(bare)
    late = sorted(hook)[int(len(hook) * 0.99) - 1] * 1000
    print(f"bare {statistics.median(bare) * 1000:.1f} ms, hook {statistics.median(hook) * 1000:.1f} ms: {ratio:.2f} times")
    print(f"hook p95 {sorted(hook)[int(len(hook) * 0.95) - 1] * 1000:.1f} ms, p99 {late:.1f} ms, budget {SECONDS['prompt'] * 1000:.0f}")
    print(f"it spoke at {spoke} of {runs} prompts")
    left = sorted(path.name for path in home.iterdir())
    orphans = _children()
    print(f"left behind: {len(orphans)} processes, {len(list(temporary.iterdir()))} temporary files; in the store's folder {set(left) - set(before) or 'nothing'}")
    return 0 if ratio <= ALLOWED and late <= SECONDS["prompt"] * 1000 and not orphans and not list(temporary.iterdir()) else 1


def start(command: Sequence[str], environment: dict[str, str], given: bytes) -> tuple[float, bytes]:
    began = time.perf_counter()
    done = subprocess.run(command, env=environment, input=given, capture_output=True, check=True)
    return time.perf_counter() - began, done.stdout


def _event(session: str, prompt: str) -> bytes:
    fields = {"session_id": session, "cwd": os.sep, "hook_event_name": "UserPromptSubmit", "prompt": prompt}
    return json.dumps(fields).encode()


def _children() -> list[int]:
    """Give the hooks that still run: any process of that command."""
    import psutil  # type: ignore[import-untyped]

    return [
        process.pid for process in psutil.process_iter(["cmdline"]) if list(HOOK[2:]) == (process.info["cmdline"] or [])[2:]
    ]


if __name__ == "__main__":
    sys.exit(main())
