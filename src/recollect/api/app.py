"""The server's application: every resource under its address, behind the same guards."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from anyio.to_thread import current_default_thread_limiter
from fastapi import FastAPI
from starlette.routing import Route

from recollect import __version__
from recollect.api import (
    health,
    keys,
    links,
    memories,
    openapi,
    people,
    problems,
    recall,
    settings,
    spaces,
    transfer,
    vectors,
)
from recollect.api.body import BodyGuard, Faults
from recollect.api.caller import Desk
from recollect.api.limits import Limits
from recollect.api.logs import RequestLog
from recollect.api.mcp import McpEndpoint
from recollect.api.metrics import Metrics
from recollect.api.telemetry import Tracing
from recollect.service.server import Server

MCP_PATH = "/mcp"


def create_app(
    server: Server, limits: Limits | None = None, *, metrics: Metrics | None = None, tracing: Tracing | None = None
) -> FastAPI:
    """Give the application over a server, which stays its caller's to close."""
    limits = limits or Limits()
    metrics = metrics or Metrics()
    desk = Desk(server, limits, metrics, tracing)
    mcp = McpEndpoint(desk)

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        current_default_thread_limiter().total_tokens = limits.threads
        async with mcp.run():
            yield

    app = FastAPI(title="Recollect", version=__version__, lifespan=lifespan, redoc_url=None)
    app.state.desk = desk
    # In the order that they are asked for: addresses are looked through one after the other.
    for each in (recall, memories, links, spaces, people, keys, settings, transfer, vectors, health):
        app.include_router(each.router)
    app.router.routes.append(Route(MCP_PATH, mcp))
    problems.install(app)
    app.openapi = lambda: openapi.describe(app)  # type: ignore[method-assign] # FastAPI's own way to extend it
    # The last one added is the first one asked.
    app.add_middleware(BodyGuard, limits=limits, streams={transfer.IMPORT_PATH})
    app.add_middleware(Faults)
    app.add_middleware(metrics.middleware)
    if tracing is not None:
        app.add_middleware(tracing.middleware)
    app.add_middleware(RequestLog)
    return app
