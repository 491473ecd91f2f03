"""The queue of background work: what waits, what runs, what failed and why, and how a job is put back.

A job is a task and a space, never content: it only says that there is something to be found in that space (the outbox
is the truth of what). So the newest job of a space stands for all before it, and any of them may run twice.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from psycopg import Connection

from recollect.core.errors import NotFound
from recollect.stores.postgres.database import Row

QUEUE: Final = "recollect"
"""As `recollect_defer` in the migrations has it."""

_STATES: Final = {"todo": "waiting", "doing": "running"}

# A job waits since it was deferred or somebody retried it, whatever tries it had since; it runs or has failed since
# its last event.
_LIST: Final = """
SELECT j.id, j.task_name, s.id, j.status::text, j.attempts, e.at, j.scheduled_at, r.reason
FROM procrastinate_jobs AS j
LEFT JOIN spaces AS s ON s.key = (j.args->>'space')::integer
LEFT JOIN job_errors AS r ON r.job = j.id
CROSS JOIN LATERAL (
    SELECT coalesce(max(at) FILTER (WHERE j.status <> 'todo' OR type IN ('deferred', 'retried')), now()) AS at
    FROM procrastinate_events WHERE job_id = j.id
) AS e
WHERE j.queue_name = %(queue)s AND (%(statuses)s::text[] IS NULL OR j.status::text = ANY (%(statuses)s))
ORDER BY j.id
"""

_LAG: Final = """
SELECT count(*) FILTER (WHERE j.status = 'todo'),
       coalesce(extract(epoch FROM now() - min(e.at) FILTER (WHERE j.status = 'todo')), 0)::float8,
       count(*) FILTER (WHERE j.status NOT IN ('todo', 'doing'))
FROM procrastinate_jobs AS j
CROSS JOIN LATERAL (
    SELECT max(at) AS at FROM procrastinate_events
    WHERE j.status = 'todo' AND job_id = j.id AND type IN ('deferred', 'retried')
) AS e
WHERE j.queue_name = %s
"""

# Only an insert tells the workers by itself.
_WAKE: Final = """
SELECT id, pg_notify('procrastinate_queue_v1#' || %(queue)s,
                     json_build_object('type', 'job_inserted', 'job_id', id)::text)
