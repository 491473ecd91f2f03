"""What sessions were given and what became of it: kept by hooks, read by the next hook and by `recollect stats`."""

from collections.abc import Collection, Sequence
from typing import Final

from recollect.core.hits import Ref
from recollect.journal.file import Journal
from recollect.values import value

KEPT_DAYS: Final = 90
"""After which what a session was given is forgotten."""
FRESH_HOURS: Final = 24
"""Within which the use of a memory is put down to its having been given."""
_HOUR: Final = 3_600_000_000

_HELD: Final = "SELECT memory, MAX(at) FROM given WHERE session = ? AND held GROUP BY memory"
_NOTE: Final = "INSERT INTO injections (session, hook, at, memories, tokens, milliseconds) VALUES (?, ?, ?, ?, ?, ?)"
_GIVE: Final = "INSERT OR IGNORE INTO given (session, space, memory, at, held) VALUES (?, ?, ?, ?, ?)"
_RELEASE: Final = "UPDATE given SET held = 0 WHERE session = ? AND held"
# Only what was given lately: what comes of a memory later is another story.
_USE: Final = "UPDATE given SET used_at = ? WHERE memory = ? AND at BETWEEN ? AND ? AND used_at IS NULL"
_GIVEN: Final = "SELECT DISTINCT space, memory FROM given WHERE session = ?"
# By its words: a briefing of headings alone gives no memory whole.
_SPOKE: Final = "SELECT 1 FROM injections WHERE session = ? AND hook = ? AND tokens > 0 LIMIT 1"
_FORGET: Final = ("DELETE FROM given WHERE at < ?", "DELETE FROM injections WHERE at < ?")
# A memory given twice to one session was given twice: it was out of sight in between. What a briefing told was not
# chosen for a prompt, and says nothing about how well that is done.
_USED: Final = """
SELECT COUNT(*), COUNT(g.used_at) FROM given AS g
WHERE g.at >= ?
  AND EXISTS (SELECT 1 FROM injections AS i WHERE i.at = g.at AND i.session = g.session AND i.hook = 'prompt')
"""
_TALLY: Final = """
SELECT COUNT(*), COALESCE(SUM(memories = 0), 0), COALESCE(SUM(tokens), 0), COALESCE(SUM(milliseconds), 0.0)
FROM injections WHERE hook = 'prompt' AND at >= ?
"""
_TIMES: Final = "SELECT milliseconds FROM injections WHERE hook = 'prompt' AND at >= ? ORDER BY milliseconds"


@value
class Usage:
    """What hooks did since some time."""

    prompts: int
    silent: int
    """Prompts at which nothing was worth saying."""
    given: int
    """Memories that came with prompts."""
    used: int
    tokens: int
    seconds: float
    median_ms: float
    slow_ms: float
    """The time that one prompt in a hundred took longer than."""


def held(journal: Journal, session: str) -> dict[str, int]:
    """Give the ids of what a session was given and still has in sight, and when it was last given each."""
    with journal.read() as connection:
        return dict(connection.execute(_HELD, (session,)).fetchall())


def note(
    journal: Journal,
    session: str,
    hook: str,
    at: int,
    given: Sequence[Ref],
    *,
    tokens: int,
    milliseconds: float,
    in_sight: bool = True,
) -> None:
    """Keep that a hook gave something, or had nothing to give; what may not have arrived may be given again."""
    with journal.write() as connection:
        connection.execute(_NOTE, (session, hook, at, len(given), tokens, milliseconds))
        connection.executemany(_GIVE, [(session, ref.space, ref.id, at, in_sight) for ref in given])


def release(journal: Journal, session: str) -> None:
    """Forget that a session has anything in sight: after a compaction it may be given again."""
    with journal.write() as connection:
        connection.execute(_RELEASE, (session,))


def given_to(journal: Journal, session: str) -> list[Ref]:
    """Give all that a session was ever given."""
    with journal.read() as connection:
        return [Ref(space, memory) for space, memory in connection.execute(_GIVEN, (session,))]


def has_spoken(journal: Journal, session: str, hook: str) -> bool:
    """Say whether a hook has given a session anything yet."""
    with journal.read() as connection:
        return connection.execute(_SPOKE, (session, hook)).fetchone() is not None


def use(journal: Journal, memories: Collection[str], at: int) -> None:
    """Keep that an agent named, read or changed memories that it had been given."""
    with journal.write() as connection:
        connection.executemany(_USE, [(at, memory, at - FRESH_HOURS * _HOUR, at) for memory in memories])


def prune(journal: Journal, at: int) -> None:
    with journal.write() as connection:
        for statement in _FORGET:
            connection.execute(statement, (at - KEPT_DAYS * 24 * _HOUR,))


def tally(journal: Journal, since: int) -> Usage:
    with journal.read() as connection:
        prompts, silent, tokens, milliseconds = connection.execute(_TALLY, (since,)).fetchone()
        given, used = connection.execute(_USED, (since,)).fetchone()
        times = [each for (each,) in connection.execute(_TIMES, (since,))]
    middle, slow = (times[int(len(times) * part)] if times else 0.0 for part in (0.5, 0.99))
    return Usage(prompts, silent, given, used, tokens, milliseconds / 1000, middle, slow)
