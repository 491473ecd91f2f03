"""The schema of a Postgres store: brought up to date by `recollect db upgrade`, and only asked for by everyone else."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import resources
from typing import Any, Final, cast

import psycopg
from alembic.command import downgrade as alembic_downgrade
from alembic.command import upgrade as alembic_upgrade
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, NullPool, create_engine
from sqlalchemy.exc import DBAPIError

from recollect.core.errors import StoreError, StoreTooNew

_LOCK: Final = 0x7265636F
"""Of two that upgrade at once, one waits. A session's lock: an upgrade is of several transactions."""
_PAUSE_SECONDS: Final = 0.1


def upgrade(url: str, revision: str = "head") -> None:
    with _connect(url) as connection, _alone(connection):
        alembic_upgrade(_config(connection), revision)


def downgrade(url: str, revision: str) -> None:
    with _connect(url) as connection, _alone(connection):
        alembic_downgrade(_config(connection), revision)


def newest() -> str:
    """Give the revision that this program works with."""
    return ScriptDirectory.from_config(_config()).get_current_head() or ""


def current(url: str) -> str | None:
    """Give the revision that a database has; none if it is empty."""
    with _connect(url) as connection:
        return MigrationContext.configure(connection).get_current_revision()


def check(url: str) -> None:
    """Refuse a schema that is not this program's: half-working would be worse."""
    check_revision(current(url))


def pgvector(url: str) -> str | None:
    """Give the version of the extension that meaning needs; none if the database does not have it."""
    with _connect(url) as connection:
        found = connection.exec_driver_sql("SELECT extversion FROM pg_extension WHERE extname = 'vector'").scalar()
    return None if found is None else str(found)


def check_revision(found: str | None) -> None:
    if found == newest():
        return
    known = {script.revision for script in ScriptDirectory.from_config(_config()).walk_revisions()}
    if found is not None and found not in known:
        raise StoreTooNew(
            f"The database has schema {found}, made by a newer Recollect; this one knows up to {newest()}. Upgrade it."
        )
    stands = f"has schema {found}" if found else "has no schema yet"
    raise StoreError(f"The database {stands}, and this Recollect needs {newest()}: run `recollect db upgrade` first.")


def _config(connection: Connection | None = None) -> Config:
    config = Config()
    config.set_main_option("script_location", str(resources.files(__package__).joinpath("migrations")))
    config.attributes["connection"] = connection
    return config


@contextmanager
def _connect(url: str) -> Iterator[Connection]:
    # Psycopg reads the address, as it does for the pool: the two must not differ about what it may say.
    engine = create_engine("postgresql+psycopg://", creator=lambda: psycopg.connect(url), poolclass=NullPool)
    try:
        with engine.connect() as connection:
            yield connection
    except (DBAPIError, psycopg.Error) as error:
        cause = error.orig if isinstance(error, DBAPIError) else error
        raise StoreError(f"The database answered: {str(cause).strip().partition(chr(10))[0].rstrip('.')}.") from error
    finally:
        engine.dispose()


@contextmanager
def _alone(connection: Connection) -> Iterator[None]:
    _refuse_pooler(connection)
    # Asked for again and again: standing before a lock is a transaction, for whose end an index that is being built
    # would wait in turn.
    while not connection.exec_driver_sql(f"SELECT pg_try_advisory_lock({_LOCK})").scalar():
        connection.commit()
        time.sleep(_PAUSE_SECONDS)
    connection.commit()
    try:
        yield
    finally:
        if not connection.closed:
            connection.rollback()
            connection.exec_driver_sql(f"SELECT pg_advisory_unlock({_LOCK})")
            connection.commit()


def _refuse_pooler(connection: Connection) -> None:
    """Refuse a pooler: the lock would stay behind on a connection that is somebody else's next, and hold up all."""
    driver = cast("psycopg.Connection[Any]", connection.connection.driver_connection)
    if connection.exec_driver_sql("SELECT pg_backend_pid()").scalar() != driver.info.backend_pid:
        raise StoreError(
            "A pooler stands before the database, and an upgrade needs a connection that stays its own: run `recollect "
            "db upgrade` with RECOLLECT_DATABASE_URL naming the database itself."
        )
