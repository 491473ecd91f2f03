"""What was learned and waits for its owner's word, and the digests of all that ever did: the queue, in the journal."""

from typing import Any, Final

from recollect.core.errors import Ambiguous, NotFound
from recollect.core.moments import from_micros, to_micros
from recollect.core.review import Pending, State
from recollect.core.statements import digest
from recollect.journal.file import Journal

_SHORTEST_HANDLE: Final = 4

_COLUMNS: Final = "id, at, space, content, category, importance, rule, project, session, supersedes"
# A digest is there once in a space: what became of it stays.
_ADD: Final = f"""
INSERT INTO candidates (digest, state, {_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING
"""
_LEARNED: Final = "SELECT EXISTS (SELECT 1 FROM candidates WHERE space = ? AND digest = ?)"
_WAITING: Final = f"SELECT {_COLUMNS} FROM candidates WHERE state = 'waiting' AND space = ? ORDER BY at, id"
_SETTLE: Final = "UPDATE candidates SET state = ?, content = '' WHERE id = ? AND state = 'waiting'"
_REOPEN: Final = "UPDATE candidates SET state = 'waiting', content = ? WHERE id = ?"


class JournalQueue:
    def __init__(self, journal: Journal) -> None:
        self._journal = journal

    def add(self, pending: Pending, state: State = "waiting") -> bool:
        content = pending.content if state == "waiting" else ""
        row = (
            *(
                digest(pending.content),
                state,
                pending.id,
                to_micros(pending.at),
                pending.space,
                content,
            ),
            *(pending.category, pending.importance, pending.rule, pending.project, pending.session, pending.supersedes),
        )
        with self._journal.write() as connection:
            return connection.execute(_ADD, row).rowcount == 1

    def has_learned(self, space: str, content: str) -> bool:
        with self._journal.read() as connection:
            return bool(connection.execute(_LEARNED, (space, digest(content))).fetchone()[0])

    def waiting(self, space: str) -> list[Pending]:
        with self._journal.read() as connection:
            return [_pending(row) for row in connection.execute(_WAITING, (space,))]

    def find(self, space: str, handle: str) -> Pending:
        wanted = handle.strip().lower()
        found = [each for each in self.waiting(space) if each.id.endswith(wanted)]
        if not found or len(wanted) < _SHORTEST_HANDLE:
            raise NotFound(f"Nothing that waits for review has the id {handle}: `recollect review --list` shows all.")
        if len(found) > 1:
            raise Ambiguous(f"{handle} fits several: {', '.join(each.id for each in found)}. Give more of the id.")
        return found[0]

    def settle(self, pending: Pending, state: State) -> None:
        with self._journal.write() as connection:
            connection.execute(_SETTLE, (state, pending.id))

    def reopen(self, pending: Pending) -> None:
        with self._journal.write() as connection:
            connection.execute(_REOPEN, (pending.content, pending.id))


def _pending(row: tuple[Any, ...]) -> Pending:
    identity, at, *rest = row
    return Pending(identity, from_micros(at), *rest)