FROM put_back
"""

# Tries are counted anew, and what a model refused before it is asked again. `ended` are the states in which nothing
# happens to a job any more.
_RETRY: Final = f"""
WITH put_back AS (
    UPDATE procrastinate_jobs
    SET status = 'todo', attempts = 0, scheduled_at = NULL, abort_requested = false, args = args || '{{"again": true}}'
    WHERE queue_name = %(queue)s AND status NOT IN ('todo', 'doing') AND (%(id)s::bigint IS NULL OR id = %(id)s)
    RETURNING id
)
{_WAKE}
"""

# A worker that was killed leaves its jobs running; one that is gone from the table has ended otherwise. A kill is no
# fault of the job, so it does not count as a try.
_PUT_BACK_STALLED: Final = f"""
WITH stalled AS (
    SELECT j.id FROM procrastinate_jobs AS j
    WHERE j.status = 'doing' AND NOT EXISTS (
        SELECT FROM procrastinate_workers AS w
        WHERE w.id = j.worker_id AND w.last_heartbeat > now() - make_interval(secs => %(seconds)s)
    )
    FOR UPDATE OF j SKIP LOCKED
), put_back AS (
    UPDATE procrastinate_jobs AS j
    SET status = 'todo', scheduled_at = NULL, abort_requested = false
    FROM stalled WHERE j.id = stalled.id
    RETURNING j.id
)
{_WAKE}
"""

_NOTE_ERROR: Final = """
INSERT INTO job_errors (job, at, reason)
SELECT id, extract(epoch FROM clock_timestamp()) * 1000000, %(reason)s FROM procrastinate_jobs WHERE id = %(job)s
ON CONFLICT (job) DO UPDATE SET at = excluded.at, reason = excluded.reason
"""

_REMOVE_OLDER: Final = """
DELETE FROM procrastinate_jobs AS old USING procrastinate_jobs AS new
WHERE new.id = %s AND old.lock = new.lock AND old.id < new.id AND old.status NOT IN ('todo', 'doing')
"""


@dataclass(frozen=True, slots=True)
class Job:
    id: int
    task: str
    space: str | None
    """None if the space is gone."""
    state: str
    """waiting, running or failed; or what somebody made of it by other means."""
    attempts: int
    since: datetime
    not_before: datetime | None
    """When it is tried again."""
    reason: str | None
    """Why it did not end well the last time."""


@dataclass(frozen=True, slots=True)
class JobLag:
    """How far the workers are behind."""

    waiting: int
    seconds: float
    """How long the oldest of them has waited."""
    failed: int


def list_jobs(connection: Connection[Row], *states: str) -> list[Job]:
    """Give the jobs in these states, or all, oldest first. Those that ended well are gone."""
    names = {state: name for name, state in _STATES.items()}
    statuses = [names.get(state, state) for state in states] or None
    rows = connection.execute(_LIST, {"queue": QUEUE, "statuses": statuses}).fetchall()
    return [
        Job(identity, task, space, _STATES.get(str(status), str(status)), attempts, since, not_before, reason)
        for identity, task, space, status, attempts, since, not_before, reason in rows
    ]


def retry_jobs(connection: Connection[Row], job: int | None = None) -> list[int]:
    """Have one job that failed, or all, tried again at once; give their ids."""
    found = [row[0] for row in connection.execute(_RETRY, {"queue": QUEUE, "id": job})]
    if job is not None and not found:
        raise NotFound(f"There is no failed job {job}: `recollect jobs --failed` lists those there are.")
    return found


def put_back_stalled(connection: Connection[Row], seconds: float) -> list[int]:
    """Put back the jobs of workers that have not been heard of for so long; give their ids."""
    return [row[0] for row in connection.execute(_PUT_BACK_STALLED, {"queue": QUEUE, "seconds": seconds})]


def job_lag(connection: Connection[Row]) -> JobLag:
    row = connection.execute(_LAG, (QUEUE,)).fetchone()
    return JobLag(*row) if row else JobLag(0, 0.0, 0)


def defer(connection: Connection[Row], task: str, space: int) -> None:
    """Have a task done for a space once this transaction is over."""
    connection.execute("SELECT recollect_defer(%s, %s)", (task, space))


def note_error(connection: Connection[Row], job: int, reason: str) -> None:
    connection.execute(_NOTE_ERROR, {"job": job, "reason": reason})


def forget_attempts(connection: Connection[Row], job: int) -> None:
    """Have a job that got somewhere be patient again."""
    connection.execute("UPDATE procrastinate_jobs SET attempts = 0 WHERE id = %s", (job,))


def remove_older(connection: Connection[Row], job: int) -> None:
    """Remove the failed jobs that this one does the work of."""
    connection.execute(_REMOVE_OLDER, (job,))


def name_of_space(connection: Connection[Row], space: int) -> str | None:
    row = connection.execute("SELECT id FROM spaces WHERE key = %s", (space,)).fetchone()
    return None if row is None else str(row[0])


def models_waited_for(connection: Connection[Row], space: int) -> Sequence[str]:
    """Give the models that memories of a space wait for, first the one that recalls use."""
    rows = connection.execute(
        # One look into the outbox for each set, of which there are few, however much waits.
        """
        SELECT model FROM vector_sets AS v
        WHERE EXISTS (SELECT FROM outbox AS o WHERE o.space = %s AND o.vector_set = v.key)
        ORDER BY active DESC, key
        """,
        (space,),
    )
    return [str(model) for (model,) in rows]
