"""A home as a hook finds it: a store, the journal beside it, and perhaps somebody who listens."""

import socket
from contextlib import closing
from pathlib import Path

from recollect.config import Config
from recollect.core.memory import Memory
from recollect.journal import given
from recollect.journal.file import Journal
from recollect.wiring import open_file


class Home:
    def __init__(self, config: Config, journal: Journal) -> None:
        self.config = config
        self.journal = journal

    def keep(self, *memories: Memory) -> None:
        with open_file(self.config.store) as memory:
            memory.store.memories.add(memories)

    def set(self, name: str, value: str) -> None:
        with open_file(self.config.store) as memory:
            memory.set(name, value)

    def usage(self) -> given.Usage:
        return given.tally(self.journal, 0)

    def damage_journal(self) -> None:
        self.journal.close()
        Path(self.config.journal).write_bytes(b"no journal " * 500)


def is_listened_at(path: str) -> bool:
    """Say whether somebody takes calls there: a socket's file is there a moment before."""
    with closing(socket.socket(socket.AF_UNIX)) as client:
        return client.connect_ex(path) == 0
