"""A connection that does not wait for ever: whoever opens one has to put their request in time.

uvicorn waits only so long between two requests, but for a first one, or one that trickles in, it waits for ever.
Bodies have a time limit of their own (`body`).
"""

import asyncio
from typing import Any, ClassVar

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol


class PatientProtocol(H11Protocol):
    header_seconds: ClassVar[float] = 15.0
    """How long a request's first line and headers may take to arrive."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 - as uvicorn calls it
        super().__init__(*args, **kwargs)
        self._patience: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._start()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.conn.their_state is h11.IDLE:
            self._start()
        else:
            self._stop()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop()
        super().connection_lost(exc)

    def _start(self) -> None:
        if self._patience is None:
            self._patience = self.loop.call_later(self.header_seconds, self._hang_up)

    def _stop(self) -> None:
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None

    def _hang_up(self) -> None:
        self._patience = None
        if not self.transport.is_closing():
            self.transport.close()
