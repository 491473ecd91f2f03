"""`serve`: the server for many people, in this process. Run several of them for more; they share the database."""

import signal
import sys
from typing import TYPE_CHECKING, Annotated, Final

import typer

from recollect.cli.options import LogFormat, LogLevel, choose_logs
from recollect.config import read_config
from recollect.core.errors import StoreError

if TYPE_CHECKING:
    import uvicorn
    from fastapi import FastAPI

    from recollect.api.limits import Limits
    from recollect.service.server import Server

_KEEP_ALIVE_SECONDS: Final = 65
"""Longer than load balancers keep idle connections, so that it is they who close them."""
_LONGEST_HEAD: Final = 32 << 10
_LIMITS: Final = "Limits of one key, in this process"


def serve(
    *,
    host: Annotated[
        str, typer.Option(help="The address to listen on; 0.0.0.0 for all of this machine's.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port to listen on; 0 for any that is free.")] = 8000,
    connections: Annotated[int, typer.Option(min=1, help="Most connections to the database.")] = 10,
    threads: Annotated[int, typer.Option(min=1, help="Most requests worked on side by side.")] = 40,
    body_bytes: Annotated[
        int, typer.Option("--body-limit", min=1024, metavar="BYTES", help="The longest body, streams excepted.")
    ] = 1 << 20,
    body_seconds: Annotated[
        float, typer.Option("--body-seconds", min=0.1, help="How long a body, or a stream's next piece, may take.")
    ] = 30.0,
    rate: Annotated[
        float, typer.Option(min=0, help="Requests a second; 0 for no limit.", rich_help_panel=_LIMITS)
    ] = 100.0,
    burst: Annotated[int, typer.Option(min=1, help="Requests at once, after a pause.", rich_help_panel=_LIMITS)] = 200,
    recalls: Annotated[
        int, typer.Option(min=0, help="Recalls side by side; 0 for no limit.", rich_help_panel=_LIMITS)
    ] = 16,
    stop_seconds: Annotated[
        int, typer.Option("--stop-seconds", min=0, help="How long requests may go on after SIGTERM.")
    ] = 30,
    log_format: LogFormat = "auto",
    log_level: LogLevel = "info",
) -> None:
    """Serve many people from the Postgres that RECOLLECT_DATABASE_URL names.

    The REST API is under /v1, its documentation at /docs, MCP at /mcp. The first start prints the first key.
    """
    logs = choose_logs(log_format, log_level)
    _check_packages()
    from recollect.api.limits import Limits
    from recollect.api.logs import setup_logging
    from recollect.wiring import open_server

    limits = Limits(
        body_bytes=body_bytes,
        body_seconds=body_seconds,
        requests_per_second=rate,
        burst=burst,
        recalls_at_once=recalls,
        threads=threads,
    )
    server = open_server(read_config(), connections=connections)
    try:
        _greet(server)
        setup_logging(*logs)
        _run(server, limits, host, port, stop_seconds)
    finally:
        server.close()


def _run(server: "Server", limits: "Limits", host: str, port: int, stop_seconds: int) -> None:
    from recollect.api import telemetry
    from recollect.api.app import create_app
    from recollect.api.metrics import Metrics

    tracing = telemetry.start(read_config().traces)
    metrics = Metrics(pool_stats=server.pool_stats, job_lag=server.job_lag, query_cache=server.gates.count_queries)
    app = create_app(server, limits, metrics=metrics, tracing=tracing)
    # uvicorn hands on the signal that ended it, once it is done: what was noted is still to be written.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    try:
        _prepare(app, host, port, stop_seconds).run()
    except KeyboardInterrupt:
        pass
    finally:
        if tracing is not None:
            tracing.close()


def _prepare(app: "FastAPI", host: str, port: int, stop_seconds: int) -> "uvicorn.Server":
    import uvicorn

    from recollect.api.connection import PatientProtocol

    config = uvicorn.Config(
        app,
        host=host,
        port=port,
        http=PatientProtocol,
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=_KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=stop_seconds,
        h11_max_incomplete_event_size=_LONGEST_HEAD,
    )
    return uvicorn.Server(config)


def _greet(server: "Server") -> None:
    """On the very first start, show the key that everything begins with. It is kept nowhere."""
    from recollect.service.access import FIRST_ADMIN, ensure_admin

    token = ensure_admin(server.open_directory(None), server.clock)
    if token is None:
        return
    lines = (
        f"Nobody was here yet, so a first person was made: {FIRST_ADMIN}.",
        "This is their key. It is shown this once and kept nowhere:",
        "",
        f"    {token}",
        "",
        "Send it as `Authorization: Bearer KEY`. It may do everything: with it, make people",
        "and keys for them (`recollect people`, `recollect keys`, or the API), then put it away.",
    )
    # No frame on the right: it would be copied along.
    sys.stderr.write("\n".join(("╭─ First start", *(f"│ {line}".rstrip() for line in lines), "╰─", "")))
    sys.stderr.flush()


def _check_packages() -> None:
    try:
        import fastapi
        import prometheus_client
        import uvicorn
    except ImportError as error:
        raise StoreError(f"The server needs more packages ({error}). Run: pip install 'recollect[server]'") from error
    del fastapi, prometheus_client, uvicorn
