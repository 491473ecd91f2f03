"""`/mcp`: the tools of the laptop's MCP server over streamable HTTP, each request for the holder of its key.

Nothing is remembered between requests, so any process can answer any of them. A client says by `X-Recollect-Space`
which space it means (its person's own by default), and by `X-Recollect-Project` which project it stands in.
"""

from collections.abc import Callable, Iterable
from contextlib import AbstractAsyncContextManager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from urllib.parse import unquote

from mcp.server.transport_security import TransportSecuritySettings
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from recollect.api.caller import Call, Desk
from recollect.api.problems import describe
from recollect.api.wording import UNDO, reword
from recollect.core.access import Deed
from recollect.core.errors import RecollectError
from recollect.core.memory import Memory
from recollect.mcp.asking import Asker
from recollect.mcp.server import MemoryServer
from recollect.service.recall import Recall
from recollect.service.recollect import Recollect

_asker: ContextVar[Asker] = ContextVar("asker")


@dataclass(frozen=True, slots=True)
class KeyHolder:
    """Whoever sent the key, in the space and the project that they named."""

    call: Call
    space: str | None
    project: str | None

    def open(self, deed: Deed) -> Recollect:
        return replace(self.call.recollect(deed, self.space), project=self.project)

    def recall(self, answer: Callable[[], Recall]) -> Recall:
        return self.call.recall(answer)

    def note(self, deed: str, memories: Iterable[Memory]) -> None:
        self.call.note(deed, memories)


class McpEndpoint:
    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        server = MemoryServer(_asker.get, undo=UNDO, reword=reword)
        # Keys, which a web page does not have, keep strangers out; which names the server has is not ours to know.
        security = TransportSecuritySettings(enable_dns_rebinding_protection=False)
        server.streamable_http_app(
            stateless_http=True,
            json_response=True,
            transport_security=security,
            max_request_body_size=desk.limits.body_bytes,
        )
        self._sessions = server.session_manager
        self._app: ASGIApp = self._sessions.handle_request

    def run(self) -> AbstractAsyncContextManager[None]:
        """Serve for as long as this is open."""
        return self._sessions.run()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        try:
            call = await run_in_threadpool(self._desk.admit, headers.get("authorization", ""))
        except RecollectError as error:
            await describe(error)(scope, receive, send)
            return
        scope.setdefault("state", {})["caller"] = call.caller
        asker = KeyHolder(call, headers.get("x-recollect-space") or None, _project(headers))
        token = _asker.set(asker)
        try:
            await self._app(scope, receive, send)
        finally:
            _asker.reset(token)


def _project(headers: Headers) -> str | None:
    """Read the project one stands in. A header holds no other letters than ASCII's, so others come percent-encoded."""
    return unquote(headers.get("x-recollect-project", "")) or None
