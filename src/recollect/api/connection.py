"""A connection that does not wait for ever: whoever opens one has to put their request in time, and to read the answer.

uvicorn waits only so long between two requests, but for a first one, or one that trickles in, it waits for ever, and
so it does for a client that reads nothing of what it asked for. Bodies have a time limit of their own (`body`).
"""

import asyncio
import socket
import struct
from typing import Any, ClassVar

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol


class PatientProtocol(H11Protocol):
    header_seconds: ClassVar[float] = 15.0
    """How long a request's first line and headers may take to arrive."""
    read_seconds: ClassVar[float] = 30.0
    """How long a client may read nothing, once no more of its answer fits into the buffers on the way."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 - as uvicorn calls it
        super().__init__(*args, **kwargs)
        self._patience: asyncio.TimerHandle | None = None
        self._unread: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._start()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.conn.their_state is h11.IDLE:
            self._start()
        else:
            self._stop()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._unread = self.loop.call_later(self.read_seconds, self._drop)

    def resume_writing(self) -> None:
        self._stop_unread()
        super().resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop()
        self._stop_unread()
        super().connection_lost(exc)

    def _start(self) -> None:
        if self._patience is None:
            self._patience = self.loop.call_later(self.header_seconds, self._hang_up)

    def _stop(self) -> None:
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None

    def _stop_unread(self) -> None:
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None

    def _drop(self) -> None:
        # Without lingering: else the system keeps some megabytes until they are read, which they never are.
        wire = self.transport.get_extra_info("socket")
        wire.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.transport.abort()

    def _hang_up(self) -> None:
        self._patience = None
        if not self.transport.is_closing():
            self.transport.close()
