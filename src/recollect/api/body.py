"""Bodies as they arrive: counted and timed, so that neither a huge one nor a slow one is ever waited for.

Streams, which are read line by line, may be as long as they like; each next piece has to come in time.
"""

import asyncio
from collections.abc import Collection
from contextlib import suppress
from http import HTTPStatus
from typing import Final

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from recollect.api.limits import Limits
from recollect.api.problems import NOT_READY, TOO_LARGE, TOO_SLOW, describe_fault, problem

_LINGER_SECONDS: Final = 1.0
_STOPPING: Final = "The server is stopping and could not wait for this: it may have been done or not. Ask again."


class BodyGuard:
    def __init__(self, app: ASGIApp, limits: Limits, streams: Collection[str]) -> None:
        self._app = app
        self._limits = limits
        self._streams = frozenset(streams)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        is_stream = scope["path"] in self._streams
        declared = Headers(scope=scope).get("content-length", "0")
        if not is_stream and declared.isdigit() and int(declared) > self._limits.body_bytes:
            await self._refuse(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, scope, receive, send)
            return
        watched = _Watched(receive, send, self._limits, is_stream=is_stream)
        try:
            await self._app(scope, watched.receive, watched.send)
        except _Stopped:
            pass
        except Exception:
            # What else comes of a body that was cut off is no news.
            if watched.refused is None:
                raise
        if watched.refused is not None and not watched.started:
            await self._refuse(watched.refused, scope, receive, send)

    async def _refuse(self, status: HTTPStatus, scope: Scope, receive: Receive, send: Send) -> None:
        # The rest of the body is still on its way: this connection can carry nothing else.
        headers = {"Connection": "close"}
        if status == HTTPStatus.REQUEST_TIMEOUT:
            detail = f"The body did not arrive within {self._limits.body_seconds:g} s: send it faster, or in parts."
            answer = problem(TOO_SLOW, detail, headers)
        else:
            detail = f"A body has at most {self._limits.body_bytes:,} bytes. Send less at a time, or use /v1/import."
            answer = problem(TOO_LARGE, detail, headers)

        async def send_and_linger(message: Message) -> None:
            # A connection that is closed on a client who is still sending takes the answer along.
            await send({**message, "more_body": True} if message["type"] == "http.response.body" else message)

        await answer(scope, receive, send_and_linger)
        await _drain(receive)
        await send({"type": "http.response.body", "body": b""})


async def _drain(receive: Receive) -> None:
    """Read on for a moment what nobody wants."""
    with suppress(TimeoutError):
        async with asyncio.timeout(_LINGER_SECONDS):
            while (await receive()).get("more_body", False):
                pass


class _Stopped(Exception):
    pass


class _Watched:
    """The two ends of one request, with an eye on how much comes in and how fast."""

    def __init__(self, receive: Receive, send: Send, limits: Limits, *, is_stream: bool) -> None:
        self._receive = receive
        self._send = send
        self._limits = limits
        self._is_stream = is_stream
        self._complete = False
        self._octets = 0
        self._end: float | None = None
        self.started = False
        self.refused: HTTPStatus | None = None

    async def receive(self) -> Message:
        if self._complete:
            # Nothing of the body is left: this waits for the client to leave, for as long as that takes.
            return await self._receive()
        try:
            async with asyncio.timeout_at(self._deadline()):
                message = await self._receive()
        except TimeoutError:
            raise self._stop(HTTPStatus.REQUEST_TIMEOUT) from None
        self._octets += len(message.get("body", b""))
        self._complete = not message.get("more_body", False)
        if self._octets > self._limits.body_bytes and not self._is_stream:
            raise self._stop(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
        return message

    async def send(self, message: Message) -> None:
        if self.refused is not None and not self.started:
            return
        self.started = True
        await self._send(message)

    def _deadline(self) -> float:
        now = asyncio.get_running_loop().time()
        if self._end is None or self._is_stream:
            self._end = now + self._limits.body_seconds
        return self._end

    def _stop(self, status: HTTPStatus) -> _Stopped:
        self.refused = status
        return _Stopped()


class Faults:
    """Answers for what nobody expected, and lets nothing of it out."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = False

        async def watch(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        try:
            await self._app(scope, receive, watch)
        except asyncio.CancelledError:
            # The server was told to stop, and waits no longer.
            if started:
                raise
            await problem(NOT_READY, _STOPPING, {"Retry-After": "1"})(scope, receive, send)
        except Exception as error:  # noqa: BLE001 - whatever it is, the server goes on
            answer = describe_fault(error)
            if started:
                # A stream that breaks off has to look broken.
                raise BrokenOff from None
            await answer(scope, receive, send)


class BrokenOff(Exception):
    """An answer could not be finished."""
