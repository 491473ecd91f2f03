"""Several processes, one new file."""

import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

from making import StandingClock, open_recollect

PROCESSES = 4
_OPEN_AND_REMEMBER = """
import sys
import recollect
recollect.open
print("ready", flush=True)
sys.stdin.readline()
with recollect.open(sys.argv[1]) as memory:
    memory.remember(f"from process {sys.argv[2]}")
    print(len(memory.recall("process").results) >= 1, flush=True)
"""


def test_processes_that_open_a_new_file_at_once_all_succeed(tmp_path: Path) -> None:
    """Whoever comes first makes the schema, the others wait and find it; no write is lost."""
    path = tmp_path / "memory.db"
    with ExitStack() as stack:
        started = [
            stack.enter_context(
                subprocess.Popen(
                    [sys.executable, "-c", _OPEN_AND_REMEMBER, str(path), str(number)],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    text=True,
                )
            )
            for number in range(PROCESSES)
        ]
        for process in started:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
        for process in started:
            assert process.stdin is not None
            process.stdin.write("go\n")
            process.stdin.flush()
        ended = [process.communicate(timeout=60) for process in started]
    assert [process.returncode for process in started] == [0] * PROCESSES, ended
    assert [out for out, _ in ended] == ["True\n"] * PROCESSES
    with open_recollect(path, StandingClock()) as memory:
        found = {each.memory.content for each in memory.recall("process").results}
        assert found == {f"from process {number}" for number in range(PROCESSES)}
        assert memory.store.examine(lambda _done, _total: None) == []
