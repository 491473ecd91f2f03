"""`worker`: does what the server leaves for later, in a process of its own. Run several of them for more."""

from typing import Annotated

import typer

from recollect.cli.options import LogFormat, LogLevel, choose_logs
from recollect.config import read_config


def worker(
    *,
    concurrency: Annotated[
        int, typer.Option("--concurrency", "-c", min=1, max=64, help="Jobs done side by side, each for one space.")
    ] = 2,
    log_format: LogFormat = "auto",
    log_level: LogLevel = "info",
) -> None:
    """Embed what was stored, and index large spaces, until SIGTERM or Ctrl-C.

    It may be killed at any time: what it has not finished is done by another, or by itself when it starts again.
    RECOLLECT_WORKER_DATABASE_URL, or else RECOLLECT_DATABASE_URL, is to lead to Postgres itself and not to a pooler.
    """
    from recollect.wiring import database_address

    config = read_config()
    if not config.worker_database:
        database_address(config)
    from recollect.api.logs import setup_logging
    from recollect.worker.opening import open_worker

    setup_logging(*choose_logs(log_format, log_level))
    working = open_worker(config, concurrency=concurrency)
    try:
        working.run()
    finally:
        working.workshop.database.close()
