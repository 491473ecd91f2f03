"""One HTTP request as the log, the metrics and the traces see it: its route's template, its status, its time.

Never its path: a path holds ids, and there is no end to those.
"""

import time
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, Final

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

UNMATCHED: Final = "unmatched"
QUIET: Final = frozenset({"/healthz", "/readyz", "/metrics"})
"""Asked by machines every few seconds: not worth a line or a span unless they fail."""
_METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_FAILED: Final = 500
_GONE: Final = 499
"""As others have it: the client hung up, or the server stopped, before there was an answer."""


class Exchange:
    """Made as a request comes in. What it tells of route and status holds once the application is done with it."""

    def __init__(self, scope: Scope) -> None:
        self._scope = scope
        self._root: str = scope.get("root_path", "")
        self._began = time.perf_counter()
        self._status: int | None = None
        self.error: BaseException | None = None

    async def run(
        self, app: App, receive: Receive, send: Send, on_start: Callable[[Message], None] = lambda _: None
    ) -> None:
        """Have the application answer, and take note of how it does."""

        async def watch(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._status = message["status"]
                on_start(message)
            await send(message)

        try:
            await app(self._scope, receive, watch)
        except BaseException as error:
            self.error = error
            raise

    @property
    def method(self) -> str:
        method: str = self._scope["method"]
        return method if method in _METHODS else "other"

    @property
    def status(self) -> int:
        if self._status is not None:
            return self._status
        return _FAILED if isinstance(self.error, Exception) else _GONE

    @property
    def seconds(self) -> float:
        return time.perf_counter() - self._began

    @property
    def state(self) -> MutableMapping[str, Any]:
        """What the application noted about the request: `request.state`."""
        state: MutableMapping[str, Any] = self._scope.setdefault("state", {})
        return state

    @property
    def route(self) -> str:
        """The template of the route that took the request, or the place of the application mounted there."""
        mounted: str = self._scope.get("root_path", "")[len(self._root) :]
        if mounted:
            return mounted if not self._scope.get("path_params") else UNMATCHED
        # FastAPI keeps a route of an included router as it was written, and its place in the whole beside it.
        placed = self._scope.get("fastapi", {}).get("effective_route_context")
        template = getattr(placed, "path_format", None) or getattr(self._scope.get("route"), "path", None)
        if template is None and self._scope.get("endpoint") and not self._scope.get("path_params"):
            # A route that leaves no trace of itself; it has no parameters, so the path is its template.
            template = self._scope["path"]
        return str(template) if template else UNMATCHED
