"""Eight processes that have a language model read one store: together they stay within its budget."""

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

from provider_server import notes_of, serve
from reading import add_notes, let_ask, open_model, used_by, waiting_for
from recollect.stores.sqlite.store import SqliteStore

HERE = Path(__file__).parent
MEMORIES, CALLS, TOKENS = 120, 12, 100_000


def test_eight_processes_never_exceed_the_budget(tmp_path: Path) -> None:
    """By the server's own count neither calls nor tokens are exceeded, no text is sent twice, and nothing is lost."""
    path = str(tmp_path / "memory.db")
    store = SqliteStore(path)
    used: list[int] = []
    with serve() as provider:
        provider.answered = lambda answer: used.append(answer["usage"]["total_tokens"])
        model = let_ask(store, open_model(provider, store), CALLS, TOKENS)
        add_notes(store, MEMORIES)
        command = [sys.executable, str(HERE / "extractor.py"), path, provider.address]
        search = os.pathsep.join([str(HERE.parent), os.environ.get("PYTHONPATH", "")])
        processes = [
            subprocess.Popen(command, env={**os.environ, "PYTHONPATH": search}, stdout=subprocess.PIPE)
            for _ in range(8)
        ]
        ends = [json.loads(process.communicate()[0]) for process in processes]
        sent = Counter(note for body in provider.asked for note in notes_of(body))
    assert "spent" in {end for end, _ in ends}
    assert 0 < len(provider.asked) <= CALLS
    assert 0 < sum(used) <= TOKENS
    assert used_by(store, model) == (len(used), sum(used))
    assert set(sent.values()) == {1}
    assert sum(kept for _, kept in ends) == len(sent) == MEMORIES - len(waiting_for(store, model))
    store.close()
