"""Databases of the harness's own, each for as long as it is measured, on a Postgres that somebody names.

What a run was killed over stays behind, under a name that says whose it was: `recollect_bench_` and some letters.
"""

import uuid
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Final
from urllib.parse import urlsplit, urlunsplit

import psycopg
from psycopg import errors, sql

from recollect.bench.errors import BenchError

_PREFIX: Final = "recollect_bench_"


@contextmanager
def scratch_database(server: str) -> Iterator[str]:
    """Make an empty database, give its address, and drop it whoever may still be connected."""
    name = f"{_PREFIX}{uuid.uuid4().hex[:12]}"
    _execute(server, sql.SQL("CREATE DATABASE {} TEMPLATE template0 ENCODING 'UTF8'").format(sql.Identifier(name)))
    try:
        yield urlunsplit(urlsplit(server)._replace(path=f"/{name}"))
    finally:
        _execute(server, sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


def _execute(server: str, statement: sql.Composed) -> None:
    try:
        with closing(psycopg.connect(server, autocommit=True, connect_timeout=10)) as connection:
            connection.execute(statement)
    except errors.InsufficientPrivilege as error:
        raise BenchError(
            "The Postgres that --database names does not let its user make databases: name a user who may, such as "
            "the superuser of one that is there for trying out."
        ) from error
    except psycopg.OperationalError as error:
        reason = str(error).strip().partition("\n")[0].rstrip(".")
        raise BenchError(f"The Postgres that --database names cannot be reached: {reason}.") from error
